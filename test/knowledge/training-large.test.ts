import assert from 'node:assert/strict';
import test from 'node:test';
import { presentStatus } from '../../src/knowledge/index.ts';
import { until } from '../support/until.ts';
import { indexTables, jobsOf } from './index-tables.ts';
import { type KnowledgeHarness, manyChunks, openKnowledgeHarness } from './knowledge-harness.ts';

const isTuned = ({ tuned }: { tuned: boolean }) => tuned;

/** Starts the jobs and makes a knowledge base of 70 chunks that is trained. */
async function trainedBase(harness: KnowledgeHarness): Promise<string> {
	harness.knowledge.start();
	const base = await harness.newBase();
	await harness.add(base, 'a.md', manyChunks(70, 'amber'));
	await harness.untilTrained(base);
	return base;
}

test('indexes and finds documents while a large knowledge base is trained again, and the new basis has them too', async () => {
	await using harness = await openKnowledgeHarness();
	const { knowledge, pool, store } = harness;
	knowledge.start();
	const base = await harness.newBase();
	const trainedAt = async () => presentStatus(await harness.base(base)).trained_at;
	await harness.add(base, 'a.md', manyChunks(70, 'amber'));
	await harness.untilTrained(base);
	const before = await trainedAt();
	assert.ok(before);
	const first = await store.searchIndex.servingGeneration(base);
	assert.equal(first?.chunk_count, 70);

	pool.trainLatch.close(isTuned);
	await harness.untilProcessed(await harness.add(base, 'b.md', manyChunks(70, 'birch')));
	await until('a basis for all of it has been trained', () => pool.trainLatch.waiting === 1);
	assert.equal((await store.searchIndex.servingGeneration(base))?.basis, first.basis, 'the old one serves');
	const { status, ...due } = presentStatus(await harness.base(base));
	assert.deepEqual([status, due.trained_at], ['ready', null], 'all is searchable, but a training is under way');
	const late = await harness.untilProcessed(await harness.add(base, 'late.txt', 'The late kettle is made of larch.'));
	assert.equal(late.status, 'indexed', 'it does not wait for the training');
	assert.match((await harness.search(base, 'What is the late kettle made of?'))[0] ?? '', /larch/);
	await harness.knowledge.documents.remove(base, await harness.add(base, 'gone.txt', 'Gone.'), null).commit();

	pool.trainLatch.open();
	await harness.untilTrained(base);
	const trained = await store.searchIndex.servingGeneration(base);
	assert.deepEqual(
		[trained?.id, trained?.trained_on, trained?.chunk_count],
		[first.id, 141, 141],
		'a second training follows, because the late document has many unknown words',
	);
	assert.notEqual(trained?.basis, first.basis);
	const after = await trainedAt();
	assert.ok(after && after > before, `${after}`);
	const { chunks, embedded, vectors } = indexTables(harness.dataDir);
	assert.deepEqual([chunks, embedded, vectors.length], [141, 141, 1]);
	assert.match((await harness.search(base, 'What is the late kettle made of?'))[0] ?? '', /larch/);
});

test('trains a knowledge base again by itself if it doubles during a training', async () => {
	await using harness = await openKnowledgeHarness();
	const { pool, store } = harness;
	const base = await trainedBase(harness);
	pool.trainLatch.close(isTuned);
	await harness.untilProcessed(await harness.add(base, 'b.md', manyChunks(50, 'birch')));
	await until('the first training is done', () => pool.trainLatch.waiting === 1);
	await harness.untilProcessed(await harness.add(base, 'c.md', manyChunks(120, 'cedar')));
	pool.trainLatch.open();
	await until(
		'it is trained on all of it',
		async () => (await store.searchIndex.servingGeneration(base))?.trained_on === 240,
	);
	await until('nothing is left to do', () => jobsOf(harness.dataDir, 'train') === 0);
	const { embedded, bases } = indexTables(harness.dataDir);
	assert.deepEqual([embedded, bases.length], [240, 1]);
});

