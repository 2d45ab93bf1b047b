import assert from 'node:assert/strict';
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { runBackupProcess } from '../../src/backup/index.ts';
import { temporaryFolder } from '../support/run-command.ts';
import { until } from '../support/until.ts';
import { never } from './sample-archive.ts';

/** A program that runs this script in place of the server's. */
const scripted = (script: string) => [process.execPath, '--eval', script, '--'];

test('the process gets the folder and how many backups stay, and its output is the result', async () => {
	const program = scripted('console.log(process.argv.slice(1).join(" "))');
	assert.equal(await runBackupProcess('/mnt/backups', 3, never, program), 'backup /mnt/backups/ --keep 3');
});

test('a process that fails gives its sentence, and without one how it ended', async () => {
	const failing = scripted('console.error("parley: The disk is full."); process.exitCode = 1');
	await assert.rejects(runBackupProcess('/mnt/backups', 3, never, failing), { message: 'The disk is full.' });
	const killed = scripted('process.kill(process.pid, "SIGKILL")');
	await assert.rejects(
		runBackupProcess('/mnt/backups', 3, never, killed),
		/The process of the backup ended with SIGKILL\./,
	);
	await assert.rejects(runBackupProcess('/mnt/backups', 3, never, ['/no/such/program']), { code: 'ENOENT' });
});

test('a stop lets the process remove its files, and waits for its end', async (t) => {
	const folder = await temporaryFolder(t);
	const file = JSON.stringify(join(folder, 'unfinished'));
	const program = scripted(`
		const { rmSync, writeFileSync } = require('node:fs');
		process.on('SIGTERM', () => { rmSync(${file}); process.exit(1); });
		writeFileSync(${file}, '');
		setInterval(() => {}, 1_000);
	`);
	const stop = new AbortController();
	const run = runBackupProcess(folder, 3, stop.signal, program);
	await until('it works', async () => (await readdir(folder)).length === 1);
	stop.abort(new Error('The server is stopping.'));
	await assert.rejects(run, { message: 'The server is stopping.' });
	assert.deepEqual(await readdir(folder), []);
});
