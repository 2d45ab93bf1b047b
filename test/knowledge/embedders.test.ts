import assert from 'node:assert/strict';
import { test } from 'node:test';
import { deferred } from '../../src/base/index.ts';
import type { Settings } from '../../src/config/index.ts';
import { presentStatus } from '../../src/knowledge/index.ts';
import { createResource, untilSettled, upload } from '../api/fixture.ts';
import { startTestApp, type TestApp } from '../support/app.ts';
import { ModelServer } from '../support/model-server.ts';
import { until } from '../support/until.ts';
import { indexTables } from './index-tables.ts';
import { manyChunks, openKnowledgeHarness } from './knowledge-harness.ts';

const BASES = '/api/v1/knowledge-bases';
const TEA = 'Green tea is brewed in the kettle at eighty degrees.';
const INK = 'The blue ink dries on paper within a minute.';
const BIKE = 'A bicycle needs air in both tyres.';
/** Disables waits and retries within a request. */
const GONE = { status: 503, headers: { 'retry-after': '3600' } };

/** Settings of a server. A restart uses their values at that time. */
function settingsOf(models: ModelServer, embedder = 'stand-in/first'): Partial<Settings> {
	return { providers: [models.provider()], embedder };
}

async function add(app: TestApp, base: string, content: string, title = 'Care'): Promise<string> {
	return createResource(app, `${BASES}/${base}/documents`, { source_type: 'text', title, content });
}

/** A knowledge base of these texts, indexed. */
async function baseOf(app: TestApp, ...texts: string[]): Promise<string> {
	const base = await createResource(app, BASES, { name: 'Shop' });
	for (const text of texts) await add(app, base, text);
	if (texts.length > 0) assert.equal((await untilSettled(app, base)).status, 'ready');
	return base;
}

interface Hit {
	text: string;
	score: number;
	semantic_score: number;
	keyword_score: number;
}

async function search(app: TestApp, base: string, query: string, more: object = {}): Promise<Hit[]> {
	const { status, body } = await app.call('POST', `${BASES}/${base}/search`, { query, top_k: 20, ...more });
	assert.equal(status, 200, JSON.stringify(body));
	return body.data;
}

const statusOf = async (app: TestApp, base: string) => (await app.call('GET', `${BASES}/${base}/status`)).body;
const reindex = (app: TestApp, base: string) => app.call('POST', `${BASES}/${base}/reindex`);

/** The models of the calls for vectors since a given call. */
const modelsAsked = (models: ModelServer, since: number) =>
	new Set(models.embeddings.calls.slice(since).map(({ body }) => body.model));

test('documents get vectors of the configured embedder, and a question finds a passage with the same meaning in other words', async () => {
	await using models = await ModelServer.start();
	models.embeddings.synonyms = new Map([
		['wasserkocher', 'kettle'],
		['grüntee', 'tea'],
	]);
	await using app = await startTestApp({ settings: settingsOf(models) });
	const base = await baseOf(app, TEA, INK, BIKE);
	assert.ok(models.embeddings.texts.includes(`Care\n\n${TEA}`), 'a passage is told with its title');
	const { embedder, reindex_required, trained_at } = await statusOf(app, base);
	assert.deepEqual([embedder, reindex_required, trained_at], ['stand-in/first', false, null]);

	const asked = models.embeddings.calls.length;
	const [first, ...others] = await search(app, base, 'Grüntee Wasserkocher');
	assert.ok(first);
	assert.equal(first.text, TEA);
	assert.equal(first.keyword_score, 0, 'no word is in it');
	assert.ok(first.semantic_score > 0.3, `${first.semantic_score}`);
	assert.ok(first.score > 0.2, `${first.score}`);
	for (const { semantic_score } of others) assert.ok(semantic_score < first.semantic_score / 2);
	await search(app, base, 'Grüntee Wasserkocher', { hybrid: false });
	assert.equal(models.embeddings.calls.length, asked + 1, 'the same question is embedded once');

	const [words] = await search(app, base, 'In which kettle is green tea brewed?');
	assert.equal(words?.text, TEA);
	assert.ok(words.keyword_score > 0.5 && words.semantic_score > 0.3);
	const nothing = await search(app, base, 'Quarterly dividends of shareholders');
	for (const { score } of nothing) assert.ok(score < 0.2, 'nothing is about that');
});