test('a training and a reindex of one knowledge base exclude each other and leave one index', async () => {
	await using harness = await openKnowledgeHarness();
	const { knowledge, pool, store } = harness;
	const base = await trainedBase(harness);
	const tuned: Array<string | null> = [];
	pool.trainFailure = (job) => {
		if (job.tuned) tuned.push(job.generation);
		return undefined;
	};
	pool.trainLatch.close(isTuned);
	await harness.untilProcessed(await harness.add(base, 'b.md', manyChunks(70, 'birch')));
	await until('a basis has been trained', () => pool.trainLatch.waiting === 1);
	const before = await store.searchIndex.servingGeneration(base);
	const { rebuilding } = await knowledge.reindex(base).commit();
	await until('the new generation is filled', async () => {
		return (await store.searchIndex.generation(rebuilding as string))?.chunk_count === 140;
	});
	await until('the training of the new generation has replaced the other one', () => {
		return tuned.length === 2 && pool.trainLatch.waiting === 1;
	});
	assert.deepEqual(tuned, [before?.id, rebuilding], 'the other one is aborted: its basis would not serve for long');
	const late = await harness.untilProcessed(await harness.add(base, 'late.txt', 'The late kettle is made of larch.'));
	assert.equal(late.status, 'indexed');
	pool.trainLatch.open();
	await harness.untilSettled(base);
	const after = await store.searchIndex.servingGeneration(base);
	assert.deepEqual([after?.id, after?.chunk_count], [rebuilding, 141]);
	assert.notEqual(after?.id, before?.id);
	const { generations, bases, embedded, orphans } = indexTables(harness.dataDir);
	assert.deepEqual([generations, bases, embedded, orphans], [[after?.id], [after?.basis], 141, 0]);
});

test('the deletion of a knowledge base aborts its training, and the end of a reindex the training of that', async () => {
	await using harness = await openKnowledgeHarness({ maxSyncTrainingChunks: 10 });
	const { knowledge, pool, store } = harness;
	knowledge.start();
	const base = await harness.newBase();
	await harness.untilProcessed(await harness.add(base, 'a.md', manyChunks(12, 'amber')));
	await harness.untilTrained(base);
	pool.trainLatch.close(isTuned);
	await knowledge.reindex(base).commit();
	await until('the new index is trained', () => pool.trainLatch.waiting === 1);
	await knowledge.stopReindex(base).commit();
	await until('its training is aborted', () => pool.trainLatch.waiting === 0);
	await harness.untilProcessed(await harness.add(base, 'b.md', manyChunks(2, 'birch')));
	await until('the knowledge base is trained', () => pool.trainLatch.waiting === 1);
	await store.commit({ write: [{ op: 'erase_knowledge_base', id: base }] });
	await until('that training is aborted', () => pool.trainLatch.waiting === 0);
	await until(
		'nothing is left to do',
		() => jobsOf(harness.dataDir, 'train') + jobsOf(harness.dataDir, 'rebuild') === 0,
	);
	assert.deepEqual(harness.logLines, [], 'and it is no failure');
});

test('a knowledge base that is deleted during a training leaves no data', async () => {
	await using harness = await openKnowledgeHarness();
	const { pool, store } = harness;
	const base = await trainedBase(harness);
	pool.trainLatch.close(isTuned);
	await harness.untilProcessed(await harness.add(base, 'b.md', manyChunks(70, 'birch')));
	await until('a basis has been trained', () => pool.trainLatch.waiting === 1);
	await store.commit({ write: [{ op: 'erase_knowledge_base', id: base }] });
	pool.trainLatch.open();
	await until('the training has ended', () => pool.trainLatch.waiting === 0);
	const next = await harness.newBase();
	await harness.add(next, 'next.txt', 'The next kettle is green.');
	await harness.untilTrained(next);
	const { generations, bases, orphans } = indexTables(harness.dataDir);
	assert.deepEqual([generations.length, bases.length, orphans], [1, 1, 0]);
	assert.deepEqual(
		harness.logLines.map(({ msg }) => msg),
		[],
		'and it is no failure',
	);
});
