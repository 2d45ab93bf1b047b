import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import Database from 'better-sqlite3';
import { workerEntry } from '../../src/pool/index.ts';
import { openSqliteStore } from '../../src/store/index.ts';
import { databaseFile } from '../../src/store/sqlite/connection.ts';
import { MIGRATIONS, migrate } from '../../src/store/sqlite/migrations.ts';
import { checksumOf, fillAsFrozen, ordinaryTables, rowsOf } from './frozen-databases.ts';

/** Checksums of the databases of each schema version, from the first on. A line never changes; a new version gets a new line. */
const CHECKSUMS = [
	'0b3b7a35cf63147593daa07ca197ebb165ae86daef8bba7a9098157a7f2a141f',
	'699a0e3806b4664eda39724f31722f301e4d37858797d0989b49121b2c648abe',
	'ec6fd5385b18ccc4b3597977cd24b53ee73f67b266dbad93b5898c1d33fe3b5b',
	'a2cab10b1a5d362639fb2e4b98b004a8ba32f851259cf53b5d29302f472c3203',
	'4f6682dc47ffa62780ce59fcd1b51d58fca13f0ea1718d5b11db696a452a84b7',
	'2eca2f04490c15fdf62a2a28a477113f660c402dfbcb0b268944681e936ed5a9',
	'06875d882945db1eac26b6a92e543e7c1048cec71ed0a07cc3388664615daece',
	'4f52d8e1d3ccb688390683e62f5818317c7f2202edd8b9409f2e682afbc6de15',
	'598f09433e5c0a10da46e053b4231feda8e1e8904f46dac87d847dedfc71ee0b',
	'28c2e8a00f4bb703649ad045cf76b88ace5ee2eba946626d57554bddf15e390b',
	'0cbab0559ddc9b613f4c59b2f00216ddcce6d7891cb89bf80b8a99e8922f4d1a',
	'1d58c84f4144b5508581859f73738166bda23659d9b071adac7ec0ef71490134',
	'1d58c84f4144b5508581859f73738166bda23659d9b071adac7ec0ef71490134',
	'5be3e86e3d4bd2c76c7ab4cc98c2104e91f22a25d7fc979dc6cb638e1dbeffec',
	'c04f08a401d818ccd3c26d4dd4749d383eefb15277f59d61aae9056d28cfb0e3',
	'd4245543d34cf0db4605ca7c9b117ab56f82ad4c9dd687c10f99691a9494dfcb',
	'09fc5fa91236b17fab409c3d48f8330d8a16860ada26572fa499de751e6f51d5',
	'221447867550fc599c68102a4a994a7696eff1d40f5416ee3b2a8bb93f3071d5',
	'2ec38c4517470e09d396211f6ea682557d3cf3ea070b013c8c34aef1c6315a15',
	'da198541194eab332c063021ff765a1d0f10f5f06a17ef1bf86f08a2e250494d',
	'908e8fdc9be1311e74cccbd487a6c5c3b7750ff3fa1db30e3fdd210870e1c77c',
	'ba8532f0a5cfeb9318ffa7b190f70d8705e1a8e89de97ef53fa972660812c216',
	'afa5e38089e6887bbade950b8463c4efe041231efcb2fe324f4d0a6b1a84f5f9',
	'd4e57d64dd322f3e50be9bbac6e76ab87281e52c76f0b8064c9c30fbfb386116',
	'c98aa54b96ef8dd2fccce6646b4139fce538909de3c4bc07ed1e9bf6c1a4e01a',
	'fa0f59be4e2f0597bd9c2f418ea4f918ece0a2741991d59e227ac5fb46ce0c5f',
	'c703bc27e1f94f9bbb5819f0de96cded40d194dcb1c2b98d97cc1d21bb2a341a',
	'268f17db21d0156b68ac7016a00a38a491f208c266983f86dbadcb7045538cee',
	'299a7b6b9f674f89262d2582c08a31c0be4483478e61a9d2953ec62375df66d9',
	'dbac603e97fd0850300642b6be11e439bd250b622023a94ea1e94d964932d72a',
	'f86d7291399b557cbb8fe8ea9640615d0eac1a48e6e961d16e8462780c9bdba8',
	'2a8a4f213ad1fe979f85fb133be79e615c7419d03340935fb53c22c949de6c0d',
	'deb814a6d23093c1dc6837699d98058be61c8b2d6b040ec35619721949af97cf',
	'016a62aa1362f117f56477eb0c587feecde1e3c11c29f6b387d305e0502edcdf',
	'9a6e9f5c32ab80274e880679a51b84ebbec4d9be487ea2daddc17a1fa9a088a1',
	'e6451185c0d9802a20e6d795cb973c1e5d4dbeb3c587fc00dbbdb64a07593f35',
];

