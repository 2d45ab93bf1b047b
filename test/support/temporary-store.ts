import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after } from 'node:test';
import { workerEntry } from '../../src/pool/index.ts';
import { openSqliteStore, type Store } from '../../src/store/index.ts';

/** Opens a store in a new temporary folder. It is closed, and the folder removed, after the tests of the file. */
export async function openTemporaryStore(): Promise<Store> {
	const folder = await mkdtemp(join(tmpdir(), 'parley-store-'));
	const store = await openSqliteStore({ dataDir: folder, writer: workerEntry('store') });
	after(async () => {
		await store[Symbol.asyncDispose]();
		await rm(folder, { recursive: true, force: true });
	});
	return store;
}
