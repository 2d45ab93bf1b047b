import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { loadSecretKey } from '../../src/access/index.ts';

const folder = await mkdtemp(join(tmpdir(), 'parley-secret-'));
after(() => rm(folder, { recursive: true, force: true }));

/** The key, and the fingerprint that later starts compare. */
const FILES = ['secret.check', 'secret.key'];
const GIVEN = Buffer.alloc(32, 7).toString('base64');
const OTHER = Buffer.alloc(32, 8).toString('base64');

let made = 0;
/** A data folder that does not exist yet. */
const fresh = () => join(folder, String(++made), 'data');

test('the first start creates a key that only its owner can read, and every later start finds it', async () => {
	const dataDir = fresh();
	const key = await loadSecretKey(dataDir);
	assert.equal(key.length, 32);
	assert.equal((await stat(join(dataDir, 'secret.key'))).mode & 0o777, 0o600);
	assert.deepEqual(await loadSecretKey(dataDir), key);
	assert.deepEqual(await readdir(dataDir), FILES);
	assert.notDeepEqual(await loadSecretKey(fresh()), key);
});

test('concurrent calls in one process get the same key', async () => {
	const dataDir = fresh();
	const keys = await Promise.all(Array.from({ length: 20 }, () => loadSecretKey(dataDir)));
	assert.equal(new Set(keys.map((key) => key.toString('hex'))).size, 1);
	assert.deepEqual(await readdir(dataDir), FILES);
});

test('processes that start at once get the same key', async () => {
	const dataDir = fresh();
	const face = new URL('../../src/access/secret-key.ts', import.meta.url).href;
	const script = `import { loadSecretKey } from ${JSON.stringify(face)};
		process.stdout.write((await loadSecretKey(${JSON.stringify(dataDir)})).toString('hex'));`;
	const keys = await Promise.all(
		[1, 2, 3].map(async () => {
			const child = spawn(process.execPath, ['--import', 'tsx', '--input-type=module', '--eval', script], {
				cwd: new URL('../..', import.meta.url),
				stdio: ['ignore', 'pipe', 'inherit'],
			});
			let text = '';
			child.stdout.on('data', (bytes: Buffer) => {
				text += bytes.toString();
			});
			assert.deepEqual(await once(child, 'close'), [0, null]);
			return text;
		}),
	);
	assert.match(keys[0] as string, /^[0-9a-f]{64}$/);
	assert.equal(new Set(keys).size, 1);
	assert.deepEqual(await readdir(dataDir), FILES);
});

test('a file of a crashed start does not stop the next start, even with the same process id', async () => {
	const dataDir = fresh();
	await loadSecretKey(dataDir);
	for (const name of await readdir(dataDir)) {
		await rm(join(dataDir, name));
		await writeFile(join(dataDir, `${name}.${process.pid}.tmp`), 'half a k');
	}
	assert.equal((await loadSecretKey(dataDir)).length, 32);
});

test('never replaces a file that holds no key: the start fails with a sentence that names it', async () => {
	for (const content of ['', 'c2hvcnQ=', Buffer.alloc(33).toString('base64'), 'hello world']) {
		const dataDir = fresh();
		await loadSecretKey(dataDir);
		const path = join(dataDir, 'secret.key');
		await writeFile(path, content);
		await assert.rejects(loadSecretKey(dataDir), (error: Error) => error.message.includes(path));
		assert.equal(await readFile(path, 'utf8'), content);
	}
});

test('uses a configured key and writes only its fingerprint', async () => {
	const dataDir = fresh();
	for (let start = 0; start < 2; start++) {
		assert.deepEqual(await loadSecretKey(dataDir, GIVEN), Buffer.alloc(32, 7));
		assert.deepEqual(await readdir(dataDir), ['secret.check']);
	}
	const print = await readFile(join(dataDir, 'secret.check'), 'utf8');
	assert.match(print, /^[0-9a-f]{64}\n$/);
	assert.notEqual(Buffer.from(print.trim(), 'hex').toString('base64'), GIVEN);
	assert.equal((await stat(join(dataDir, 'secret.check'))).mode & 0o777, 0o600);
});

test('another key than the one of the sealed secrets stops the start and changes nothing', async () => {
	const dataDir = fresh();
	await loadSecretKey(dataDir, GIVEN);
	const refused = {
		code: 'unavailable',
		message: /^PARLEY_SECRET_KEY is not the key .*PARLEY_DATA_DIR\. .*"parley secrets reset"/,
	};
	await assert.rejects(loadSecretKey(dataDir, OTHER), refused);
	assert.deepEqual(await loadSecretKey(dataDir, GIVEN), Buffer.alloc(32, 7));
});

test('does not create a key where a configured key was used before', async () => {
	const dataDir = fresh();
	await loadSecretKey(dataDir, GIVEN);
	await assert.rejects(loadSecretKey(dataDir), { code: 'unavailable', message: /set it as PARLEY_SECRET_KEY/ });
	assert.deepEqual(await readdir(dataDir), ['secret.check']);
});

test('a folder of an earlier version, with a key and no fingerprint, accepts that key only', async () => {
	const dataDir = fresh();
	await loadSecretKey(dataDir);
	await rm(join(dataDir, 'secret.check'));
	const own = (await readFile(join(dataDir, 'secret.key'), 'utf8')).trim();
	await assert.rejects(loadSecretKey(dataDir, GIVEN), { code: 'unavailable', message: /Unset it: the key is in / });
	assert.deepEqual(await readdir(dataDir), ['secret.key']);
	assert.equal((await loadSecretKey(dataDir, own)).toString('base64'), own);
	assert.deepEqual(await readdir(dataDir), FILES);
});

test('a key that moved from the file to the setting no longer needs the file', async () => {
	const dataDir = fresh();
	const key = await loadSecretKey(dataDir);
	await rm(join(dataDir, 'secret.key'));
	assert.deepEqual(await loadSecretKey(dataDir, key.toString('base64')), key);
	await writeFile(join(dataDir, 'secret.key'), OTHER);
	await assert.rejects(loadSecretKey(dataDir), { code: 'unavailable', message: /is not the key with which/ });
});
