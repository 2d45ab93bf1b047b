import assert from 'node:assert/strict';
import { readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { runProgram, temporaryFolder } from '../support/run-command.ts';
import { startServer } from '../support/server-process.ts';
import { mountSmallDisk, skipWithoutSmallDisk } from '../support/small-disk.ts';
import { until } from '../support/until.ts';

const skip = await skipWithoutSmallDisk();

test('a backup that does not fit is refused before it fills the disk', { skip }, async () => {
	await using disk = await mountSmallDisk(1);
	assert.ok(disk);
	await using server = await startServer();
	await server.stop();
	// Larger than half of the disk: there is no room for the database and the archive.
	const { size } = await stat(join(server.dataDir, 'parley.db'));
	assert.ok(size > 512 * 1024);
	const { code, out, err } = await runProgram(server.dataDir, ['backup', `${disk.folder}/`]);
	assert.deepEqual([code, out], [1, '']);
	assert.match(
		err,
		/^parley: .* has too little free space: the backup needs [\d.]+ KiB more, [\d.]+ KiB are free\.\n$/,
	);
	assert.deepEqual(await readdir(disk.folder), []);
});

test('a server keeps its older backups on a full disk, and makes the next one when there is space', {
	skip,
}, async (t) => {
	await using disk = await mountSmallDisk(24);
	assert.ok(disk);
	const folder = join(disk.folder, 'backups');
	const env = {
		PARLEY_BACKUP_DIR: folder,
		PARLEY_BACKUP_EVERY: '1h',
		PARLEY_BACKUP_KEEP: '1',
		PARLEY_LOG_LEVEL: 'info',
	};
	const dataDir = await temporaryFolder(t);
	const first = await startServer({ dataDir, env });
	await until('a backup is logged', () => first.output().includes('a backup was made'));
	await first.stop();
	const makeSpace = await disk.fill();
	const before = await readdir(folder);
	// By hand, because the next of the server is not due.
	const full = await runProgram(dataDir, ['backup', `${folder}/`, '--keep', '1']);
	assert.equal(full.code, 1);
	assert.match(full.err, /^parley: .* (has too little free space|cannot be written to: the disk is full)/);
	assert.deepEqual(await readdir(folder), before);
	await makeSpace();
	const made = await runProgram(dataDir, ['backup', `${folder}/`, '--keep', '1']);
	assert.equal(made.code, 0, made.err);
	assert.deepEqual(
		(await readdir(folder)).map((name) => join(folder, name)),
		[made.out.trim()],
	);
});

test('a restore and a verification on a full disk say so and leave nothing', { skip }, async (t) => {
	await using disk = await mountSmallDisk(1);
	assert.ok(disk);
	await using server = await startServer();
	const { body: base } = await server.call('POST', '/api/v1/knowledge-bases', { name: 'Manuals' });
	const form = new FormData();
	form.set('file', new Blob(['The kettle is blue. '.repeat(50_000)]), 'long.txt');
	const documents = `/api/v1/knowledge-bases/${base.id}/documents`;
	assert.equal((await server.call('POST', documents, form)).status, 201);
	const file = join(await temporaryFolder(t), 'backup.tar');
	assert.equal((await runProgram(server.dataDir, ['backup', file])).code, 0);

	const restored = await runProgram(disk.folder, ['restore', file]);
	assert.equal(restored.code, 1);
	assert.match(restored.err, /^parley: The data folder .* cannot be used.*: the disk is full\./);
	assert.deepEqual(await readdir(disk.folder), ['parley.lock']);
	await disk.fill();
	const verified = await runProgram(server.dataDir, ['verify', file], { TMPDIR: disk.folder });
	assert.equal(verified.code, 1);
	assert.match(verified.err, /^parley: .* cannot be written to: the disk is full/);
	assert.deepEqual((await readdir(disk.folder)).sort(), ['filler', 'parley.lock']);
});