test('similarity ignores what all vectors of an embedder have in common', async () => {
	await using models = await ModelServer.start();
	models.embeddings.sharedComponent = 1;
	await using app = await startTestApp({ settings: settingsOf(models) });
	const base = await baseOf(app, TEA, INK, BIKE);
	const [found] = await search(app, base, 'green tea kettle');
	assert.equal(found?.text, TEA);
	assert.ok(found.score > 0.4, `${found.score}`);
	for (const { score, semantic_score } of await search(app, base, 'Quarterly dividends of shareholders')) {
		assert.ok(score < 0.2 && semantic_score < 0.4, `${score} ${semantic_score}`);
	}
});

test('stores and finds vectors of 4,096 values', async () => {
	await using models = await ModelServer.start();
	models.embeddings.dimensions = () => 4_096;
	await using app = await startTestApp({ settings: settingsOf(models) });
	const base = await baseOf(app, TEA, INK);
	const [first] = await search(app, base, 'ink dries', { hybrid: false });
	assert.equal(first?.text, INK);
	assert.ok(first.semantic_score > 0.2, `${first.semantic_score}`);
	const tables = indexTables(app.dataDir);
	assert.deepEqual([tables.chunks, tables.embedded], [2, 2]);
});

test('another configured embedder requires a reindex; until then the index uses its own embedder for documents and questions', async () => {
	await using models = await ModelServer.start();
	models.embeddings.dimensions = (model) => (model === 'second' ? 96 : 64);
	const settings = settingsOf(models);
	await using first = await startTestApp({ settings });
	const base = await baseOf(first, TEA, INK);
	const untouched = await createResource(first, BASES, { name: 'Empty' });
	settings.embedder = 'stand-in/second';
	await using app = await first.restart();
	let since = models.embeddings.calls.length;
	assert.deepEqual(
		[(await statusOf(app, base)).embedder, (await statusOf(app, base)).reindex_required],
		['stand-in/first', true],
	);
	const { embedder: none, reindex_required: notAsked } = await statusOf(app, untouched);
	assert.deepEqual([none, notAsked], [null, false]);
	assert.equal((await search(app, base, 'tea kettle', { hybrid: false }))[0]?.text, TEA);
	await add(app, base, BIKE);
	await untilSettled(app, base);
	assert.equal((await search(app, base, 'bicycle tyres', { hybrid: false }))[0]?.text, BIKE);
	assert.deepEqual(modelsAsked(models, since), new Set(['first']));

	since = models.embeddings.calls.length;
	const { status, body } = await reindex(app, base);
	assert.deepEqual([status, body.status, body.reindex_required], [200, 'indexing', false]);
	const done = await untilSettled(app, base);
	assert.deepEqual([done.status, done.embedder, done.reindex_required], ['ready', 'stand-in/second', false]);
	assert.equal((await search(app, base, 'bicycle tyres', { hybrid: false }))[0]?.text, BIKE);
	assert.deepEqual(modelsAsked(models, since), new Set(['second']));
	const { generations, bases, chunks, embedded, orphans } = indexTables(app.dataDir);
	assert.deepEqual([generations.length, bases.length, chunks, embedded, orphans], [1, 1, 3, 3, 0]);

	settings.embedder = 'stand-in/second';
	await using again = await app.restart();
	assert.equal((await statusOf(again, base)).reindex_required, false, 'the same embedder asks for nothing');
});

test('a reindex replaces the built-in embedder by a provider’s and the reverse', async () => {
	await using models = await ModelServer.start();
	const settings = settingsOf(models, 'builtin');
	await using first = await startTestApp({ settings });
	const base = await baseOf(first, TEA, INK);
	assert.equal((await statusOf(first, base)).embedder, 'builtin');
	settings.embedder = 'stand-in/first';
	await using second = await first.restart();
	await add(second, base, BIKE);
	assert.deepEqual((await untilSettled(second, base)).reindex_required, true);
	assert.equal((await search(second, base, 'bicycle tyres'))[0]?.text, BIKE);
	assert.equal(models.embeddings.calls.length, 0, 'the built-in vectors go on, and nobody is asked');

	await reindex(second, base);
	assert.equal((await untilSettled(second, base)).embedder, 'stand-in/first');
	assert.equal((await search(second, base, 'bicycle tyres', { hybrid: false }))[0]?.text, BIKE);
	assert.ok(models.embeddings.texts.includes('bicycle tyres'));

	settings.embedder = 'builtin';
	settings.providers = [];
	await using third = await second.restart();
	assert.equal((await statusOf(third, base)).reindex_required, true);
	await reindex(third, base);
	const done = await untilSettled(third, base);
	assert.deepEqual([done.embedder, done.reindex_required], ['builtin', false]);
	const [found] = await search(third, base, 'bicycle tyres', { hybrid: false });
	assert.ok(found?.text === BIKE && found.semantic_score > 0.3);
});

