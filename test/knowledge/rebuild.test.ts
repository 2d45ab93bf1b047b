import assert from 'node:assert/strict';
import test from 'node:test';
import { AppError, createLog, KeyedLock, ResourceShortage, Semaphore, systemClock } from '../../src/base/index.ts';
import { ModelIdentity, UnsavedVectors } from '../../src/knowledge/embedding/index.ts';
import { presentStatus } from '../../src/knowledge/index.ts';
import { Rebuild } from '../../src/knowledge/rebuild/rebuild.ts';
import { requestRebuild } from '../../src/knowledge/rebuild/request-rebuild.ts';
import { builtinEmbedders } from '../../src/models/index.ts';
import { until } from '../support/until.ts';
import { indexTables } from './index-tables.ts';
import { type KnowledgeHarness, manyChunks, openKnowledgeHarness } from './knowledge-harness.ts';

/** A knowledge base of two small documents, indexed. */
async function shopOf(harness: KnowledgeHarness) {
	const base = await harness.newBase();
	const tea = await harness.add(base, 'tea.txt', 'Green tea is brewed in the kettle at eighty degrees.');
	const ink = await harness.add(base, 'ink.txt', 'The kettle holds no ink.');
	return { base, tea, ink, settled: await harness.untilTrained(base) };
}

test('a rebuild that fails finally keeps the old index, the documents and the status, and reports the failure', async () => {
	await using harness = await openKnowledgeHarness();
	const { knowledge, pool, logLines } = harness;
	knowledge.start();
	const { base, tea, ink, settled } = await shopOf(harness);
	const documents = await Promise.all([tea, ink].map(harness.document));
	const tables = indexTables(harness.dataDir);
	const hits = await harness.search(base, 'kettle');
	let attempts = 0;
	pool.trainFailure = () => {
		attempts++;
		return new AppError('unavailable', 'Training failed.');
	};
	const parsed = pool.parsed;
	assert.equal(presentStatus(await knowledge.reindex(base).commit()).status, 'indexing');
	const after = await harness.untilSettled(base);
	assert.equal(attempts, 5);
	assert.equal(pool.parsed - parsed, 2, 'what was built is kept from one attempt to the next');
	const problem = { code: 'unavailable', message: 'Training failed.' };
	assert.deepEqual(presentStatus(after), { ...presentStatus(settled), problem });
	assert.deepEqual([after.generation, after.rebuilding], [settled.generation, null]);
	assert.deepEqual(await Promise.all([tea, ink].map(harness.document)), documents);
	assert.deepEqual(indexTables(harness.dataDir), tables);
	assert.deepEqual(await harness.search(base, 'kettle'), hits);
	// Readers see the commit that ends the rebuild before the caller of that commit continues and logs the failure.
	const failure = await until('the failure is logged', () => logLines.find(({ level }) => level === 50));
	assert.deepEqual([failure.knowledge_base, failure.error], [base, 'Training failed.']);
	assert.equal(logLines.at(-1), failure);

	pool.trainFailure = () => undefined;
	await knowledge.reindex(base).commit();
	const again = await harness.untilSettled(base);
	assert.notEqual(again.generation, settled.generation, 'asked again, it is done');
	assert.equal(presentStatus(again).problem, null);
});

test('a temporary failure does no harm', async () => {
	await using harness = await openKnowledgeHarness();
	const { knowledge, pool } = harness;
	knowledge.start();
	const { base, settled } = await shopOf(harness);
	let failures = 3;
	pool.trainFailure = () => (failures-- > 0 ? new AppError('unavailable', 'Training failed.') : undefined);
	pool.parseFailure = () => {
		pool.parseFailure = () => undefined;
		return new AppError('unavailable', 'The stored file could not be opened.');
	};
	await knowledge.reindex(base).commit();
	const { generation, documents_failed } = await harness.untilSettled(base);
	assert.notEqual(generation, settled.generation);
	assert.equal(documents_failed, 0);
	assert.equal((await harness.search(base, 'kettle')).length, 2);
});

test('restarts never make a rebuild fail', async () => {
	await using harness = await openKnowledgeHarness();
	const { knowledge, store } = harness;
	const base = await harness.newBase();
	const ink = await harness.add(base, 'ink.txt', 'The kettle holds no ink.');
	const { rebuilding } = await knowledge.reindex(base).commit();
	for (let cut = 0; cut < 40; cut++) assert.equal((await store.jobs.claim('rebuild', 1, 0)).length, 1);
	knowledge.start();
	const { generation, problem } = await harness.untilSettled(base);
	assert.deepEqual([generation, problem], [rebuilding, null]);
	assert.equal((await harness.document(ink)).status, 'indexed');
	const { generations, orphans } = indexTables(harness.dataDir);
	assert.deepEqual([generations, orphans], [[generation], 0]);
});

