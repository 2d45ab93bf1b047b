import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { copyFile, mkdir, open, readdir, readFile, rm, stat, truncate, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import Database from 'better-sqlite3';
import { type Headers, type Pack, pack } from 'tar-stream';
import { blobPath, entryBytes, renderChecksums } from '../../src/backup/archive-entries.ts';
import { restoreBackup, verifyBackup } from '../../src/backup/index.ts';
import { createManifest, renderManifest } from '../../src/backup/manifest.ts';
import { checkArchive } from '../../src/backup/verify-backup.ts';
import { temporaryFolder } from '../support/run-command.ts';
import { backUp, dataFolderWith, never, sha256 } from './sample-archive.ts';

const TEXTS = ['The kettle boils.', '', 'x'.repeat(512), 'y'.repeat(300_000)];

test('an intact archive passes, says what is in it, and can be read by its owner only', async (t) => {
	const file = await backUp(t, await dataFolderWith(t, TEXTS));
	const manifest = await verifyBackup(file, never);
	assert.deepEqual([manifest.counts.documents, manifest.blobs], [4, { count: 4, bytes: TEXTS.join('').length }]);
	const { mode, size } = await stat(file);
	assert.equal(mode & 0o777, 0o600);
	const blobs = TEXTS.reduce((sum, { length }) => sum + entryBytes(length), 0);
	assert.ok(size > blobs + manifest.database.bytes && size < blobs + manifest.database.bytes + 10_000);
});

test('each changed byte of an archive is found', async (t) => {
	const file = await backUp(t, await dataFolderWith(t, TEXTS.slice(0, 3)));
	const { size } = await stat(file);
	const { database } = await verifyBackup(file, never);
	const handle = await open(file, 'r+');
	t.after(() => handle.close());
	// Every byte around the contents, and some of the database.
	const databaseStart = (await readFile(file)).indexOf('SQLite format 3');
	const offsets: number[] = [];
	for (let at = 0; at < size; at += 7) {
		const isInDatabase = at > databaseStart && at < databaseStart + database.bytes;
		if (!isInDatabase || at % 4_096 < 7) offsets.push(at);
	}
	assert.ok(offsets.length > 500, String(offsets.length));
	for (const at of offsets) {
		const byte = Buffer.alloc(1);
		await handle.read(byte, 0, 1, at);
		await handle.write(Buffer.from([(byte[0] as number) ^ (1 << (at % 8))]), 0, 1, at);
		await assert.rejects(checkArchive(file, never), isDamage, `byte ${at}`);
		await handle.write(byte, 0, 1, at);
	}
	await verifyBackup(file, never);
});

test('an archive that ends too early, or goes on behind its end, is found', async (t) => {
	const file = await backUp(t, await dataFolderWith(t, TEXTS));
	const { size } = await stat(file);
	const copy = `${file}.copy`;
	for (const length of [
		0,
		1,
		511,
		512,
		1_000,
		2_048,
		100_000,
		size - 300_000,
		size - 1_025,
		size - 1_024,
		size - 512,
		size - 1,
	]) {
		await copyFile(file, copy);
		await truncate(copy, length);
		await assert.rejects(verifyBackup(copy, never), isDamage, `${length} of ${size} bytes`);
	}
	await copyFile(file, copy);
	await truncate(copy, size + 512);
	await assert.rejects(verifyBackup(copy, never), isDamage);
});

test('files that are no archives, folders and missing files are refused with a sentence', async (t) => {
	const folder = await temporaryFolder(t);
	const text = join(folder, 'text.tar');
	await writeFile(text, 'This is a shopping list.\n'.repeat(100));
	await assert.rejects(verifyBackup(text, never), isDamage);
	await assert.rejects(verifyBackup(folder, never), isDamage);
	await assert.rejects(verifyBackup(join(folder, 'none'), never), {
		code: 'not_found',
		message: /cannot be read: ENOENT/,
	});
});

test('a forged archive writes nothing outside of the folder, and nothing stays of it', async (t) => {
	const database = await databaseOf(t);
	const text = Buffer.from('text');
	const good = blobPath(sha256(text));
	const forged: Array<[what: string, entries: Entry[]]> = [
		['a path upwards', [{ name: '../outside', content: text }]],
		['a path upwards in a blob', [{ name: `blobs/../../${sha256(text)}`, content: text }]],
		['an absolute path', [{ name: '/tmp/parley-outside', content: text }]],
		['a blob in the folder of another', [{ name: good.replace(/\/../, '/00'), content: text }]],
		['a symbolic link', [{ name: good, type: 'symlink', linkname: '/etc/passwd' }]],
		['a hard link', [{ name: good, type: 'link', linkname: '../../outside' }]],
		['a folder', [{ name: 'blobs', type: 'directory' }]],
		['a device', [{ name: good, type: 'character-device' }]],
		['a long path', [{ name: `${'deep/'.repeat(50)}${'x'.repeat(120)}`, content: text }]],
		['an extended header', [{ name: good, content: text, pax: { path: '../outside' } }]],
		['another owner and mode', [{ name: good, content: text, mode: 0o4755, uid: 1 }]],
		['another content than its name says', [{ name: good, content: Buffer.from('xxxx') }]],
		['a blob that the database does not name', [{ name: good, content: text }]],
	];
	for (const [what, entries] of forged) {
		const file = await forge(t, database, entries);
		const parent = await temporaryFolder(t);
		const dataDir = join(parent, 'data');
		await mkdir(dataDir);
		await assert.rejects(verifyBackup(file, never), isDamage, what);
		await assert.rejects(restoreBackup({ dataDir, file, signal: never }), isDamage, what);
		assert.deepEqual([await readdir(parent), await readdir(dataDir)], [['data'], ['parley.lock']], what);
	}
});

test('sizes that a forged archive claims are neither allocated nor written', async (t) => {
	const database = await databaseOf(t);
	const file = await forge(t, database, []);
	const header = (await readFile(file)).indexOf('parley.db\0');
	for (const field of [
		'77777777777 ',
		'\x80\0\0\0\0\0\x40\0\0\0\0\0',
		'\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff',
		'not a number',
	]) {
		const handle = await open(file, 'r+');
		await handle.write(Buffer.from(field, 'latin1'), 0, 12, header + 124);
		await handle.close();
		const dataDir = join(await temporaryFolder(t), 'data');
		await assert.rejects(restoreBackup({ dataDir, file, signal: never }), isDamage, JSON.stringify(field));
		assert.deepEqual(await readdir(dataDir), ['parley.lock']);
	}
	const manifest = { ...createManifest(contentOf(database, 0)), counts: { documents: 1e300 } };
	await assert.rejects(verifyBackup(await forge(t, database, [], manifest), never), isDamage);
});

test('an archive of another format or of a newer schema is refused by name', async (t) => {
	const database = await databaseOf(t);
	const newerFormat = { ...createManifest(contentOf(database, 0)), format_version: 2 };
	await assert.rejects(
		verifyBackup(await forge(t, database, [], newerFormat), never),
		/its format is version 2, and this Parley reads version 1/,
	);
	const newerSchema = createManifest({ ...contentOf(database, 0), schema_version: 999 });
	const file = await forge(t, database, [], newerSchema);
	const dataDir = join(await temporaryFolder(t), 'data');
	const refusal = {
		code: 'unavailable',
		message: /has schema version 999, this Parley knows \d+\. Use the newer Parley/,
	};
	await assert.rejects(verifyBackup(file, never), refusal);
	await assert.rejects(restoreBackup({ dataDir, file, signal: never }), refusal);
	assert.deepEqual(await readdir(dataDir), ['parley.lock']);
});

test('an archive whose database is damaged, although its checksum is right, is refused', async (t) => {
	const database = await databaseOf(t);
	database.fill(0x5a, 8_192, 16_384);
	const file = await forge(t, database, []);
	await assert.rejects(verifyBackup(file, never), isDamage);
	const dataDir = join(await temporaryFolder(t), 'data');
	await assert.rejects(restoreBackup({ dataDir, file, signal: never }), isDamage);
	assert.deepEqual(await readdir(dataDir), ['parley.lock']);
});

test('an archive with a database of another program is refused, and a named pipe is not waited for', async (t) => {
	const folder = await temporaryFolder(t);
	const foreign = new Database(join(folder, 'foreign.db'));
	foreign.exec('CREATE TABLE notes (text TEXT); PRAGMA user_version = 1');
	foreign.close();
	const file = await forge(t, await readFile(join(folder, 'foreign.db')), []);
	await assert.rejects(verifyBackup(file, never), isDamage);
	const pipe = join(folder, 'pipe');
	execFileSync('mkfifo', [pipe]);
	await assert.rejects(verifyBackup(pipe, never), isDamage);
});

const isDamage = (error: Error & { code?: string }) => {
	assert.equal(error.name, 'AppError', error.stack);
	assert.equal(error.code, 'unreadable_file', error.message);
	assert.match(error.message, / is no intact backup of Parley: .+\.$/s);
	return true;
};

type Entry = Headers & { content?: Buffer; pax?: Record<string, string> };

/** A database without documents. */
async function databaseOf(t: TestContext): Promise<Buffer> {
	return readFile(join(await dataFolderWith(t, []), 'parley.db'));
}

function contentOf(database: Buffer, count: number) {
	return {
		parley_version: '0',
		schema_version: database.readUInt32BE(60),
		created_at: '2026-11-26T12:00:00.000Z',
		database: { bytes: database.length, sha256: sha256(database) },
		blobs: { count, bytes: 4 * count },
		counts: {},
	};
}

/** An archive whose checksums are right, with further entries behind its database. */
async function forge(
	t: TestContext,
	database: Buffer,
	entries: Entry[],
	manifest: object = createManifest(contentOf(database, entries.length)),
) {
	const rendered = renderManifest(manifest as Parameters<typeof renderManifest>[0]);
	const tar = pack();
	const add = (header: Headers, content?: Buffer) =>
		addForged(tar, { mode: 0o600, mtime: new Date(0), ...header }, content);
	add({ name: 'manifest.json' }, rendered);
	add({ name: 'SHA256SUMS' }, renderChecksums(sha256(rendered), sha256(database)));
	add({ name: 'parley.db' }, database);
	for (const { content, ...header } of entries) add(header, content);
	tar.finalize();
	const file = join(await temporaryFolder(t), 'forged.tar');
	const chunks: Buffer[] = [];
	for await (const chunk of tar) chunks.push(chunk as Buffer);
	await rm(file, { force: true });
	await writeFile(file, Buffer.concat(chunks));
	return file;
}

function addForged(tar: Pack, header: Headers, content: Buffer | undefined): void {
	if (content === undefined) tar.entry(header);
	else tar.entry(header, content);
}