test('without the provider of its embedder a knowledge base is searched by words, takes documents, and says what it needs', async () => {
	await using models = await ModelServer.start();
	const settings = settingsOf(models);
	await using first = await startTestApp({ settings });
	const base = await baseOf(first, TEA, INK);
	Object.assign(settings, { providers: [], embedder: 'builtin' });
	await using second = await first.restart();
	const since = models.embeddings.calls.length;
	assert.equal((await statusOf(second, base)).reindex_required, true);
	for (const hybrid of [true, false]) {
		const [found] = await search(second, base, 'kettle', { hybrid });
		assert.ok(found?.text === TEA && found.semantic_score === 0 && found.score > 0);
	}
	await add(second, base, BIKE);
	assert.equal((await untilSettled(second, base)).status, 'ready');
	assert.equal((await search(second, base, 'bicycle'))[0]?.text, BIKE);
	assert.equal(models.embeddings.calls.length, since);
	assert.deepEqual([indexTables(second.dataDir).chunks, indexTables(second.dataDir).embedded], [3, 2]);

	Object.assign(settings, settingsOf(models));
	await using third = await second.restart();
	const { embedder, reindex_required } = await statusOf(third, base);
	assert.deepEqual([embedder, reindex_required], ['stand-in/first', true], 'a document has no vector');
	await reindex(third, base);
	assert.equal((await untilSettled(third, base)).reindex_required, false);
	assert.equal((await search(third, base, 'bicycle', { hybrid: false }))[0]?.text, BIKE);
	assert.deepEqual([indexTables(third.dataDir).chunks, indexTables(third.dataDir).embedded], [3, 3]);
});

test('an emptied knowledge base starts again with the configured embedder', async () => {
	await using models = await ModelServer.start();
	const settings = settingsOf(models);
	await using first = await startTestApp({ settings });
	const base = await baseOf(first);
	const document = await add(first, base, TEA);
	await untilSettled(first, base);
	assert.equal((await first.call('DELETE', `${BASES}/${base}/documents/${document}`)).status, 200);
	let app = first;
	for (const embedder of ['stand-in/second', 'builtin']) {
		settings.embedder = embedder;
		app = await app.restart();
		assert.equal((await statusOf(app, base)).reindex_required, false);
		const ink = await add(app, base, INK);
		const status = await untilSettled(app, base);
		assert.deepEqual([status.status, status.embedder, status.reindex_required], ['ready', embedder, false]);
		assert.equal((await search(app, base, 'ink'))[0]?.text, INK);
		await app.call('DELETE', `${BASES}/${base}/documents/${ink}`);
		assert.equal(indexTables(app.dataDir).generations.length, 1);
	}
	await app[Symbol.asyncDispose]();
});

test('a search uses words alone when the provider fails or hangs', async () => {
	await using models = await ModelServer.start();
	await using app = await startTestApp({ settings: settingsOf(models) });
	const base = await baseOf(app, TEA, INK);
	models.embeddings.enqueue(GONE);
	const [failed] = await search(app, base, 'kettle');
	assert.ok(failed?.text === TEA && failed.semantic_score === 0);
	models.embeddings.enqueue({ hang: true });
	const [hung] = await search(app, base, 'kettle');
	assert.ok(hung?.text === TEA && hung.semantic_score === 0);
	models.embeddings.enqueue({ items: (items) => items.map((item) => ({ ...item, embedding: [1, 0, 0] })) });
	const [shorter] = await search(app, base, 'the kettle');
	assert.ok(shorter?.text === TEA && shorter.semantic_score === 0, 'a vector of another length is compared with none');
	const [found] = await search(app, base, 'kettle');
	assert.ok(found && found.semantic_score > 0.1, `a failure is not remembered: ${found?.semantic_score}`);
	const [again] = await search(app, base, 'the kettle');
	assert.ok(again && again.semantic_score > 0.1, `nor a vector of no use: ${again?.semantic_score}`);
});

