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

let made = 0;
/** A data folder that is not there yet. */
const fresh = () => join(folder, String(++made), 'data');

test('the first start makes a key that only its owner can read, and every later start finds it', async () => {
	const dataDir = fresh();
	const key = await loadSecretKey(dataDir);
	assert.equal(key.length, 32);
	assert.equal((await stat(join(dataDir, 'secret.key'))).mode & 0o777, 0o600);
	assert.deepEqual(await loadSecretKey(dataDir), key);
	assert.deepEqual(await readdir(dataDir), ['secret.key']);
	assert.notDeepEqual(await loadSecretKey(fresh()), key);
});

test('whoever asks at once in one process gets the same key', async () => {
	const dataDir = fresh();
	const keys = await Promise.all(Array.from({ length: 20 }, () => loadSecretKey(dataDir)));
	assert.equal(new Set(keys.map((key) => key.toString('hex'))).size, 1);
	assert.deepEqual(await readdir(dataDir), ['secret.key']);
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
	assert.deepEqual(await readdir(dataDir), ['secret.key']);
});

test('what a start that was cut off left behind does not stop the next one, though its process id is the same', async () => {
	const dataDir = fresh();
	await loadSecretKey(dataDir);
	const [name = ''] = await readdir(dataDir);
	await rm(join(dataDir, name));
	await writeFile(join(dataDir, `${name}.${process.pid}.tmp`), 'half a k');
	assert.equal((await loadSecretKey(dataDir)).length, 32);
});

test('a file that holds no key is never replaced: the start fails with a sentence that names it', async () => {
	for (const content of ['', 'c2hvcnQ=', Buffer.alloc(33).toString('base64'), 'hello world']) {
		const dataDir = fresh();
		await loadSecretKey(dataDir);
		const path = join(dataDir, 'secret.key');
		await writeFile(path, content);
		await assert.rejects(loadSecretKey(dataDir), (error: Error) => error.message.includes(path));
		assert.equal(await readFile(path, 'utf8'), content);
	}
});