/** Columns whose values a step has moved elsewhere: `migrations.test.ts` has its test. */
const REMOVED = new Set(['webhooks.former_secret', 'webhooks.former_secret_until']);

/**
 * Steps that empty a table: the answers of repeated requests, which are kept for a day, and the index of messages, which the next start
 * fills again.
 */
const EMPTIED_BY: Readonly<Record<string, number>> = { idempotency: 3, searchable_messages: 30 };

async function folderOf(t: TestContext): Promise<string> {
	const folder = await mkdtemp(join(tmpdir(), 'parley-frozen-'));
	t.after(() => rm(folder, { recursive: true }));
	return folder;
}

function schemaOf(db: Database.Database): unknown[] {
	const rows = db
		.prepare<[], Record<string, string | null>>(
			"SELECT type, name, tbl_name, sql FROM sqlite_master WHERE name NOT LIKE 'sqlite_%' ORDER BY name",
		)
		.all();
	return rows.map((row) => ({ ...row, sql: row.sql?.replace(/\s+/g, ' ') }));
}

function newestSchema(): unknown[] {
	const db = new Database(':memory:');
	migrate(db);
	const schema = schemaOf(db);
	db.close();
	return schema;
}

/** A database of a version, in memory. */
function frozenDatabase(version: number): Database.Database {
	const db = new Database(':memory:');
	fillAsFrozen(db, version);
	return db;
}

test('the frozen databases are those that were frozen', () => {
	const checksums = MIGRATIONS.map((_step, index) => {
		const db = frozenDatabase(index + 1);
		const checksum = checksumOf(db);
		db.close();
		return checksum;
	});
	assert.deepEqual(checksums, CHECKSUMS);
});

test('upgrades a database of every version to the newest schema, whole, and keeps its records', () => {
	const schema = newestSchema();
	for (let version = 1; version < MIGRATIONS.length; version++) {
		const db = frozenDatabase(version);
		const before = new Map(ordinaryTables(db).map((table) => [table, rowsOf(db, table)]));
		migrate(db);
		assert.equal(db.pragma('user_version', { simple: true }), MIGRATIONS.length);
		assert.deepEqual(db.pragma('integrity_check'), [{ integrity_check: 'ok' }], `version ${version}`);
		assert.deepEqual(schemaOf(db), schema, `version ${version}`);
		for (const [table, formerRows] of before) {
			if (version < (EMPTIED_BY[table] ?? 0)) continue;
			const rows = rowsOf(db, table);
			for (const former of formerRows) {
				const kept = Object.entries(former).filter(([name]) => !REMOVED.has(`${table}.${name}`));
				const isKept = rows.some((row) => kept.every(([name, value]) => row[name] === value));
				assert.ok(isKept, `version ${version}, ${table}: ${JSON.stringify(former)}`);
			}
		}
		db.close();
	}
});

test('a server opens databases of versions 2, 10, 20, 30 and the newest, and refuses a newer one with a sentence', async (t) => {
	for (const version of [2, 10, 20, 30, MIGRATIONS.length]) {
		const dataDir = await folderOf(t);
		const old = new Database(databaseFile(dataDir));
		fillAsFrozen(old, version);
		old.close();
		await using store = await openSqliteStore({ dataDir, writer: workerEntry('store') });
		assert.equal((await store.get('workspaces', 'workspaces_1'))?.name, 'name 1', `version ${version}`);
		assert.equal((await store.get('conversations', 'conversations_1'))?.deployment_id, 'deployments_1');
	}
	const dataDir = await folderOf(t);
	const db = new Database(databaseFile(dataDir));
	migrate(db);
	db.pragma(`user_version = ${MIGRATIONS.length + 1}`);
	db.close();
	await assert.rejects(openSqliteStore({ dataDir, writer: workerEntry('store') }), {
		message: new RegExp(
			`schema version ${MIGRATIONS.length + 1}, this Parley knows ${MIGRATIONS.length}\\. Start the newer Parley that wrote it\\.`,
		),
	});
});