test('a server that restarts in the middle of embedding embeds the document afterwards', async () => {
	await using models = await ModelServer.start();
	const settings = settingsOf(models);
	await using first = await startTestApp({ settings });
	const base = await createResource(first, BASES, { name: 'Shop' });
	models.embeddings.enqueue({ hang: true });
	await add(first, base, TEA);
	await models.embeddings.call(0);
	await using app = await first.restart();
	const status = await untilSettled(app, base);
	assert.deepEqual([status.status, status.documents_indexed], ['ready', 1]);
	assert.equal((await search(app, base, 'kettle', { hybrid: false }))[0]?.text, TEA);
});

test('an interrupted reindex continues where it was, and starts again if its embedder was changed meanwhile', async () => {
	await using models = await ModelServer.start();
	const settings = settingsOf(models, 'builtin');
	await using first = await startTestApp({ settings });
	const base = await createResource(first, BASES, { name: 'Large' });
	await upload(first, base, 'large.md', { bytes: manyChunks(360, 'amber'), type: 'text/markdown' });
	await untilSettled(first, base);
	settings.embedder = 'stand-in/first';
	await using second = await first.restart();
	// The first 256 are stored; then the provider does not answer.
	const sent = new Set<string>();
	models.embeddings.setDefault(({ body }) => {
		if (sent.size >= 300) return { hang: true };
		for (const text of body.input) sent.add(text);
		return undefined;
	});
	await reindex(second, base);
	await until('the first vectors are stored', () => {
		const { bases, vectors } = indexTables(first.dataDir);
		return bases.length === 2 && vectors.length === 2 && sent.size >= 300;
	});
	await using third = await second.restart();
	models.embeddings.setDefault(undefined);
	const since = models.embeddings.calls.length;
	const done = await untilSettled(third, base);
	assert.deepEqual([done.status, done.embedder], ['ready', 'stand-in/first']);
	const later = models.embeddings.calls.slice(since).flatMap(({ body }) => body.input);
	assert.ok(later.length >= 60 && later.length <= 360 - 256 + 12, `${later.length} texts after the restart`);
	const tables = indexTables(first.dataDir);
	assert.deepEqual([tables.chunks, tables.embedded, tables.bases.length, tables.orphans], [360, 360, 1, 0]);

	models.embeddings.setDefault(({ body }) => (body.model === 'third' ? undefined : { hang: true }));
	settings.embedder = 'stand-in/second';
	await using fourth = await third.restart();
	const asked = models.embeddings.calls.length;
	await reindex(fourth, base);
	await models.embeddings.call(asked);
	settings.embedder = 'stand-in/third';
	await using fifth = await fourth.restart();
	const last = await untilSettled(fifth, base);
	assert.deepEqual([last.status, last.embedder, last.reindex_required], ['ready', 'stand-in/third', false]);
	const { generations, bases, embedded, orphans } = indexTables(first.dataDir);
	assert.deepEqual([generations.length, bases.length, embedded, orphans], [1, 1, 360, 0]);
});

test('a document that the embedder rejects finally ends in error at once; a retry may succeed', async () => {
	await using models = await ModelServer.start();
	await using harness = await openKnowledgeHarness({ embedder: 'stand-in/first', providers: [models.provider()] });
	harness.knowledge.start();
	const base = await harness.newBase();
	models.embeddings.enqueue({ status: 400 });
	const id = await harness.add(base, 'tea.txt', TEA);
	const document = await harness.untilProcessed(id);
	assert.deepEqual([document.status, document.error?.code], ['error', 'model_error']);
	assert.match(document.error?.message ?? '', /did not accept the request/);
	assert.equal(models.embeddings.calls.length, 1);
	await harness.knowledge.documents.retry(base, id).commit();
	assert.equal((await harness.untilProcessed(id)).status, 'indexed');
	assert.deepEqual(await harness.search(base, 'kettle'), [TEA]);
});

