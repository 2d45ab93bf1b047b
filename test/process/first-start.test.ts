import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { chown, mkdir, mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import net from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import test, { type TestContext } from 'node:test';
import { findProgram } from '../support/programs.ts';
import { program, startServer } from '../support/server-process.ts';

const KEY = /\bsk_[0-9A-Za-z]{49}\b/;
const NO_KEY = { PARLEY_API_KEY: undefined };

async function folderOf(t: TestContext): Promise<string> {
	const folder = await mkdtemp(join(tmpdir(), 'parley-first-'));
	t.after(() => rm(folder, { recursive: true, force: true }));
	return folder;
}

/** Runs a start that must fail, to its end. */
function failedStart(dataDir: string, env: Record<string, string> = {}, uid?: number) {
	const { PATH, HOME } = process.env;
	return spawnSync(program.command, [...program.args, 'serve'], {
		...(uid === undefined ? {} : { uid, gid: uid }),
		cwd: tmpdir(),
		env: { PATH, HOME, PARLEY_PORT: '0', PARLEY_DATA_DIR: dataDir, ...program.env, ...env },
		encoding: 'utf8',
		killSignal: 'SIGKILL',
		timeout: 60_000,
	});
}

test('without a terminal the first key and the password link go to a file, and only its path is shown', async (t) => {
	const dataDir = await folderOf(t);
	const path = join(dataDir, 'first-start.txt');
	let key: string;
	{
		await using server = await startServer({ dataDir, env: NO_KEY });
		assert.doesNotMatch(server.output(), KEY);
		assert.doesNotMatch(server.output(), /set-password#/);
		assert.ok(server.output().includes(path), server.output());
		const text = await readFile(path, 'utf8');
		assert.equal((await stat(path)).mode & 0o777, 0o600);
		key = KEY.exec(text)?.[0] ?? '';
		assert.match(text, new RegExp(`^Password: +${server.url}/set-password#[\\w-]{43}$`, 'm'));
		const answer = await server.call('GET', '/api/v1/workspace', undefined, { authorization: `Bearer ${key}` });
		assert.equal(answer.status, 200);
		await server.stop();
	}
	{
		await using server = await startServer({ dataDir, env: NO_KEY });
		assert.match(server.output(), /Delete .*first-start\.txt/, 'the next start reminds of it');
		assert.equal(KEY.exec(await readFile(path, 'utf8'))?.[0], key, 'and leaves it as it is');
		await server.stop();
	}
	await rm(path);
	await using server = await startServer({ dataDir, env: NO_KEY });
	assert.doesNotMatch(server.output(), /first-start/);
});

test('PARLEY_PRINT_KEY prints both as well, and with PARLEY_API_KEY the key is in neither place', async (t) => {
	const dataDir = await folderOf(t);
	await using server = await startServer({ dataDir, env: { ...NO_KEY, PARLEY_PRINT_KEY: '1' } });
	const kept = await readFile(join(dataDir, 'first-start.txt'), 'utf8');
	assert.equal(KEY.exec(server.output())?.[0], KEY.exec(kept)?.[0]);
	assert.match(server.output(), /^Password: .*set-password#/m);
	await using given = await startServer({ env: { PARLEY_PRINT_KEY: '1' } });
	assert.doesNotMatch(given.output(), KEY);
	assert.match(given.output(), /^Password: .*set-password#/m);
	assert.doesNotMatch(await readFile(join(given.dataDir, 'first-start.txt'), 'utf8'), KEY);
});

const noTerminal = findProgram('script') === null && 'skipped: there is no "script", which makes a terminal';

test('on a terminal both are printed once, and no file remains', { skip: noTerminal }, async (t) => {
	const dataDir = await folderOf(t);
	// The shell joins the server's command line to the one text that "script" takes.
	const wrapperCommand = ['/bin/sh', '-c', 'exec script -qefc "$*" /dev/null', 'sh'];
	await using server = await startServer({ dataDir, env: NO_KEY, wrapperCommand });
	const printed = server.output();
	assert.equal(printed.match(new RegExp(KEY, 'g'))?.length, 1, printed);
	assert.equal(printed.match(/set-password#/g)?.length, 1, printed);
	assert.equal(existsSync(join(dataDir, 'first-start.txt')), false);
});

test('a first start on an occupied port makes nothing and names PARLEY_PORT', async (t) => {
	const taken = net.createServer().listen(0, '127.0.0.1');
	await new Promise((resolve) => taken.once('listening', resolve));
	t.after(() => taken.close());
	const dataDir = await folderOf(t);
	const { port } = taken.address() as net.AddressInfo;
	const { status, stdout, stderr } = failedStart(dataDir, { PARLEY_PORT: String(port) });
	assert.equal(status, 1);
	assert.match(stderr, new RegExp(`^parley: Cannot listen on 127\\.0\\.0\\.1:${port}: .* Set PARLEY_PORT .*\\n$`));
	assert.equal(stdout, '');
	assert.deepEqual(await readdir(dataDir), []);
	await using server = await startServer({ dataDir, env: { ...NO_KEY, PARLEY_PRINT_KEY: '1' } });
	assert.match(server.output(), KEY, 'the next start is the first one');
});

test('a data folder that cannot be used stops the start with a sentence that names it and its setting', async (t) => {
	const folder = await folderOf(t);
	const file = join(folder, 'file');
	await writeFile(file, '');
	const shopping = join(folder, 'shopping');
	await mkdir(shopping);
	await writeFile(join(shopping, 'blobs'), '');
	const kernel = existsSync('/proc/self') ? ['/proc/parley', '/proc/parley/data'] : [];
	for (const dataDir of [file, join(file, 'data'), shopping, ...kernel]) {
		const { status, stderr } = failedStart(dataDir);
		assert.equal(status, 1, stderr);
		assert.ok(stderr.startsWith(`parley: The data folder ${dataDir} cannot be used`), stderr);
		assert.match(stderr, /PARLEY_DATA_DIR/);
		assert.doesNotMatch(stderr, /\n {4}at /, 'a sentence, no stack');
	}
});

const NOBODY = 65_534;
/** Whether this is root, and another user may run the server as it was built. */
const runsAsOther =
	process.getuid?.() === 0 &&
	spawnSync(program.command, [...program.args, '--version'], {
		env: program.env,
		uid: NOBODY,
		gid: NOBODY,
		killSignal: 'SIGKILL',
		timeout: 60_000,
	}).status === 0;

test('a secret key that the user of the server may not read stops the start with a sentence that names the file', {
	skip: !runsAsOther && 'skipped: this user cannot run the server as another one',
}, async (t) => {
	const dataDir = await folderOf(t);
	{
		await using server = await startServer({ dataDir });
		await server.stop();
	}
	for (const entry of ['', ...(await readdir(dataDir, { recursive: true }))]) {
		if (entry !== 'secret.key') await chown(join(dataDir, entry), NOBODY, NOBODY);
	}
	const { status, stderr } = failedStart(dataDir, {}, NOBODY);
	assert.equal(status, 1, stderr);
	assert.ok(stderr.includes(`(${join(dataDir, 'secret.key')}): this user may not read or write there.`), stderr);
	assert.doesNotMatch(stderr, /\n {4}at /, 'a sentence, no stack');
});