test('only crashes during the training of a rebuilt index prevent its tuning, not those while documents are parsed', async () => {
	await using harness = await openKnowledgeHarness({ maxSyncTrainingChunks: 1 });
	const { knowledge, pool } = harness;
	const store = harness.store as ConstructorParameters<typeof Rebuild>[0]['store'];
	knowledge.start();
	const base = await harness.newBase();
	await harness.add(base, 'a.md', manyChunks(3, 'amber'));
	await harness.untilTrained(base);
	await knowledge[Symbol.asyncDispose]();
	const deps = { store, clock: systemClock, log: createLog('silent'), embedders: builtinEmbedders };
	await requestRebuild(deps, base).commit();
	const rebuild = new Rebuild({
		...deps,
		pool,
		documents: knowledge.documents,
		modelIdentity: new ModelIdentity({ store, configured: 'builtin', log: deps.log }),
		unsavedVectors: new UnsavedVectors(),
		indexing: new KeyedLock(),
		tunedTrainings: new Semaphore(1, 1),
		retryMs: 1,
		maxSyncTrainingChunks: 1,
	});
	const isTunedOf: boolean[] = [];
	pool.trainFailure = ({ tuned }) => {
		isTunedOf.push(tuned);
		return new ResourceShortage('The server has too little memory.', undefined);
	};
	for (let claim = 0; claim < 2; claim++) {
		const [job] = await store.jobs.claim('rebuild', 1, 60_000);
		assert.ok(job);
		await assert.rejects(rebuild.perform({ ...job, attempts: 4 }, new AbortController().signal), /too little memory/);
		await store.commit({ jobs: [{ op: 'postpone', id: job.id, due_at: 0 }] });
	}
	assert.deepEqual(isTunedOf, [true, false]);
});

test('a document whose bytes are lost ends in error, and all others are still found', async () => {
	await using harness = await openKnowledgeHarness();
	const { knowledge, store } = harness;
	knowledge.start();
	const { base, tea, ink } = await shopOf(harness);
	await store.blobs.remove((await harness.document(ink)).blob as string);
	await knowledge.reindex(base).commit();
	assert.equal(presentStatus(await harness.untilSettled(base)).status, 'error');
	const { status, error } = await harness.document(ink);
	assert.deepEqual([status, error?.code], ['error', 'internal_error']);
	assert.equal((await harness.document(tea)).status, 'indexed');
	assert.deepEqual(await harness.search(base, 'kettle'), ['Green tea is brewed in the kettle at eighty degrees.']);
});

test('trains a large knowledge base while documents are indexed, and the new index has them', async () => {
	await using harness = await openKnowledgeHarness();
	const { knowledge, pool, store } = harness;
	knowledge.start();
	const base = await harness.newBase();
	const large = await harness.add(base, 'large.md', manyChunks(110, 'amber'));
	await harness.untilProcessed(large);
	await harness.untilTrained(base);
	const before = await store.searchIndex.servingGeneration(base);
	pool.trainLatch.close();
	await knowledge.reindex(base).commit();
	await until('the new basis has been trained', () => pool.trainLatch.waiting === 1);
	const late = await harness.untilProcessed(await harness.add(base, 'late.txt', 'The late kettle is made of larch.'));
	assert.equal(late.status, 'indexed', 'it does not wait for the training');
	assert.match((await harness.search(base, 'What is the late kettle made of?'))[0] ?? '', /larch/);
	pool.trainLatch.open();
	await harness.untilSettled(base);
	const after = await store.searchIndex.servingGeneration(base);
	assert.notEqual(after?.id, before?.id);
	assert.deepEqual([after?.chunk_count, after?.trained_on], [111, 110]);
	const { generations, bases, chunks, embedded, orphans } = indexTables(harness.dataDir);
	assert.deepEqual([generations, bases, orphans], [[after?.id], [after?.basis], 0]);
	assert.deepEqual([chunks, embedded], [111, 111]);
	assert.match((await harness.search(base, 'What is the late kettle made of?'))[0] ?? '', /larch/);
});

