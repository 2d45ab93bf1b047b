import assert from 'node:assert/strict';
import test, { after } from 'node:test';
import { AppError } from '../../src/base/index.ts';
import { builtDocuments, indexTables, jobsOf } from '../knowledge/index-tables.ts';
import { PausablePool } from '../knowledge/pausable-pool.ts';
import { startTestApp, type TestApp } from '../support/app.ts';
import { until } from '../support/until.ts';
import { addKey, addWorkspace, eventsSoFar, firstWorkspace, openStoreDirectly } from './direct-store.ts';
import { createResource, SAMPLES, untilProcessed, untilSettled, untilTrained, upload } from './fixture.ts';

const BASES = '/api/v1/knowledge-bases';
const pool = new PausablePool();
const app = await startTestApp({ overrides: { pool } });
after(() => app[Symbol.asyncDispose]());

const newBase = (of = app) => createResource(of, BASES, { name: 'Shop' });
const reindex = (base: string, of = app, headers?: Record<string, string>) =>
	of.call('POST', `${BASES}/${base}/reindex`, undefined, headers);
const statusOf = async (base: string, of = app) => (await of.call('GET', `${BASES}/${base}/status`)).body;

/** Adds a text with a file name and returns the document's id. */
async function addFile(base: string, name: string, bytes: string, of = app): Promise<string> {
	const { status, body } = await upload(of, base, name, { bytes });
	assert.equal(status, 201, JSON.stringify(body));
	return body.id;
}

async function search(base: string, query: string, of = app) {
	const { status, body } = await of.call('POST', `${BASES}/${base}/search`, { query, top_k: 20 });
	assert.equal(status, 200, JSON.stringify(body));
	return body.data as Array<{ document_id: string; text: string }>;
}

const found = async (base: string, query: string, of = app) =>
	[...new Set((await search(base, query, of)).map(({ document_id }) => document_id))].sort();

async function indexedEvents(base: string, of: TestApp = app) {
	await using store = await openStoreDirectly(of);
	const events = await eventsSoFar(store, await firstWorkspace(store), 'knowledge_base.indexed');
	return events.map(({ data }) => data as Record<string, unknown>).filter(({ id }) => id === base);
}

async function recordOf(base: string, of: TestApp = app) {
	await using store = await openStoreDirectly(of);
	const record = await store.get('knowledge_bases', base);
	assert.ok(record);
	return record;
}

/** Pauses the parsing of files with this name. */
const holding =
	(name: string) =>
	({ file_name }: { file_name: string | null }) =>
		file_name === name;

test('a reindex returns the status, the old index serves until the swap, and one event reports it', async () => {
	const base = await newBase();
	for (const name of SAMPLES) await upload(app, base, name);
	const before = await untilTrained(app, base);
	const earlier = (await indexedEvents(base)).length;
	const former = await recordOf(base);
	const query = 'How long is the warranty on the heating element?';
	const hits = await search(base, query);
	assert.ok(hits.length > 0);

	const parsed = pool.parsed;
	pool.pause();
	const { status, body } = await reindex(base);
	assert.equal(status, 200);
	assert.ok(before.trained_at);
	const progress = { documents_done: 0, documents_total: SAMPLES.length };
	assert.deepEqual(body, { ...before, status: 'indexing', trained_at: null, reindex: progress });
	await until('documents are being parsed again', () => pool.waiting === 2);
	assert.equal((await app.call('GET', `${BASES}/${base}`)).body.status, 'indexing');
	assert.deepEqual(await statusOf(base), body);
	assert.deepEqual(await search(base, query), hits, 'search results stay the same meanwhile');
	assert.equal((await indexedEvents(base)).length, earlier);

	pool.resume();
	const ready = await untilSettled(app, base);
	const { last_indexed_at } = ready;
	assert.deepEqual({ ...ready, trained_at: null }, { ...before, last_indexed_at, trained_at: null });
	const { trained_at } = await untilTrained(app, base);
	assert.ok(last_indexed_at > before.last_indexed_at);
	assert.ok(trained_at > before.trained_at, 'the new index has its own basis');
	assert.equal(pool.parsed - parsed, SAMPLES.length, 'each document was parsed once');
	assert.equal((await search(base, query))[0]?.text, hits[0]?.text, 'the same documents give the same result');
	const reported = await indexedEvents(base);
	assert.equal(reported.length, earlier + 1);
	assert.deepEqual(reported.at(-1), {
		...(await app.call('GET', `${BASES}/${base}`)).body,
		...ready,
		trained_at: null,
	});

	const record = await recordOf(base);
	assert.notEqual(record.generation, former.generation);
	assert.equal(record.rebuilding, null);
	const tables = indexTables(app.dataDir);
	assert.ok(
		!tables.generations.includes(former.generation as string) &&
			tables.generations.includes(record.generation as string),
	);
	assert.deepEqual(tables.fullText, tables.generations);
	assert.deepEqual(tables.vectors, tables.bases);
	assert.equal(tables.orphans, 0);
	const { body: documents } = await app.call('GET', `${BASES}/${base}/documents`);
	for (const { indexed_at, chunk_count, id } of documents.data) {
		assert.ok(indexed_at > before.last_indexed_at, 'each document says that it was indexed again');
		const { body: chunks } = await app.call('GET', `${BASES}/${base}/documents/${id}/chunks?limit=100`);
		assert.equal(chunks.data.length, chunk_count);
	}
});

