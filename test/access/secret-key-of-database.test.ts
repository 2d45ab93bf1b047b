import assert from 'node:assert/strict';
import { copyFile, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import test from 'node:test';
import { secretKeyOf } from '../../src/access/index.ts';
import { workerEntry } from '../../src/pool/index.ts';
import { openSqliteStore } from '../../src/store/index.ts';

test('a database that is brought to another folder alone is not served with a key that opens none of its secrets', async (t) => {
	const [home, away] = [await mkdtemp(join(tmpdir(), 'parley-home-')), await mkdtemp(join(tmpdir(), 'parley-away-'))];
	t.after(() => Promise.all([home, away].map((folder) => rm(folder, { recursive: true, force: true }))));
	const keyIn = async (dataDir: string, given?: string) => {
		await using store = await openSqliteStore({ dataDir, writer: workerEntry('store') });
		return await secretKeyOf(store, dataDir, given, Date.now());
	};
	const key = await keyIn(home);
	assert.deepEqual(await keyIn(home), key);

	await copyFile(join(home, 'parley.db'), join(away, 'parley.db'));
	await assert.rejects(keyIn(away), /sealed with a key that is not here/);
	assert.equal((await readdir(away)).includes('secret.key'), false, 'no other key is made');
	await assert.rejects(keyIn(away, Buffer.alloc(32, 7).toString('base64')), /is not the key/);
	await writeFile(join(away, 'secret.key'), await readFile(join(home, 'secret.key')));
	assert.deepEqual(await keyIn(away), key);

	// Nor is what a folder remembers of another database in the way.
	await writeFile(join(away, 'secret.check'), 'of another database\n');
	assert.deepEqual(await keyIn(away), key);
	assert.deepEqual(await keyIn(away, key.toString('base64')), key);
});
