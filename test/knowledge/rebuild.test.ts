import assert from 'node:assert/strict';
import test from 'node:test';
import { AppError } from '../../src/base/index.ts';
import { presentStatus } from '../../src/knowledge/index.ts';
import { until } from '../support/until.ts';
import { indexTables } from './index-tables.ts';
import { type KnowledgeHarness, manyChunks, openKnowledgeHarness } from './knowledge-harness.ts';

/** A knowledge base of two small documents, indexed. */
async function shopOf(room: KnowledgeHarness) {
	const base = await room.newBase();
	const tea = await room.add(base, 'tea.txt', 'Green tea is brewed in the kettle at eighty degrees.');
	const ink = await room.add(base, 'ink.txt', 'The kettle holds no ink.');
	return { base, tea, ink, settled: await room.untilSettled(base) };
}

test('a rebuild that fails for good leaves the old index, the documents and the status as they were, and says so', async () => {
	await using room = await openKnowledgeHarness();
	const { knowledge, pool, logLines } = room;
	knowledge.start();
	const { base, tea, ink, settled } = await shopOf(room);
	const documents = await Promise.all([tea, ink].map(room.document));
	const tables = indexTables(room.dataDir);
	const hits = await room.search(base, 'kettle');
	let attempts = 0;
	pool.trainFailure = () => {
		attempts++;
		return new AppError('unavailable', 'Training failed.');
	};
	const parsed = pool.parsed;
	assert.equal(presentStatus(await knowledge.reindex(base)).status, 'indexing');
	const after = await room.untilSettled(base);
	assert.equal(attempts, 5);
	assert.equal(pool.parsed - parsed, 2, 'what was built is kept from one attempt to the next');
	const problem = { code: 'unavailable', message: 'Training failed.' };
	assert.deepEqual(presentStatus(after), { ...presentStatus(settled), problem });
	assert.deepEqual([after.generation, after.rebuilding], [settled.generation, null]);
	assert.deepEqual(await Promise.all([tea, ink].map(room.document)), documents);
	assert.deepEqual(indexTables(room.dataDir), tables);
	assert.deepEqual(await room.search(base, 'kettle'), hits);
	// Readers see the commit that ends the rebuild before the caller of that commit continues and logs the failure.
	const failure = await until('the failure is logged', () => logLines.find(({ level }) => level === 50));
	assert.deepEqual([failure.knowledge_base, failure.error], [base, 'Training failed.']);
	assert.equal(logLines.at(-1), failure);

	pool.trainFailure = () => undefined;
	await knowledge.reindex(base);
	const again = await room.untilSettled(base);
	assert.notEqual(again.generation, settled.generation, 'asked again, it is done');
	assert.equal(presentStatus(again).problem, null);
});

test('a failure that passes does no harm', async () => {
	await using room = await openKnowledgeHarness();
	const { knowledge, pool } = room;
	knowledge.start();
	const { base, settled } = await shopOf(room);
	let failures = 3;
	pool.trainFailure = () => (failures-- > 0 ? new AppError('unavailable', 'Training failed.') : undefined);
	pool.parseFailure = () => {
		pool.parseFailure = () => undefined;
		return new AppError('unavailable', 'The stored file could not be opened.');
	};
	await knowledge.reindex(base);
	const { generation, documents_failed } = await room.untilSettled(base);
	assert.notEqual(generation, settled.generation);
	assert.equal(documents_failed, 0);
	assert.equal((await room.search(base, 'kettle')).length, 2);
});

test('a rebuild that restarts interrupt is never given up', async () => {
	await using room = await openKnowledgeHarness();
	const { knowledge, store } = room;
	const base = await room.newBase();
	const ink = await room.add(base, 'ink.txt', 'The kettle holds no ink.');
	const { rebuilding } = await knowledge.reindex(base);
	for (let cut = 0; cut < 40; cut++) assert.equal((await store.jobs.claim('rebuild', 1, 0)).length, 1);
	knowledge.start();
	const { generation, problem } = await room.untilSettled(base);
	assert.deepEqual([generation, problem], [rebuilding, null]);
	assert.equal((await room.document(ink)).status, 'indexed');
	const { generations, orphans } = indexTables(room.dataDir);
	assert.deepEqual([generations, orphans], [[generation], 0]);
});

test('a document whose bytes are lost ends in error, and all others are found', async () => {
	await using room = await openKnowledgeHarness();
	const { knowledge, store } = room;
	knowledge.start();
	const { base, tea, ink } = await shopOf(room);
	await store.blobs.remove((await room.document(ink)).blob as string);
	await knowledge.reindex(base);
	assert.equal(presentStatus(await room.untilSettled(base)).status, 'error');
	const { status, error } = await room.document(ink);
	assert.deepEqual([status, error?.code], ['error', 'internal_error']);
	assert.equal((await room.document(tea)).status, 'indexed');
	assert.deepEqual(await room.search(base, 'kettle'), ['Green tea is brewed in the kettle at eighty degrees.']);
});

