import assert from 'node:assert/strict';
import { Readable } from 'node:stream';
import { type TestContext, test } from 'node:test';
import { createLog } from '../../src/base/index.ts';
import { UnusedBlobs } from '../../src/knowledge/unused-blobs.ts';
import { workerEntry } from '../../src/pool/index.ts';
import { lockForBackup, openSqliteStore, type Store } from '../../src/store/index.ts';
import { temporaryPlace } from '../store/contract/life.ts';
import { document } from '../store/samples.ts';
import { until } from '../support/until.ts';

async function openStore(t: TestContext) {
	const dataDir = await temporaryPlace(t);
	const store = await openSqliteStore({ dataDir, writer: workerEntry('store') });
	t.after(() => store[Symbol.asyncDispose]());
	const unused = new UnusedBlobs({ store, log: createLog('silent'), checkMs: 1 });
	t.after(async () => unused[Symbol.dispose]());
	return { dataDir, store, unused };
}

async function persist(store: Store, text: string): Promise<string> {
	const blob = await store.blobs.receive(Readable.from([Buffer.from(text)]));
	await blob.persist();
	return blob.hash;
}

/** Counts the questions whether a backup runs. */
function countCalls(t: TestContext, store: Store): () => number {
	const { mock } = t.mock.method(store, 'isBackupRunning');
	return () => mock.callCount();
}

const exists = async (store: Store, hash: string) => (await store.blobs.read(hash)) !== undefined;

test('a file without a document is removed at once when no backup runs', async (t) => {
	const { store, unused } = await openStore(t);
	const hash = await persist(store, 'one');
	await unused.remove(hash);
	assert.equal(await exists(store, hash), false);
});

test('files stay while a backup runs, and are removed after it unless a document refers to them by then', async (t) => {
	const { dataDir, store, unused } = await openStore(t);
	const hashes = [await persist(store, 'one'), await persist(store, 'two')];
	const used = await persist(store, 'three');
	const lock = lockForBackup(dataDir);
	const checks = countCalls(t, store);
	await unused.removeAll([...hashes, used]);
	await until('its end was asked for again', () => checks() > 2 * 3);
	for (const hash of [...hashes, used]) assert.ok(await exists(store, hash), 'it is in the backup');
	await store.commit({ write: [{ op: 'insert', kind: 'documents', record: document({ blob: used }) }] });
	lock[Symbol.dispose]();
	for (const hash of hashes) await until('it is removed', async () => !(await exists(store, hash)));
	assert.ok(await exists(store, used));
});

test('files whose removal waited at the end of a server are orphans at the next start', async (t) => {
	const { dataDir, store, unused } = await openStore(t);
	const hash = await persist(store, 'one');
	const lock = lockForBackup(dataDir);
	await unused.remove(hash);
	unused[Symbol.dispose]();
	lock[Symbol.dispose]();
	const next = new UnusedBlobs({ store, log: createLog('silent') });
	await next.removeOrphans(new AbortController().signal);
	assert.equal(await exists(store, hash), false);
});

test('a file stays while commits fail, because a failed commit that names it may be on the disk after a crash', async (t) => {
	const { store, unused } = await openStore(t);
	const hash = await persist(store, 'one');
	let isWritable = false;
	const { mock } = t.mock.method(store, 'isWritable', () => isWritable);
	await unused.remove(hash);
	await until('it was asked again', () => mock.callCount() > 3);
	assert.ok(await exists(store, hash));
	isWritable = true;
	await until('it is removed', async () => !(await exists(store, hash)));
});
