import assert from 'node:assert/strict';
import { readdir, utimes, writeFile } from 'node:fs/promises';
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
	// A copy that a crash has interrupted.
	await writeFile(join(dataDir, `parley-schema-${OLD}.db.partial`), 'half');
	const store = await openStore(dataDir);
	await store.commit({ write: [{ op: 'remove', kind: 'workspaces', id: 'ws_1' }] });
	await store[Symbol.asyncDispose]();
	assert.deepEqual(await copiesIn(dataDir), [`parley-schema-${OLD}.db`]);
	assert.deepEqual(read(join(dataDir, `parley-schema-${OLD}.db`)), [OLD, ['ws_1']]);
	assert.deepEqual(read(databaseFile(dataDir)), [MIGRATIONS.length, []]);
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