test('a large knowledge base is trained while documents go on being indexed, and the new index has them', async () => {
	await using room = await openKnowledgeHarness();
	const { knowledge, pool, store } = room;
	knowledge.start();
	const base = await room.newBase();
	const large = await room.add(base, 'large.md', manyChunks(1100, 'amber'));
	await room.untilProcessed(large);
	const before = await store.searchIndex.servingGeneration(base);
	pool.trainLatch.close();
	await knowledge.reindex(base);
	await until('the new basis has been trained', () => pool.trainLatch.waiting === 1);
	const late = await room.untilProcessed(await room.add(base, 'late.txt', 'The late kettle is made of larch.'));
	assert.equal(late.status, 'indexed', 'it does not wait for the training');
	assert.match((await room.search(base, 'What is the late kettle made of?'))[0] ?? '', /larch/);
	pool.trainLatch.open();
	await room.untilSettled(base);
	const after = await store.searchIndex.servingGeneration(base);
	assert.notEqual(after?.id, before?.id);
	assert.deepEqual([after?.chunk_count, after?.trained_on], [1101, 1100]);
	const { generations, bases, chunks, embedded, orphans } = indexTables(room.dataDir);
	assert.deepEqual([generations, bases, orphans], [[after?.id], [after?.basis], 0]);
	assert.deepEqual([chunks, embedded], [1101, 1101]);
	assert.match((await room.search(base, 'What is the late kettle made of?'))[0] ?? '', /larch/);
});

test('a knowledge base whose documents all go while it is rebuilt is empty and ready', async () => {
	await using room = await openKnowledgeHarness();
	const { knowledge, pool } = room;
	knowledge.start();
	const { base, tea, ink } = await shopOf(room);
	pool.pause(({ file_name }) => file_name === 'tea.txt');
	await knowledge.reindex(base);
	await until('it is under way', () => pool.waiting === 1);
	for (const id of [tea, ink]) await knowledge.documents.remove(base, id, null);
	pool.resume();
	assert.equal(presentStatus(await room.untilSettled(base)).status, 'ready');
	assert.deepEqual(await room.search(base, 'kettle'), []);
	const { chunks, orphans, vectors } = indexTables(room.dataDir);
	assert.deepEqual([chunks, orphans, vectors], [0, 0, []]);
	await room.untilProcessed(await room.add(base, 'next.txt', 'The next kettle is green.'));
	assert.deepEqual(await room.search(base, 'kettle'), ['The next kettle is green.']);
});

test('many documents that come, change and go during rebuilds are found as they are at the end', async () => {
	await using room = await openKnowledgeHarness();
	const { knowledge } = room;
	knowledge.start();
	const base = await room.newBase();
	const there = new Map<string, string>();
	const addOne = async (at: number) => {
		const text = `The kettle number ${at} stands on shelf ${at * 3}.`;
		there.set(await room.add(base, `k${at}.txt`, text), text);
	};
	for (let at = 0; at < 12; at++) await addOne(at);
	for (let round = 1; round <= 3; round++) {
		await knowledge.reindex(base);
		const ids = [...there.keys()];
		await Promise.all([
			...[0, 1, 2].map((n) => addOne(round * 100 + n)),
			...ids.slice(0, 2).map((id) => {
				there.delete(id);
				return knowledge.documents.remove(base, id, null);
			}),
			...ids.slice(2, 5).map((id) => knowledge.documents.retry(base, id)),
		]);
		if (round % 2 === 0) await room.untilSettled(base);
	}
	const { documents_total, documents_failed } = await room.untilSettled(base);
	assert.deepEqual([documents_total, documents_failed], [there.size, 0]);
	assert.deepEqual((await room.search(base, 'kettle')).sort(), [...there.values()].sort());
	const { generations, orphans, chunks, embedded } = indexTables(room.dataDir);
	assert.deepEqual([generations.length, orphans, chunks, embedded], [1, 0, there.size, there.size]);
	for (const id of there.keys()) assert.deepEqual((await room.document(id)).chunk_count, 1);
});

test('a document that restarts have cut off is still tried again when it fails', async () => {
	await using room = await openKnowledgeHarness();
	const { knowledge, pool, store } = room;
	const base = await room.newBase();
	const id = await room.add(base, 'ink.txt', 'The kettle holds no ink.');
	for (let cut = 0; cut < 5; cut++) await store.jobs.claim('ingest', 1, 0);
	let failures = 2;
	pool.parseFailure = () => (failures-- > 0 ? new AppError('unavailable', 'The disk hiccuped.') : undefined);
	knowledge.start();
	const { status, attempts } = await room.untilProcessed(id);
	assert.deepEqual([status, attempts], ['indexed', 2]);

	pool.parseFailure = () => new AppError('unavailable', 'The disk hiccuped.');
	const other = await room.untilProcessed(await room.add(base, 'tea.txt', 'Tea.'));
	assert.deepEqual([other.status, other.error?.message, other.attempts], ['error', 'The disk hiccuped.', 2]);
	pool.parseFailure = () => undefined;
	await knowledge.documents.retry(base, other.id);
	assert.equal((await room.untilProcessed(other.id)).status, 'indexed');
});