test('a rebuild of a large knowledge base whose tuning fails serves an untuned basis', async () => {
	await using harness = await openKnowledgeHarness({ maxSyncTrainingChunks: 10, retryMs: 60_000 });
	const { knowledge, pool, store } = harness;
	knowledge.start();
	const base = await harness.newBase();
	await harness.add(base, 'large.md', manyChunks(12, 'amber'));
	const { generation } = await harness.untilTrained(base);
	pool.trainFailure = ({ tuned }) => (tuned ? new AppError('internal_error', 'Tuning failed.') : undefined);
	await knowledge.reindex(base).commit();
	const after = await harness.untilSettled(base);
	assert.notEqual(after.generation, generation);
	assert.match(after.problem?.message ?? '', /training.*Tuning failed/);
	assert.equal(after.tuned_on, 0);
	assert.ok(after.training_failures >= 3, 'the failure delays the next tuning');
	assert.equal((await store.searchIndex.servingGeneration(base))?.trained_on, 12);
	const { bases, orphans } = indexTables(harness.dataDir);
	assert.deepEqual([bases.length, orphans], [1, 0]);
});

test('a knowledge base whose documents are all removed during a rebuild is empty and ready', async () => {
	await using harness = await openKnowledgeHarness();
	const { knowledge, pool } = harness;
	knowledge.start();
	const { base, tea, ink } = await shopOf(harness);
	pool.pause(({ file_name }) => file_name === 'tea.txt');
	await knowledge.reindex(base).commit();
	await until('it is under way', () => pool.waiting === 1);
	for (const id of [tea, ink]) await knowledge.documents.remove(base, id, null).commit();
	pool.resume();
	assert.equal(presentStatus(await harness.untilSettled(base)).status, 'ready');
	assert.deepEqual(await harness.search(base, 'kettle'), []);
	const { chunks, orphans, vectors } = indexTables(harness.dataDir);
	assert.deepEqual([chunks, orphans, vectors], [0, 0, []]);
	await harness.untilProcessed(await harness.add(base, 'next.txt', 'The next kettle is green.'));
	assert.deepEqual(await harness.search(base, 'kettle'), ['The next kettle is green.']);
});

test('finds the final state of many documents that are added, changed and removed during rebuilds', async () => {
	await using harness = await openKnowledgeHarness();
	const { knowledge } = harness;
	knowledge.start();
	const base = await harness.newBase();
	const there = new Map<string, string>();
	const addOne = async (at: number) => {
		const text = `The kettle number ${at} stands on shelf ${at * 3}.`;
		there.set(await harness.add(base, `k${at}.txt`, text), text);
	};
	for (let at = 0; at < 12; at++) await addOne(at);
	for (let round = 1; round <= 3; round++) {
		await knowledge.reindex(base).commit();
		const ids = [...there.keys()];
		await Promise.all([
			...[0, 1, 2].map((n) => addOne(round * 100 + n)),
			...ids.slice(0, 2).map((id) => {
				there.delete(id);
				return knowledge.documents.remove(base, id, null).commit();
			}),
			...ids.slice(2, 5).map((id) => knowledge.documents.retry(base, id).commit()),
		]);
		if (round % 2 === 0) await harness.untilSettled(base);
	}
	const { documents_total, documents_failed } = await harness.untilSettled(base);
	assert.deepEqual([documents_total, documents_failed], [there.size, 0]);
	assert.deepEqual((await harness.search(base, 'kettle')).sort(), [...there.values()].sort());
	const { generations, orphans, chunks, embedded } = indexTables(harness.dataDir);
	assert.deepEqual([generations.length, orphans, chunks, embedded], [1, 0, there.size, there.size]);
	for (const id of there.keys()) assert.deepEqual((await harness.document(id)).chunk_count, 1);
});

test('a document that restarts interrupted is still retried after a failure', async () => {
	await using harness = await openKnowledgeHarness();
	const { knowledge, pool, store } = harness;
	const base = await harness.newBase();
	const id = await harness.add(base, 'ink.txt', 'The kettle holds no ink.');
	for (let cut = 0; cut < 5; cut++) await store.jobs.claim('ingest', 1, 0);
	let failures = 2;
	pool.parseFailure = () => (failures-- > 0 ? new AppError('unavailable', 'The disk hiccuped.') : undefined);
	knowledge.start();
	const { status, attempts } = await harness.untilProcessed(id);
	assert.deepEqual([status, attempts], ['indexed', 2]);

	pool.parseFailure = () => new AppError('unavailable', 'The disk hiccuped.');
	const other = await harness.untilProcessed(await harness.add(base, 'tea.txt', 'Tea.'));
	assert.deepEqual([other.status, other.error?.message, other.attempts], ['error', 'The disk hiccuped.', 2]);
	pool.parseFailure = () => undefined;
	await knowledge.documents.retry(base, other.id).commit();
	assert.equal((await harness.untilProcessed(other.id)).status, 'indexed');
});
