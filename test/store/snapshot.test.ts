import assert from 'node:assert/strict';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { workerEntry } from '../../src/pool/index.ts';
import { copyDatabase, DatabaseSnapshot, openSqliteStore, type Store } from '../../src/store/index.ts';
import { openWritable } from '../../src/store/sqlite/connection.ts';
import { temporaryPlace } from './contract/life.ts';
import { assistant, document } from './samples.ts';

const never = new AbortController().signal;

async function openStore(t: TestContext): Promise<{ store: Store; dataDir: string; target: string }> {
	const dataDir = await temporaryPlace(t);
	const store = await openSqliteStore({ dataDir, writer: workerEntry('store') });
	t.after(() => store[Symbol.asyncDispose]());
	return { store, dataDir, target: join(await temporaryPlace(t), 'copy.db') };
}

/** The names of the assistants in a database file, in the order of their commits. */
function namesIn(file: string): string[] {
	const db = openWritable(file);
	try {
		return db.prepare('SELECT name FROM assistants ORDER BY rowid').pluck().all() as string[];
	} finally {
		db.close();
	}
}

test('a copy is the state after one commit, although commits go on while it is made', async (t) => {
	const { store, dataDir, target } = await openStore(t);
	let committed = 0;
	const commitPair = async () => {
		// Large enough that a copy takes several steps.
		const names = [`${committed} a`, `${committed} b`];
		const write = names.map((name) => {
			const record = assistant({ name, master_prompt: name.repeat(20_000) });
			return { op: 'insert', kind: 'assistants', record } as const;
		});
		await store.commit({ write });
		committed++;
	};
	for (let at = 0; at < 60; at++) await commitPair();
	const before = committed;
	let isCopying = true;
	const commits = (async () => {
		while (isCopying) await commitPair();
	})();
	await copyDatabase(dataDir, target, never);
	isCopying = false;
	await commits;
	assert.ok(committed > before, 'commits went on');
	using snapshot = new DatabaseSnapshot(target);
	assert.deepEqual(snapshot.problems(), []);
	const names = namesIn(target);
	assert.ok(names.length >= 2 * before);
	assert.deepEqual(
		names,
		Array.from({ length: names.length }, (_, at) => `${Math.floor(at / 2)} ${at % 2 === 0 ? 'a' : 'b'}`),
		'whole commits, and none is left out',
	);
});

test('a copy names each blob once, in ascending order, with the bytes of all', async (t) => {
	const { store, dataDir, target } = await openStore(t);
	const [one, two] = ['b'.repeat(64), 'a'.repeat(64)];
	const records = [
		document({ blob: one, size_bytes: 7 }),
		document({ blob: one, size_bytes: 7 }),
		document({ blob: two, size_bytes: 5 }),
		document({ source_type: 'url' }),
	];
	await store.commit({ write: records.map((record) => ({ op: 'insert', kind: 'documents', record }) as const) });
	await copyDatabase(dataDir, target, never);
	using snapshot = new DatabaseSnapshot(target);
	const blobs = [...snapshot.blobs()].map(({ hash, bytes }) => [hash, bytes]);
	assert.deepEqual(blobs, [
		[two, 5],
		[one, 7],
	]);
	assert.deepEqual(snapshot.blobTotals(), { count: 2, bytes: 12 });
	assert.deepEqual([snapshot.counts().documents, snapshot.counts().workspaces], [4, 0]);
});

test('a copy of a newer schema is refused, and a copy ends with its signal', async (t) => {
	const { dataDir, target } = await openStore(t);
	await assert.rejects(copyDatabase(dataDir, target, AbortSignal.abort(new Error('enough'))), /enough/);
	const db = openWritable(join(dataDir, 'parley.db'));
	db.pragma('user_version = 999');
	db.close();
	await assert.rejects(copyDatabase(dataDir, target, never), {
		code: 'unavailable',
		message: /has schema version 999, this Parley knows \d+\. Use the newer Parley that wrote it\.$/,
	});
});
