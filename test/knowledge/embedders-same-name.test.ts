import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Settings } from '../../src/config/index.ts';
import { createResource, untilSettled, upload } from '../api/fixture.ts';
import { startTestApp, type TestApp } from '../support/app.ts';
import { ModelServer } from '../support/model-server.ts';
import { until } from '../support/until.ts';
import { indexTables } from './index-tables.ts';
import { manyChunks } from './knowledge-harness.ts';

const BASES = '/api/v1/knowledge-bases';
const TEA = 'Green tea is brewed in the kettle at eighty degrees.';
const INK = 'The blue ink dries on paper within a minute.';

/** A server with models of the same names that make other vectors. */
async function startOtherModels(): Promise<ModelServer> {
	const models = await ModelServer.start();
	const vector = models.embeddings.vector.bind(models.embeddings);
	models.embeddings.vector = (model, text, dimensions) => vector(`another ${model}`, text, dimensions);
	return models;
}

const settingsOf = (models: ModelServer): Partial<Settings> => ({
	providers: [models.provider()],
	embedder: 'stand-in/first',
});

const add = (app: TestApp, base: string, content: string) =>
	createResource(app, `${BASES}/${base}/documents`, { source_type: 'text', title: 'Care', content });

const statusOf = async (app: TestApp, base: string) => (await app.call('GET', `${BASES}/${base}/status`)).body;

async function search(
	app: TestApp,
	base: string,
	query: string,
): Promise<Array<{ text: string; semantic_score: number }>> {
	const { status, body } = await app.call('POST', `${BASES}/${base}/search`, { query, top_k: 20, min_score: 0 });
	assert.equal(status, 200, JSON.stringify(body));
	return body.data;
}

test('the first question detects another model under the same name and is searched by words; a reindex accepts the model', async () => {
	await using models = await ModelServer.start();
	await using others = await startOtherModels();
	const settings = settingsOf(models);
	await using first = await startTestApp({ settings });
	const base = await createResource(first, BASES, { name: 'Shop' });
	await add(first, base, TEA);
	await untilSettled(first, base);
	assert.ok(((await search(first, base, 'tea kettle'))[0]?.semantic_score ?? 0) > 0.2);
	assert.equal((await statusOf(first, base)).reindex_required, false);

	settings.providers = [others.provider()];
	await using app = await first.restart();
	const [hit] = await search(app, base, 'tea kettle');
	assert.deepEqual([hit?.text, hit?.semantic_score], [TEA, 0], 'found by its words alone');
	assert.equal((await statusOf(app, base)).reindex_required, true);
	await add(app, base, INK);
	await untilSettled(app, base);
	assert.deepEqual(
		(await search(app, base, 'ink')).map(({ text }) => text),
		[INK],
	);
	const mixed = indexTables(app.dataDir);
	assert.deepEqual([mixed.chunks, mixed.embedded], [2, 1], 'no vector of the other model beside the old ones');

	await app.call('POST', `${BASES}/${base}/reindex`);
	const done = await untilSettled(app, base);
	assert.deepEqual([done.status, done.reindex_required], ['ready', false]);
	for (const query of ['tea kettle', 'blue ink']) {
		assert.ok(((await search(app, base, query))[0]?.semantic_score ?? 0) > 0.1, query);
	}
	assert.equal((await statusOf(app, base)).reindex_required, false);
	const { chunks, embedded } = indexTables(app.dataDir);
	assert.deepEqual([chunks, embedded], [2, 2]);
});