test('a second request during a reindex returns the status and starts nothing', async () => {
	const base = await newBase();
	await addFile(base, 'tea.txt', 'Green tea is brewed at eighty degrees.');
	await untilSettled(app, base);
	const parsed = pool.parsed;
	pool.pause();
	const responses = await Promise.all([1, 2, 3, 4].map(() => reindex(base)));
	assert.deepEqual(
		responses.map(({ status, body }) => [status, body.status]),
		responses.map(() => [200, 'indexing']),
	);
	await until('the reindex is in progress', () => pool.waiting === 1);
	const { rebuilding } = await recordOf(base);
	assert.deepEqual([(await reindex(base)).status, (await recordOf(base)).rebuilding], [200, rebuilding]);
	pool.resume();
	await untilSettled(app, base);
	assert.equal(pool.parsed - parsed, 1);
	assert.equal((await indexedEvents(base)).length, 2);

	const headers = { 'idempotency-key': `reindex-${base}` };
	const first = await reindex(base, app, headers);
	await untilSettled(app, base);
	const repeat = await reindex(base, app, headers);
	assert.deepEqual([repeat.status, repeat.body], [first.status, first.body]);
	assert.equal(repeat.headers.get('idempotent-replayed'), 'true');
	assert.equal((await statusOf(base)).status, 'ready', 'a repeat of the same request starts no second reindex');
});

test('an empty knowledge base is ready at once, also when it had documents before', async () => {
	const base = await newBase();
	const { status, body } = await reindex(base);
	assert.deepEqual(
		[status, body.status, body.documents_total, typeof body.last_indexed_at],
		[200, 'ready', 0, 'string'],
	);
	const id = await addFile(base, 'tea.txt', 'Green tea is brewed at eighty degrees.');
	await untilSettled(app, base);
	await app.call('DELETE', `${BASES}/${base}/documents/${id}`);
	assert.equal((await reindex(base)).body.status, 'ready');
	assert.equal((await recordOf(base)).generation, null);
	await addFile(base, 'ink.txt', 'The ink is blue.');
	await untilSettled(app, base);
	assert.equal((await search(base, 'What colour is the ink?')).length, 1);
});

test("a reindex needs the write scope, and another workspace's knowledge base is not found", async () => {
	const base = await newBase();
	await using store = await openStoreDirectly(app);
	const reader = await addKey(store, await firstWorkspace(store), ['knowledge_bases:read']);
	const { key } = await addWorkspace(store);
	const as = (one: string) => reindex(base, app, { authorization: `Bearer ${one}` });
	assert.deepEqual([(await as(reader)).status, (await as(key)).status], [403, 404]);
	assert.equal((await reindex('kb_unknown')).status, 404);
	const { status } = await app.call('POST', `${BASES}/${base}/reindex`, { force: true });
	assert.equal(status, 400);
});

test('retries a document that failed before', async (t) => {
	const base = await newBase();
	await addFile(base, 'tea.txt', 'Green tea is brewed at eighty degrees.');
	t.after(() => {
		pool.parseFailure = () => undefined;
	});
	pool.parseFailure = ({ file_name }) =>
		file_name === 'ink.txt' ? new AppError('unreadable_file', 'The ink has run dry.') : undefined;
	const ink = await addFile(base, 'ink.txt', 'The ink is blue.');
	assert.equal((await untilProcessed(app, base, ink)).error.message, 'The ink has run dry.');
	assert.equal((await untilSettled(app, base)).status, 'error');
	const reported = (await indexedEvents(base)).length;

	pool.parseFailure = () => undefined;
	assert.equal((await reindex(base)).body.status, 'indexing', 'indexing wins over error');
	assert.equal((await untilSettled(app, base)).status, 'ready');
	const { status, error } = await untilProcessed(app, base, ink);
	assert.deepEqual([status, error], ['indexed', null]);
	assert.deepEqual((await search(base, 'What colour is the ink?'))[0]?.document_id, ink);
	assert.equal((await indexedEvents(base)).length, reported + 1);
});

