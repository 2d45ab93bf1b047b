// Own process: it sets TMPDIR.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { cp, mkdir, readdir, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { setImmediate } from 'node:timers/promises';
import { verifyBackup } from '../../src/backup/index.ts';
import { temporaryFolder } from '../support/run-command.ts';
import { program } from '../support/server-process.ts';
import { backUp, dataFolderWith, never } from './sample-archive.ts';

/** A new folder for temporary files, until the test ends. */
async function setTemporaryFolder(t: TestContext): Promise<string> {
	const [folder, former] = [await temporaryFolder(t), process.env.TMPDIR];
	process.env.TMPDIR = folder;
	t.after(() => {
		if (former === undefined) delete process.env.TMPDIR;
		else process.env.TMPDIR = former;
	});
	return folder;
}

test('a check removes the database that a killed check has left', async (t) => {
	const file = await backUp(t, await dataFolderWith(t, ['x'.repeat(20_000_000)]));
	const folder = await setTemporaryFolder(t);
	const { command, args, env } = program;
	const child = spawn(command, [...args, 'verify', file], {
		env: { PATH: process.env.PATH, HOME: process.env.HOME, PARLEY_DATA_DIR: folder, ...env, TMPDIR: folder },
		stdio: 'ignore',
	});
	const ended = new Promise((resolve) => child.once('close', resolve));
	const left = async () => (await readdir(folder)).find((name) => name.startsWith('parley-verify-'));
	const isUnpacking = async () => existsSync(join(folder, (await left()) ?? 'none', 'parley.db'));
	while (child.exitCode === null && !(await isUnpacking())) await setImmediate();
	child.kill('SIGKILL');
	await ended;
	assert.ok(await isUnpacking(), 'the killed check has left a database');
	await verifyBackup(file, never);
	assert.equal(await left(), undefined);
});

test('a check leaves the folder of a running check, and what others have put there', async (t) => {
	const file = await backUp(t, await dataFolderWith(t, ['one', 'x'.repeat(20_000_000)]));
	const [own, folder] = [await temporaryFolder(t), await setTemporaryFolder(t)];
	await writeFile(join(own, 'parley.lock'), '');
	await symlink(own, join(folder, 'parley-verify-link'));
	await mkdir(join(folder, 'parley-verify-unlocked'));
	const results = await Promise.all([1, 2, 3, 4].map(() => verifyBackup(file, never)));
	assert.equal(results.length, 4);
	assert.deepEqual((await readdir(folder)).sort(), ['parley-verify-link', 'parley-verify-unlocked']);
	assert.deepEqual(await readdir(own), ['parley.lock']);
	await cp(own, join(folder, 'parley-verify-old'), { recursive: true });
	await verifyBackup(file, never);
	assert.deepEqual((await readdir(folder)).sort(), ['parley-verify-link', 'parley-verify-unlocked']);
});