test('vectors of another length than before are not indexed; a reindex accepts them', async () => {
	await using models = await ModelServer.start();
	await using harness = await openKnowledgeHarness({ embedder: 'stand-in/first', providers: [models.provider()] });
	harness.knowledge.start();
	const base = await harness.newBase();
	await harness.untilProcessed(await harness.add(base, 'tea.txt', TEA));
	models.embeddings.dimensions = () => 128;
	const document = await harness.untilProcessed(await harness.add(base, 'ink.txt', INK));
	assert.equal(document.status, 'indexed');
	assert.equal(presentStatus(await harness.base(base)).reindex_required, true);
	assert.deepEqual(await harness.search(base, 'ink'), [INK], 'found by its words');
	assert.deepEqual(await harness.search(base, 'kettle'), [TEA]);
	assert.match(String(harness.logLines.at(-1)?.error), /vectors of 128 values now, and the index holds vectors of 64/);
	assert.deepEqual([indexTables(harness.dataDir).chunks, indexTables(harness.dataDir).embedded], [2, 1]);
	await harness.knowledge.reindex(base).commit();
	assert.equal(presentStatus(await harness.untilSettled(base)).reindex_required, false);
	assert.deepEqual(await harness.search(base, 'ink'), [INK, TEA], 'by their vectors all are');
	assert.deepEqual([indexTables(harness.dataDir).chunks, indexTables(harness.dataDir).embedded], [2, 2]);
});

test('a reindex that a client ends leaves the index unchanged', async () => {
	await using models = await ModelServer.start();
	await using app = await startTestApp({ settings: settingsOf(models) });
	const base = await baseOf(app, TEA);
	const before = await statusOf(app, base);
	const tables = indexTables(app.dataDir);
	const path = `${BASES}/${base}/reindex/stop`;
	for (const fault of [{ status: 400 }, { status: 401 }, GONE, { hang: true }] as const) {
		const asked = models.embeddings.calls.length;
		models.embeddings.setDefault(fault);
		assert.equal((await reindex(app, base)).status, 200);
		await models.embeddings.call(asked);
		if (!('hang' in fault)) {
			await until('it says what it waits for', async () => (await statusOf(app, base)).problem?.code === 'model_error');
		}
		const { status, body } = await app.call('POST', path);
		assert.deepEqual([status, body], [200, before]);
		assert.deepEqual(await statusOf(app, base), before);
		assert.deepEqual(indexTables(app.dataDir), tables);
	}
	assert.deepEqual((await app.call('POST', path)).body, before, 'where none runs, nothing happens');
	models.embeddings.setDefault(undefined);
	assert.equal((await search(app, base, 'kettle'))[0]?.text, TEA);
	await reindex(app, base);
	assert.equal((await untilSettled(app, base)).status, 'ready');
});

test('documents that are added during a reindex to another embedder are in the new index with its vectors', async () => {
	await using models = await ModelServer.start();
	const settings = settingsOf(models);
	await using first = await startTestApp({ settings });
	const base = await baseOf(first, TEA);
	settings.embedder = 'stand-in/second';
	await using app = await first.restart();
	let release = () => {};
	const wait = new Promise<void>((resolve) => {
		release = resolve;
	});
	models.embeddings.setDefault(({ body }) => (body.model === 'second' ? { wait } : undefined));
	const asked = models.embeddings.calls.length;
	await reindex(app, base);
	await models.embeddings.call(asked);
	await add(app, base, INK);
	await until('it is found by the old vectors', async () => {
		const hits = await search(app, base, 'ink dries', { hybrid: false });
		return hits[0]?.text === INK && hits[0].semantic_score > 0.2;
	});
	release();
	const done = await untilSettled(app, base);
	assert.deepEqual([done.embedder, done.documents_indexed], ['stand-in/second', 2]);
	assert.equal((await search(app, base, 'ink dries', { hybrid: false }))[0]?.text, INK);
	const { chunks, embedded, orphans } = indexTables(app.dataDir);
	assert.deepEqual([chunks, embedded, orphans], [2, 2, 0]);
});

test('one search of several knowledge bases embeds the question with the embedder of each', async () => {
	await using models = await ModelServer.start();
	const settings = settingsOf(models);
	await using first = await startTestApp({ settings });
	const tea = await baseOf(first, TEA);
	settings.embedder = 'builtin';
	await using app = await first.restart();
	const ink = await baseOf(app, INK);
	const assistant = await createResource(app, '/api/v1/assistants', { name: 'Guide' });
	for (const knowledge_base_id of [tea, ink]) {
		await app.call('POST', `/api/v1/assistants/${assistant}/knowledge-bases`, { knowledge_base_id });
	}
	const deployment_id = await createResource(app, '/api/v1/deployments', { assistant_id: assistant });
	for (const [content, answer] of [
		['At how many degrees is green tea brewed?', /eighty/],
		['How fast does blue ink dry?', /minute/],
	] as const) {
		const { status, body } = await app.call('POST', '/api/v1/messages', { deployment_id, content });
		assert.equal(status, 201, JSON.stringify(body));
		assert.match(body.content, answer);
	}
});

