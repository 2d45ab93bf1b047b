import assert from 'node:assert/strict';
import { existsSync, mkdirSync } from 'node:fs';
import { mkdir, readdir, readFile, rm, rmdir, writeFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { test } from 'node:test';
import { setImmediate } from 'node:timers/promises';
import { createBackup, restoreBackup } from '../../src/backup/index.ts';
import { systemClock } from '../../src/base/index.ts';
import { workerEntry } from '../../src/pool/index.ts';
import { backupSeries, lockForBackup, openSqliteStore, SCHEMA_VERSION } from '../../src/store/index.ts';
import { openWritable } from '../../src/store/sqlite/connection.ts';
import { MIGRATIONS } from '../../src/store/sqlite/migrations.ts';
import { temporaryFolder } from '../support/run-command.ts';
import { backUp, dataFolderWith, never, sha256 } from './sample-archive.ts';

const TEXTS = ['one', 'two', 'three'];

test('a restored folder has the blobs and the records of the backup, and a store opens there', async (t) => {
	const file = await backUp(t, await dataFolderWith(t, TEXTS));
	const dataDir = join(await temporaryFolder(t), 'not', 'there');
	const manifest = await restoreBackup({ dataDir, file, signal: never });
	assert.equal(manifest.counts.documents, 3);
	await using store = await openSqliteStore({ dataDir, writer: workerEntry('store') });
	for (const text of TEXTS) {
		const hash = sha256(Buffer.from(text));
		assert.equal((await store.blobs.read(hash))?.toString(), text);
		assert.ok(await store.documents.isBlobInUse(hash));
	}
});

test('a secret key and files without data may be in the folder before', async (t) => {
	const file = await backUp(t, await dataFolderWith(t, TEXTS));
	const dataDir = await temporaryFolder(t);
	await writeFile(join(dataDir, 'secret.key'), 'the key');
	await mkdir(join(dataDir, 'lost+found'));
	await restoreBackup({ dataDir, file, signal: never });
	assert.equal(await readFile(join(dataDir, 'secret.key'), 'utf8'), 'the key');
});

test('a restore is refused where only blobs are, because these may be all that is left of data', async (t) => {
	const file = await backUp(t, await dataFolderWith(t, TEXTS));
	const dataDir = await temporaryFolder(t);
	await mkdir(join(dataDir, 'blobs'));
	await assert.rejects(restoreBackup({ dataDir, file, signal: never }), /is not empty \(it has blobs\)/);
});

test('no server starts on an interrupted restore, and the next restore keeps nothing of it', async (t) => {
	const file = await backUp(t, await dataFolderWith(t, TEXTS));
	const dataDir = await temporaryFolder(t);
	// As a crash between the last two steps leaves it, from another backup.
	for (const folder of ['blobs/ab', 'restore.incomplete']) await mkdir(join(dataDir, folder), { recursive: true });
	for (const path of ['blobs/ab/other', 'restore.incomplete/parley.db']) await writeFile(join(dataDir, path), 'other');
	await assert.rejects(openSqliteStore({ dataDir, writer: workerEntry('store') }), {
		code: 'unavailable',
		message: `A restore into ${dataDir} was interrupted. Run "parley restore" again, or empty the folder.`,
	});
	await restoreBackup({ dataDir, file, signal: never });
	const files = await readdir(dataDir);
	assert.deepEqual(files.sort(), ['blobs', 'parley.db', 'parley.lock']);
	assert.equal(
		(await readdir(join(dataDir, 'blobs'))).includes('ab'),
		TEXTS.some((text) => sha256(Buffer.from(text)).startsWith('ab')),
	);
});

test('a start on a restore that was killed after its last step removes its folder, and no later restore deletes the files', async (t) => {
	const file = await backUp(t, await dataFolderWith(t, TEXTS));
	const dataDir = await temporaryFolder(t);
	await restoreBackup({ dataDir, file, signal: never });
	await mkdir(join(dataDir, 'restore.incomplete'));
	await (await openSqliteStore({ dataDir, writer: workerEntry('store') }))[Symbol.asyncDispose]();
	assert.ok(!existsSync(join(dataDir, 'restore.incomplete')));
	for (const name of await readdir(dataDir)) if (name.startsWith('parley.db')) await rm(join(dataDir, name));
	await assert.rejects(restoreBackup({ dataDir, file, signal: never }), /is not empty \(it has blobs\)/);
	assert.ok((await readdir(join(dataDir, 'blobs'))).length >= TEXTS.length);
});

test('a restore and a backup that are stopped leave nothing', async (t) => {
	const source = await dataFolderWith(t, TEXTS);
	const file = await backUp(t, source);
	const dataDir = await temporaryFolder(t);
	const signal = AbortSignal.abort(new Error('enough'));
	await assert.rejects(restoreBackup({ dataDir, file, signal }), /enough/);
	assert.deepEqual(await readdir(dataDir), ['parley.lock']);
	const folder = await temporaryFolder(t);
	await assert.rejects(createBackup({ dataDir: source, target: folder, clock: systemClock, signal }), /enough/);
	assert.deepEqual(await readdir(folder), []);
});

test('a backup by an earlier Parley can be restored, and the next start migrates it', async (t) => {
	for (const schema of [1, Math.floor(SCHEMA_VERSION / 2), SCHEMA_VERSION - 1]) {
		const source = await temporaryFolder(t);
		const db = openWritable(join(source, 'parley.db'));
		for (const step of MIGRATIONS.slice(0, schema)) db.exec(step);
		db.pragma(`user_version = ${schema}`);
		db.close();
		const file = await backUp(t, source);
		const dataDir = await temporaryFolder(t);
		assert.equal((await restoreBackup({ dataDir, file, signal: never })).schema_version, schema);
		await using store = await openSqliteStore({ dataDir, writer: workerEntry('store') });
		assert.deepEqual(await store.list('workspaces', { where: {}, order: 'asc', limit: 1 }), []);
	}
});

test('a backup beside a running one is refused and leaves the unfinished files of that', async (t) => {
	const dataDir = await dataFolderWith(t, TEXTS);
	const folder = await temporaryFolder(t);
	const unfinished = `.parley-${backupSeries(dataDir)}-20261126T120000.000Z.tar.0123456789abcdef.partial`;
	await mkdir(join(folder, unfinished));
	const backup = () => createBackup({ dataDir, target: folder, clock: systemClock, signal: never });
	const running = lockForBackup(dataDir);
	await assert.rejects(backup(), /^AppError: Another backup of .* is running\./);
	assert.deepEqual(await readdir(folder), [unfinished]);
	running[Symbol.dispose]();
	const { file } = await backup();
	assert.deepEqual(await readdir(folder), [basename(file)]);
});

test('a restore that fails at its last step leaves nothing, and the next one succeeds', async (t) => {
	const file = await backUp(t, await dataFolderWith(t, TEXTS));
	const dataDir = await temporaryFolder(t);
	const restoring = restoreBackup({ dataDir, file, signal: never });
	const failed = assert.rejects(restoring, /parley\.db/);
	while (!existsSync(join(dataDir, 'restore.incomplete'))) await setImmediate();
	// A folder in the place of the database.
	mkdirSync(join(dataDir, 'parley.db'));
	await failed;
	assert.deepEqual((await readdir(dataDir)).sort(), ['parley.db', 'parley.lock']);
	await rmdir(join(dataDir, 'parley.db'));
	await restoreBackup({ dataDir, file, signal: never });
});
