import assert from 'node:assert/strict';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import test, { type TestContext } from 'node:test';
import { pino } from 'pino';
import { loadSecretKeyOfDatabase, replacementKey } from '../../src/access/index.ts';
import { workerEntry } from '../../src/pool/index.ts';
import { openSqliteStore } from '../../src/store/index.ts';
import { webhook } from '../store/samples.ts';

const GIVEN = Buffer.alloc(32, 7).toString('base64');

async function folderOf(t: TestContext): Promise<string> {
	const folder = await mkdtemp(join(tmpdir(), 'parley-key-change-'));
	t.after(() => rm(folder, { recursive: true, force: true }));
	return folder;
}

test('a configured key that differs from the file replaces it where nothing is sealed, and the log says so', async (t) => {
	const dataDir = await folderOf(t);
	const lines: string[] = [];
	const log = pino<never>({}, { write: (line: string) => void lines.push(line) });
	await using store = await openSqliteStore({ dataDir, writer: workerEntry('store') });
	const own = await loadSecretKeyOfDatabase(store, dataDir, undefined, Date.now(), log);
	assert.equal((await loadSecretKeyOfDatabase(store, dataDir, GIVEN, Date.now(), log)).toString('base64'), GIVEN);
	assert.equal(lines.length, 1);
	assert.match(lines[0] as string, /PARLEY_SECRET_KEY is used from now on/);
	await loadSecretKeyOfDatabase(store, dataDir, GIVEN, Date.now(), log);
	assert.equal(lines.length, 1, 'the next start knows the key');
	assert.equal(
		(await readFile(join(dataDir, 'secret.key'), 'utf8')).trim(),
		own.toString('base64'),
		'no key is deleted',
	);

	await store.commit({ write: [{ op: 'insert', kind: 'webhooks', record: webhook() }] });
	const refusal = { code: 'unavailable', message: /set it|is not the key.*"parley secrets reset"/ };
	await assert.rejects(loadSecretKeyOfDatabase(store, dataDir, undefined, Date.now(), log), refusal);
	const other = Buffer.alloc(32, 8).toString('base64');
	await assert.rejects(loadSecretKeyOfDatabase(store, dataDir, other, Date.now(), log), refusal);
});

test('a repeat after a crash uses the key that was created before the crash', async (t) => {
	const dataDir = await folderOf(t);
	await writeFile(join(dataDir, 'secret.key'), 'not a key\n');
	const key = await replacementKey(dataDir, undefined);
	assert.deepEqual(await replacementKey(dataDir, undefined), key);
	assert.equal(await readFile(join(dataDir, 'secret.key.unreadable'), 'utf8'), 'not a key\n');
});