/** Waits until nothing is being indexed and compares the indexing status, apart from its times. */
async function assertSettled(base: string, expected: object): Promise<void> {
	assert.deepEqual(
		{ ...(await untilSettled(app, base)), last_indexed_at: '', trained_at: '' },
		{
			searchable: true,
			last_indexed_at: '',
			trained_at: '',
			embedder: 'builtin',
			reindex_required: false,
			reindex: null,
			problem: null,
			...expected,
		},
	);
}

test('a document that can no longer be read ends in error with the reason and is not found', async (t) => {
	const base = await newBase();
	const tea = await addFile(base, 'tea.txt', 'Green tea is brewed at eighty degrees.');
	const ink = await addFile(base, 'ink.txt', 'The ink of the tea shop is blue.');
	await untilSettled(app, base);
	const reported = (await indexedEvents(base)).length;
	t.after(() => {
		pool.parseFailure = () => undefined;
	});
	pool.parseFailure = ({ file_name }) =>
		file_name === 'ink.txt' ? new AppError('unreadable_file', 'The ink has run dry.') : undefined;
	await reindex(base);
	await assertSettled(base, { status: 'error', documents_total: 2, documents_indexed: 1, documents_failed: 1 });
	const { status, error, chunk_count } = await untilProcessed(app, base, ink);
	assert.deepEqual(
		[status, error, chunk_count],
		['error', { code: 'unreadable_file', message: 'The ink has run dry.' }, 0],
	);
	assert.deepEqual(await found(base, 'ink of the tea shop'), [tea]);
	assert.equal((await indexedEvents(base)).length, reported, 'no event reports readiness');

	pool.parseFailure = () => undefined;
	await reindex(base);
	assert.equal((await untilSettled(app, base)).status, 'ready');
	assert.deepEqual(await found(base, 'ink of the tea shop'), [tea, ink].sort());
});

test('documents that are added, reprocessed or removed during a reindex are neither lost nor restored', async () => {
	const base = await newBase();
	const slow = await addFile(base, 'slow.txt', 'The kettle of the slow reader is green.');
	const doomed = await addFile(base, 'doomed.txt', 'The doomed kettle is black.');
	const again = await addFile(base, 'again.txt', 'The other kettle is red.');
	await untilSettled(app, base);
	const reported = (await indexedEvents(base)).length;
	pool.pause(holding('slow.txt'));
	await reindex(base);
	await until('the slow one is waited for', () => pool.waiting === 1);

	const added = await addFile(base, 'added.txt', 'The added kettle is yellow.');
	await addFile(base, 'short.txt', 'The short-lived kettle is grey.').then(async (id) => {
		await untilProcessed(app, base, id);
		await app.call('DELETE', `${BASES}/${base}/documents/${id}`);
	});
	assert.equal((await untilProcessed(app, base, added)).status, 'indexed', 'it does not wait for the reindex');
	await app.call('DELETE', `${BASES}/${base}/documents/${doomed}`);
	await app.call('POST', `${BASES}/${base}/documents/${again}/retry`);
	assert.equal((await untilProcessed(app, base, again)).status, 'indexed');
	assert.deepEqual(await found(base, 'kettle'), [slow, again, added].sort(), 'of the old index');
	assert.equal((await statusOf(base)).status, 'indexing');

	pool.resume();
	await assertSettled(base, { status: 'ready', documents_total: 3, documents_indexed: 3, documents_failed: 0 });
	assert.deepEqual(await found(base, 'kettle'), [slow, again, added].sort(), 'of the new one');
	assert.equal((await search(base, 'kettle')).length, 3);
	assert.equal((await indexedEvents(base)).length, reported + 1);
});

test('a document that is being reprocessed at the swap of the index stays searchable', async () => {
	const base = await newBase();
	const tea = await addFile(base, 'tea.txt', 'Green tea is brewed in the kettle.');
	const ink = await addFile(base, 'ink.txt', 'The kettle holds no ink.');
	await untilSettled(app, base);
	const reported = (await indexedEvents(base)).length;
	pool.pause(holding('ink.txt'));
	await app.call('POST', `${BASES}/${base}/documents/${ink}/retry`);
	await until('it is being processed', () => pool.waiting === 1);
	const former = (await recordOf(base)).generation;
	await reindex(base);
	await until('the new index serves', async () => (await recordOf(base)).generation !== former);
	assert.deepEqual(await found(base, 'kettle'), [tea, ink].sort());
	assert.equal((await statusOf(base)).status, 'indexing', 'a document is');
	assert.equal((await indexedEvents(base)).length, reported);
	pool.resume();
	assert.equal((await untilSettled(app, base)).status, 'ready');
	assert.deepEqual(await found(base, 'kettle'), [tea, ink].sort());
	assert.equal((await search(base, 'kettle')).length, 2);
	assert.equal((await indexedEvents(base)).length, reported + 1);
});