test('a document also detects another model; after the first model is back, only chunks without vectors require a reindex', async () => {
	await using models = await ModelServer.start();
	await using others = await startOtherModels();
	const settings = settingsOf(models);
	await using first = await startTestApp({ settings });
	const [tea, ink] = [
		await createResource(first, BASES, { name: 'Tea' }),
		await createResource(first, BASES, { name: 'Ink' }),
	];
	for (const [base, text] of [
		[tea, TEA],
		[ink, INK],
	] as const) {
		await add(first, base, text);
		await untilSettled(first, base);
	}
	settings.providers = [others.provider()];
	await using second = await first.restart();
	await add(second, ink, TEA);
	await untilSettled(second, ink);
	await search(second, tea, 'kettle');
	assert.deepEqual(
		[(await statusOf(second, tea)).reindex_required, (await statusOf(second, ink)).reindex_required],
		[true, true],
	);

	settings.providers = [models.provider()];
	await using third = await second.restart();
	assert.equal((await statusOf(third, tea)).reindex_required, true, 'until it is seen');
	for (const base of [tea, ink]) await search(third, base, 'kettle');
	assert.deepEqual(
		[(await statusOf(third, tea)).reindex_required, (await statusOf(third, ink)).reindex_required],
		[false, true],
	);
	assert.ok(((await search(third, tea, 'tea kettle'))[0]?.semantic_score ?? 0) > 0.2);
});

test('the same model at another address, or in batches with other texts, counts as the same', async () => {
	await using models = await ModelServer.start();
	await using moved = await ModelServer.start();
	const vector = moved.embeddings.vector.bind(moved.embeddings);
	let calls = 0;
	// The rounding of another order of additions, or of another batch size.
	moved.embeddings.vector = (...given) => vector(...given).map((value, at) => value + 0.001 * Math.sin(++calls + at));
	const settings = settingsOf(models);
	await using first = await startTestApp({ settings });
	const base = await createResource(first, BASES, { name: 'Shop' });
	await add(first, base, TEA);
	await untilSettled(first, base);
	settings.providers = [moved.provider()];
	await using app = await first.restart();
	await add(app, base, INK);
	await untilSettled(app, base);
	assert.ok(((await search(app, base, 'tea kettle'))[0]?.semantic_score ?? 0) > 0.2);
	assert.equal((await statusOf(app, base)).reindex_required, false);
	const { chunks, embedded } = indexTables(app.dataDir);
	assert.deepEqual([chunks, embedded], [2, 2]);
});

test('an interrupted reindex that continues with another model under the same name discards its vectors', async () => {
	await using models = await ModelServer.start();
	await using others = await startOtherModels();
	const settings: Partial<Settings> = { ...settingsOf(models), embedder: 'builtin' };
	await using first = await startTestApp({ settings });
	const base = await createResource(first, BASES, { name: 'Large' });
	await upload(first, base, 'large.md', { bytes: manyChunks(280, 'amber'), type: 'text/markdown' });
	await untilSettled(first, base);
	settings.embedder = 'stand-in/first';
	await using second = await first.restart();
	let good = 5;
	models.embeddings.setDefault(() => (good-- > 0 ? undefined : { hang: true }));
	await second.call('POST', `${BASES}/${base}/reindex`);
	await until('some vectors are stored and no more come', () => {
		const { bases, vectors } = indexTables(first.dataDir);
		return bases.length === 2 && vectors.length === 2 && good < -1;
	});
	settings.providers = [others.provider()];
	await using third = await second.restart();
	const done = await untilSettled(third, base);
	assert.deepEqual([done.status, done.embedder, done.reindex_required], ['ready', 'stand-in/first', false]);
	assert.equal(others.embeddings.texts.filter((text) => text.includes('amber')).length, 280, 'all of them');
	await search(third, base, 'amber17');
	assert.equal((await statusOf(third, base)).reindex_required, false);
	const tables = indexTables(first.dataDir);
	assert.deepEqual([tables.chunks, tables.embedded, tables.bases.length, tables.orphans], [280, 280, 1, 0]);
});

test('one response of another model does no lasting harm', async () => {
	await using models = await ModelServer.start();
	await using app = await startTestApp({ settings: settingsOf(models) });
	const base = await createResource(app, BASES, { name: 'Shop' });
	await add(app, base, TEA);
	await untilSettled(app, base);
	await using again = await app.restart();
	models.embeddings.enqueue({
		items: (items) => items.map((item) => ({ ...item, embedding: item.embedding.toReversed() })),
	});
	assert.equal((await search(again, base, 'tea kettle'))[0]?.semantic_score, 0);
	assert.equal((await statusOf(again, base)).reindex_required, true);
	assert.ok(((await search(again, base, 'tea kettle'))[0]?.semantic_score ?? 0) > 0.2);
	assert.equal((await statusOf(again, base)).reindex_required, false);
});