test('a reindex to a new embedder indexes a document that failed with the old one', async () => {
	await using models = await ModelServer.start();
	const settings = settingsOf(models);
	await using first = await startTestApp({ settings });
	const base = await baseOf(first, TEA);
	models.embeddings.setDefault(({ body }) => (body.model === 'first' ? { status: 400 } : undefined));
	await add(first, base, INK);
	assert.equal((await untilSettled(first, base)).status, 'error');
	settings.embedder = 'stand-in/second';
	await using app = await first.restart();
	await reindex(app, base);
	const done = await untilSettled(app, base);
	assert.deepEqual([done.status, done.documents_indexed, done.reindex_required], ['ready', 2, false]);
	assert.equal((await search(app, base, 'ink dries', { hybrid: false }))[0]?.text, INK);
	const { chunks, embedded } = indexTables(app.dataDir);
	assert.deepEqual([chunks, embedded], [2, 2]);
});

/** A knowledge base with an indexed and a rejected document of its old embedder, in a server with a new embedder. */
async function withRefusedDocument(models: ModelServer, embedder: string) {
	const settings = settingsOf(models);
	const first = await startTestApp({ settings });
	const base = await baseOf(first, TEA);
	models.embeddings.setDefault(({ body }) => (body.model === 'first' ? { status: 400 } : undefined));
	await add(first, base, INK);
	assert.equal((await untilSettled(first, base)).status, 'error');
	settings.embedder = embedder;
	return { app: await first.restart(), base };
}

for (const [failure, fault] of [
	['refusal', { status: 400 }],
	['outage', GONE],
] as const) {
	test(`the old embedder’s ${failure}, when it comes after the reindex to a new one, has no effect`, async () => {
		await using models = await ModelServer.start();
		const { app: server, base } = await withRefusedDocument(models, 'stand-in/second');
		await using app = server;
		const [isAsked, mayAnswer] = [deferred<void>(), deferred<void>()];
		models.embeddings.setDefault(({ body }) => {
			if (body.model === 'second') return { wait: isAsked.promise };
			isAsked.resolve();
			return { wait: mayAnswer.promise, fault };
		});
		await reindex(app, base);
		await until('the new embedder serves', async () => (await statusOf(app, base)).embedder === 'stand-in/second');
		mayAnswer.resolve();
		const done = await untilSettled(app, base);
		assert.deepEqual([done.status, done.documents_indexed, done.reindex_required], ['ready', 2, false]);
		assert.equal((await search(app, base, 'ink dries', { hybrid: false }))[0]?.text, INK);
		const { chunks, embedded } = indexTables(app.dataDir);
		assert.deepEqual([chunks, embedded], [2, 2]);
	});
}

test('a follow-up is embedded alone and after the question before, other messages once', async () => {
	await using models = await ModelServer.start();
	await using harness = await openKnowledgeHarness({ embedder: 'stand-in/first', providers: [models.provider()] });
	harness.knowledge.start();
	const base = await harness.newBase();
	await harness.untilProcessed(await harness.add(base, 'tea.txt', TEA));
	await harness.untilProcessed(await harness.add(base, 'ink.txt', INK));
	const earlier = [{ role: 'user' as const, content: 'Is there a kettle?' }];
	const search = async (question: string) => {
		const since = models.embeddings.calls.length;
		const options = { earlier, top_k: 5, min_score: 0 };
		const { hits } = await harness.knowledge.search([await harness.base(base)], question, options);
		const texts = models.embeddings.calls.slice(since).flatMap(({ body }) => body.input);
		return { first: hits[0]?.text, texts: texts.sort() };
	};
	const followUp = 'How hot does it get?';
	const found = await search(followUp);
	assert.equal(found.first, TEA);
	assert.deepEqual(found.texts, [followUp, `Is there a kettle?\n${followUp}`]);
	const other = 'Which black ink dries slowly on thick paper?';
	assert.deepEqual((await search(other)).texts, [other]);
});