test('a search during the swap of the index finds the documents', async (t) => {
	const base = await newBase();
	const tea = await addFile(base, 'tea.txt', 'Green tea is brewed at eighty degrees.');
	await untilSettled(app, base);
	t.after(() => {
		pool.beforeSearch = async () => {};
	});
	let overtaken = 0;
	pool.beforeSearch = async () => {
		if (overtaken++ > 0) return;
		await reindex(base);
		await untilSettled(app, base);
	};
	assert.deepEqual(await found(base, 'How hot is green tea brewed?'), [tea]);
	assert.equal(overtaken, 2, 'the index that was searched was dropped');
});

test('a knowledge base that is deleted during a reindex leaves nothing of either index', async () => {
	await until('the trainings of other knowledge bases have ended', () => jobsOf(app.dataDir, 'train') === 0);
	const before = indexTables(app.dataDir);
	const base = await newBase();
	for (const name of ['a.txt', 'b.txt', 'c.txt']) await addFile(base, name, `The kettle ${name} is green.`);
	await untilTrained(app, base);
	pool.pause(holding('c.txt'));
	await reindex(base);
	await until('the rest of it is built', () => pool.waiting === 1 && builtDocuments(app.dataDir) === 2);
	assert.equal((await app.call('DELETE', `${BASES}/${base}`)).status, 200);
	assert.deepEqual(indexTables(app.dataDir), before);
	pool.resume();
	await until('the worker has finished', () => pool.waiting === 0);
	const next = await newBase();
	await addFile(next, 'c.txt', 'The next kettle is blue.');
	await untilSettled(app, next);
	await reindex(next);
	await untilSettled(app, next);
	assert.equal((await search(next, 'kettle')).length, 1);
	await app.call('DELETE', `${BASES}/${next}`);
	assert.deepEqual(indexTables(app.dataDir), before);
});

test('a server that is stopped during a reindex resumes it and builds nothing twice', async () => {
	const shared = new PausablePool();
	await using first = await startTestApp({ overrides: { pool: shared } });
	const base = await newBase(first);
	const ids: string[] = [];
	for (const name of ['a.txt', 'b.txt', 'slow.txt']) {
		ids.push(await addFile(base, name, `The kettle ${name} is green.`, first));
	}
	await untilSettled(first, base);
	const reported = (await indexedEvents(base, first)).length;
	shared.pause(holding('slow.txt'));
	const parsed = shared.parsed;
	await reindex(base, first);
	await until('all others are built', () => shared.waiting === 1 && builtDocuments(first.dataDir) === 2);
	await using second = await first.restart();
	assert.equal((await statusOf(base, second)).status, 'indexing');
	assert.deepEqual(await found(base, 'kettle', second), ids.sort());
	shared.resume();
	assert.equal((await untilSettled(second, base)).status, 'ready');
	assert.equal(shared.parsed - parsed, 3);
	assert.deepEqual(await found(base, 'kettle', second), ids.sort());
	assert.equal((await indexedEvents(base, second)).length, reported + 1);
	const { generations, fullText, vectors, orphans, chunks, embedded } = indexTables(second.dataDir);
	assert.deepEqual([generations.length, fullText.length, vectors.length, orphans], [1, 1, 1, 0]);
	assert.deepEqual([chunks, embedded], [3, 3]);
});

test('the status says how many documents the new index has, until it serves', async () => {
	const base = await newBase();
	await addFile(base, 'first.txt', 'The kettle is made of steel.');
	await addFile(base, 'held.txt', 'The warranty lasts three years.');
	assert.equal((await untilSettled(app, base)).reindex, null);
	pool.pause(holding('held.txt'));
	await reindex(base);
	const { reindex: progress } = await until('one document is in the new index', async () => {
		const status = await statusOf(base);
		return status.reindex?.documents_done === 1 && status;
	});
	assert.deepEqual(progress, { documents_done: 1, documents_total: 2 });
	pool.resume();
	assert.equal((await untilSettled(app, base)).reindex, null);
});
