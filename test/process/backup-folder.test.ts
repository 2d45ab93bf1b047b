import assert from 'node:assert/strict';
import { mkdir, readdir, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { runProgram, temporaryFolder } from '../support/run-command.ts';
import { startServer } from '../support/server-process.ts';

test('a server does not start if its folder for backups cannot be one, and a backup in the data folder is refused', async (t) => {
	const outer = await temporaryFolder(t);
	const dataDir = join(outer, 'data');
	const file = join(outer, 'file');
	await writeFile(file, 'mine');
	await mkdir(dataDir);
	await symlink(dataDir, join(outer, 'link'));
	for (const [folder, sentence] of [
		[file, /file cannot be written to: there is a file in the place of a folder\. \(EEXIST\)/],
		[
			join(file, 'below'),
			/below cannot be written to: there is a file in the place of a folder\. \((ENOTDIR|EEXIST)\)/,
		],
		['/proc/parley-backups', /\/proc\/parley-backups cannot be written to: the folder does not exist\. \(ENOENT\)/],
		[dataDir, /data is in the data folder: make backups in another one/],
		[join(dataDir, 'backups'), /backups is in the data folder: /],
		[join(outer, 'link', 'backups'), /backups is in the data folder: /],
	] as const) {
		const { code, err } = await runProgram(dataDir, ['serve'], { PARLEY_PORT: '0', PARLEY_BACKUP_DIR: folder });
		assert.equal(code, 2, err);
		assert.ok(err.startsWith('parley: Backups (PARLEY_BACKUP_DIR) are not possible. '), err);
		assert.match(err, sentence);
	}
	assert.deepEqual(await readdir(dataDir), []);
	await using server = await startServer({ dataDir });
	for (const target of [`${join(dataDir, 'blobs')}/`, join(dataDir, 'backup.tar'), dataDir]) {
		const { code, err } = await runProgram(dataDir, ['backup', target]);
		assert.equal(code, 1, err);
		assert.match(err, /is in the data folder: make backups in another one, best on another disk\.$/m);
	}
	const names = (await readdir(dataDir, { recursive: true })).filter((name) => name.endsWith('.tar'));
	assert.deepEqual(names, []);
	await server.stop();
});
