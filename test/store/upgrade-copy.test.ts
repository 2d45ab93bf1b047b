import assert from 'node:assert/strict';
import { copyFile, readdir, rename, statfs, utimes, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import Database from 'better-sqlite3';
import { createLog } from '../../src/base/index.ts';
import { workerEntry } from '../../src/pool/index.ts';
import { DatabaseCopies, databaseFile, openSqliteStore } from '../../src/store/index.ts';
import { MIGRATIONS } from '../../src/store/sqlite/migrations.ts';
import { mountSmallDisk, skipWithoutSmallDisk } from '../support/small-disk.ts';
import { temporaryPlace } from './contract/life.ts';

const OLD = 2;
const skip = await skipWithoutSmallDisk();

const openStore = (dataDir: string) => openSqliteStore({ dataDir, writer: workerEntry('store') });
const copiesIn = async (dataDir: string) =>
	(await readdir(dataDir)).filter((name) => name.startsWith('parley-schema-'));

/** A database of an early schema, with a workspace whose name has so many bytes. */
function makeOldDatabase(dataDir: string, nameBytes = 10): void {
	const old = new Database(databaseFile(dataDir));
	for (const step of MIGRATIONS.slice(0, OLD)) old.exec(step);
	old.pragma(`user_version = ${OLD}`);
	old.prepare("INSERT INTO workspaces VALUES ('ws_1', 1, ?, 'free', NULL, 10, 20)").run('x'.repeat(nameBytes));
	old.close();
}

/** A database of an early schema that a start has migrated in part: a table is in the place of a later one, as a crash would stop it. */
async function interruptUpgrade(dataDir: string, nameBytes = 10): Promise<number> {
	makeOldDatabase(dataDir, nameBytes);
	change(dataDir, 'CREATE TABLE erasures (id TEXT)');
	await assert.rejects(openStore(dataDir), /table erasures already exists/);
	change(dataDir, 'DROP TABLE erasures');
	const [schema] = read(databaseFile(dataDir));
	assert.ok(typeof schema === 'number' && schema > OLD && schema < MIGRATIONS.length);
	return schema;
}

function change(dataDir: string, sql: string): void {
	const db = new Database(databaseFile(dataDir));
	db.exec(sql);
	db.close();
}

/** The schema version of a database, and its workspaces. */
function read(file: string): [schema: unknown, ids: unknown] {
	const db = new Database(file, { readonly: true });
	try {
		return [db.pragma('user_version', { simple: true }), db.prepare('SELECT id FROM workspaces').pluck().all()];
	} finally {
		db.close();
	}
}

test('the first start of a newer schema keeps a copy of the database as it was', async (t) => {
	const dataDir = await temporaryPlace(t);
	makeOldDatabase(dataDir);
	const store = await openStore(dataDir);
	await store.commit({ write: [{ op: 'remove', kind: 'workspaces', id: 'ws_1' }] });
	await store[Symbol.asyncDispose]();
	assert.deepEqual(await copiesIn(dataDir), [`parley-schema-${OLD}.db`]);
	assert.deepEqual(read(join(dataDir, `parley-schema-${OLD}.db`)), [OLD, ['ws_1']]);
	assert.deepEqual(read(databaseFile(dataDir)), [MIGRATIONS.length, []]);
});

test('an interrupted upgrade goes on with its first copy, and copies no schema in between', async (t) => {
	const dataDir = await temporaryPlace(t);
	await interruptUpgrade(dataDir);
	assert.deepEqual(await copiesIn(dataDir), [`parley-schema-${OLD}.db.unfinished`]);
	await (await openStore(dataDir))[Symbol.asyncDispose]();
	assert.deepEqual(await copiesIn(dataDir), [`parley-schema-${OLD}.db`]);
	const [schema, ids] = read(join(dataDir, `parley-schema-${OLD}.db`));
	assert.deepEqual([schema, ids], [OLD, ['ws_1']]);
	assert.deepEqual(read(databaseFile(dataDir)), [MIGRATIONS.length, ['ws_1']]);
});

test('an interrupted upgrade goes on with less free space than a copy needs', { skip }, async () => {
	await using disk = await mountSmallDisk(12);
	assert.ok(disk);
	await interruptUpgrade(disk.folder, 3_000_000);
	const { bavail, bsize } = await statfs(disk.folder);
	await writeFile(join(disk.folder, 'filler'), Buffer.alloc(bavail * bsize - 2_000_000));
	await (await openStore(disk.folder))[Symbol.asyncDispose]();
	assert.deepEqual(read(databaseFile(disk.folder)), [MIGRATIONS.length, ['ws_1']]);
});

test('a copy from an earlier upgrade does not count as that of an interrupted one', async (t) => {
	const dataDir = await temporaryPlace(t);
	const schema = await interruptUpgrade(dataDir);
	await rename(join(dataDir, `parley-schema-${OLD}.db.unfinished`), join(dataDir, `parley-schema-${OLD}.db`));
	await (await openStore(dataDir))[Symbol.asyncDispose]();
	assert.deepEqual(await copiesIn(dataDir), [`parley-schema-${OLD}.db`, `parley-schema-${schema}.db`].sort());
	assert.deepEqual(read(join(dataDir, `parley-schema-${schema}.db`)), [schema, ['ws_1']]);
});

test('a copy whose migration did not begin is made again: the former Parley may have run since', async (t) => {
	const dataDir = await temporaryPlace(t);
	makeOldDatabase(dataDir);
	await copyFile(databaseFile(dataDir), join(dataDir, `parley-schema-${OLD}.db.unfinished`));
	change(dataDir, "DELETE FROM workspaces; INSERT INTO workspaces VALUES ('ws_2', 1, 'x', 'free', NULL, 10, 20)");
	await (await openStore(dataDir))[Symbol.asyncDispose]();
	assert.deepEqual(await copiesIn(dataDir), [`parley-schema-${OLD}.db`]);
	assert.deepEqual(read(join(dataDir, `parley-schema-${OLD}.db`)), [OLD, ['ws_2']]);
});

test('a crash after the last step leaves a copy that the next start gives its name', async (t) => {
	const dataDir = await temporaryPlace(t);
	await (await openStore(dataDir))[Symbol.asyncDispose]();
	await writeFile(join(dataDir, `parley-schema-${OLD}.db.unfinished`), 'copy');
	await (await openStore(dataDir))[Symbol.asyncDispose]();
	assert.deepEqual(await copiesIn(dataDir), [`parley-schema-${OLD}.db`]);
});

test('a start removes the copies that killed starts have begun, also those of another schema', async (t) => {
	const dataDir = await temporaryPlace(t);
	await (await openStore(dataDir))[Symbol.asyncDispose]();
	for (const end of ['', '-journal', '-wal', '-shm'])
		await writeFile(join(dataDir, `parley-schema-${OLD}.db.partial${end}`), 'half');
	await (await openStore(dataDir))[Symbol.asyncDispose]();
	assert.deepEqual(await copiesIn(dataDir), []);
});

test('a new database and a current one are not copied', async (t) => {
	const dataDir = await temporaryPlace(t);
	for (let start = 0; start < 2; start++) await (await openStore(dataDir))[Symbol.asyncDispose]();
	assert.deepEqual(await copiesIn(dataDir), []);
});

test('a server does not migrate a database on a disk that is too small, and changes nothing', { skip }, async () => {
	await using disk = await mountSmallDisk(4);
	assert.ok(disk);
	makeOldDatabase(disk.folder, 1_800_000);
	await assert.rejects(openStore(disk.folder), {
		code: 'unavailable',
		message:
			/^The database in .* cannot be brought to the schema of this Parley: this needs .* are free\. Make room, or start/,
	});
	assert.deepEqual(read(databaseFile(disk.folder)), [OLD, ['ws_1']]);
	assert.deepEqual(await copiesIn(disk.folder), []);
});

test('a copy is deleted after seven days, but not by a clock that is suspect', async (t) => {
	const dataDir = await temporaryPlace(t);
	const [made, week] = [Date.UTC(2026, 10, 20), 7 * 24 * 3_600_000];
	for (const name of ['parley-schema-2.db', 'parley-schema-3.db', 'parley-schema-x.db']) {
		const path = join(dataDir, name);
		await writeFile(path, '');
		await utimes(path, new Date(made), new Date(name.includes('3') ? made + week : made));
	}
	let now: number | null = made + week;
	const copies = new DatabaseCopies({ dataDir, log: createLog('silent'), jumpDetector: { trustedNow: () => now } });
	t.after(() => copies[Symbol.asyncDispose]());
	const afterRun = async (time: number | null) => {
		now = time;
		await copies.run();
		return (await copiesIn(dataDir)).sort();
	};
	assert.equal((await afterRun(made + week)).length, 3);
	assert.equal((await afterRun(null)).length, 3);
	assert.deepEqual(await afterRun(made + week + 1), ['parley-schema-3.db', 'parley-schema-x.db']);
});
