import assert from 'node:assert/strict';
import { copyFile, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import test from 'node:test';
import { pino } from 'pino';
import { loadSecretKeyOfDatabase } from '../../src/access/index.ts';
import { SecretBox } from '../../src/base/index.ts';
import { workerEntry } from '../../src/pool/index.ts';
import { openSqliteStore, type Write } from '../../src/store/index.ts';
import { deployment, tool, webhook } from '../store/samples.ts';

/** Stores a value that is sealed with the key. */
async function seal(dataDir: string, write: Write): Promise<void> {
	await using store = await openSqliteStore({ dataDir, writer: workerEntry('store') });
	await store.commit({ write: [write] });
}

test('a database without its key does not start with a key that opens none of its secrets', async (t) => {
	const [home, away] = [await mkdtemp(join(tmpdir(), 'parley-home-')), await mkdtemp(join(tmpdir(), 'parley-away-'))];
	t.after(() => Promise.all([home, away].map((folder) => rm(folder, { recursive: true, force: true }))));
	const keyIn = async (dataDir: string, given?: string) => {
		await using store = await openSqliteStore({ dataDir, writer: workerEntry('store') });
		return await loadSecretKeyOfDatabase(store, dataDir, given, Date.now());
	};
	const key = await keyIn(home);
	await seal(home, { op: 'insert', kind: 'webhooks', record: webhook() });
	assert.deepEqual(await keyIn(home), key);

	await copyFile(join(home, 'parley.db'), join(away, 'parley.db'));
	await assert.rejects(keyIn(away), /encrypted with a key that is not here/);
	assert.equal((await readdir(away)).includes('secret.key'), false, 'no other key is made');
	await assert.rejects(keyIn(away, Buffer.alloc(32, 7).toString('base64')), /is not the key/);
	await writeFile(join(away, 'secret.key'), await readFile(join(home, 'secret.key')));
	assert.deepEqual(await keyIn(away), key);

	// A fingerprint of another database in the folder does not prevent the start.
	await writeFile(join(away, 'secret.check'), 'of another database\n');
	assert.deepEqual(await keyIn(away), key);
	assert.deepEqual(await keyIn(away, key.toString('base64')), key);
});

test('replaces a lost key where nothing was sealed with it, and the log says so', async (t) => {
	const dataDir = await mkdtemp(join(tmpdir(), 'parley-lost-'));
	t.after(() => rm(dataDir, { recursive: true, force: true }));
	const lines: string[] = [];
	const log = pino<never>({}, { write: (line: string) => void lines.push(line) });
	const key = async (given?: string) => {
		await using store = await openSqliteStore({ dataDir, writer: workerEntry('store') });
		return await loadSecretKeyOfDatabase(store, dataDir, given, Date.now(), log);
	};
	const first = await key();
	await rm(join(dataDir, 'secret.key'));
	const second = await key();
	assert.notDeepEqual(second, first);
	assert.equal(lines.length, 1);
	assert.match(lines[0] as string, /another secret key is used from now on/);
	assert.deepEqual(await key(), second);
	assert.equal(lines.length, 1, 'the next start finds it');
	// An erased signing secret is not a sealed value that could be lost.
	await seal(dataDir, { op: 'insert', kind: 'webhooks', record: { ...webhook(), secret: '', former_secrets: [] } });

	const given = Buffer.alloc(32, 7);
	await rm(join(dataDir, 'secret.key'));
	assert.deepEqual(await key(given.toString('base64')), given, 'one that is given may take its place, too');
	assert.deepEqual(await key(given.toString('base64')), given);
});

test('replaces a damaged key file where nothing was sealed, and keeps the file beside the new one', async (t) => {
	const dataDir = await mkdtemp(join(tmpdir(), 'parley-damaged-'));
	t.after(() => rm(dataDir, { recursive: true, force: true }));
	const path = join(dataDir, 'secret.key');
	const lines: string[] = [];
	const log = pino<never>({}, { write: (line: string) => void lines.push(line) });
	const key = async () => {
		await using store = await openSqliteStore({ dataDir, writer: workerEntry('store') });
		return await loadSecretKeyOfDatabase(store, dataDir, undefined, Date.now(), log);
	};
	await writeFile(path, 'not a key');
	await assert.rejects(key(), { code: 'unavailable', message: /does not hold a secret key/ }, 'a person put it there');
	assert.equal(await readFile(path, 'utf8'), 'not a key');
	await rm(path);
	const first = await key();
	// As after a power cut, or a full disk during a restore.
	await writeFile(path, '');
	const second = await key();
	assert.notDeepEqual(second, first);
	assert.match(lines.join(''), /another secret key is used from now on/);
	assert.equal(await readFile(`${path}.unreadable`, 'utf8'), '');
	assert.deepEqual(await key(), second);
	await seal(dataDir, { op: 'insert', kind: 'webhooks', record: webhook() });
	await writeFile(path, '');
	await assert.rejects(key(), { code: 'unavailable', message: /does not hold a secret key.*secrets reset/ });
});

test('never replaces a key with which anything was sealed', async (t) => {
	const box = new SecretBox(Buffer.alloc(32, 1));
	const sealed = box.seal('hush', 'a test');
	const things: Write[] = [
		{ op: 'insert', kind: 'webhooks', record: webhook() },
		{ op: 'insert', kind: 'tools', record: tool({ config: { headers: {}, auth: { type: 'bearer', token: sealed } } }) },
		{
			op: 'insert',
			kind: 'deployments',
			record: deployment({
				jwt: { algorithm: 'HS256', secret: sealed, public_key: null, jwks_url: null, audience: null, issuer: null },
			}),
		},
	];
	for (const thing of things) {
		const dataDir = await mkdtemp(join(tmpdir(), 'parley-sealed-'));
		t.after(() => rm(dataDir, { recursive: true, force: true }));
		const key = async () => {
			await using store = await openSqliteStore({ dataDir, writer: workerEntry('store') });
			return await loadSecretKeyOfDatabase(store, dataDir, undefined, Date.now());
		};
		await key();
		await seal(dataDir, thing);
		await rm(join(dataDir, 'secret.key'));
		await assert.rejects(key(), { code: 'unavailable', message: /encrypted with a key that is not here/ });
		assert.equal((await readdir(dataDir)).includes('secret.key'), false);
	}
});
