import assert from 'node:assert/strict';
import test from 'node:test';
import { AppError, newId } from '../../src/base/index.ts';
import { presentStatus } from '../../src/knowledge/index.ts';
import { expectVersion } from '../../src/store/index.ts';
import { until } from '../support/until.ts';
import { indexTables, jobsOf } from './index-tables.ts';
import { manyChunks, openKnowledgeHarness } from './knowledge-harness.ts';

test('indexes and finds documents while a large knowledge base is trained again, and the new basis has them too', async () => {
	await using harness = await openKnowledgeHarness();
	const { knowledge, pool, store } = harness;
	knowledge.start();
	const base = await harness.newBase();
	const trainedAt = async () => presentStatus(await harness.base(base)).trained_at;
	await harness.untilProcessed(await harness.add(base, 'a.md', manyChunks(70, 'amber')));
	const before = await trainedAt();
	assert.ok(before);
	const first = await store.searchIndex.servingGeneration(base);
	assert.equal(first?.chunk_count, 70);

	pool.trainLatch.close();
	await harness.untilProcessed(await harness.add(base, 'b.md', manyChunks(70, 'birch')));
	await until('a basis for all of it has been trained', () => pool.trainLatch.waiting === 1);
	assert.equal((await store.searchIndex.servingGeneration(base))?.basis, first.basis, 'the old one serves');
	const { status, ...due } = presentStatus(await harness.base(base));
	assert.deepEqual([status, due.trained_at], ['ready', null], 'all is searchable, but a training is under way');
	const late = await harness.untilProcessed(await harness.add(base, 'late.txt', 'The late kettle is made of larch.'));
	assert.equal(late.status, 'indexed', 'it does not wait for the training');
	assert.match((await harness.search(base, 'What is the late kettle made of?'))[0] ?? '', /larch/);
	await harness.knowledge.documents.remove(base, await harness.add(base, 'gone.txt', 'Gone.'), null);

	pool.trainLatch.open();
	const trained = await until('the new basis serves', async () => {
		const serving = await store.searchIndex.servingGeneration(base);
		return serving && serving.basis !== first.basis && serving;
	});
	assert.deepEqual([trained.id, trained.trained_on, trained.chunk_count], [first.id, 140, 141]);
	const after = await trainedAt();
	assert.ok(after && after > before, `${after}`);
	const { chunks, embedded, vectors } = indexTables(harness.dataDir);
	assert.deepEqual([chunks, embedded, vectors.length], [141, 141, 1]);
	assert.match((await harness.search(base, 'What is the late kettle made of?'))[0] ?? '', /larch/);
});

test('trains a knowledge base again by itself if it doubles during a training', async () => {
	await using harness = await openKnowledgeHarness();
	const { knowledge, pool, store } = harness;
	knowledge.start();
	const base = await harness.newBase();
	await harness.untilProcessed(await harness.add(base, 'a.md', manyChunks(70, 'amber')));
	pool.trainLatch.close();
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
	knowledge.start();
	const base = await harness.newBase();
	await harness.untilProcessed(await harness.add(base, 'a.md', manyChunks(70, 'amber')));
	pool.trainLatch.close();
	await harness.untilProcessed(await harness.add(base, 'b.md', manyChunks(70, 'birch')));
	await until('a basis has been trained', () => pool.trainLatch.waiting === 1);
	const before = await store.searchIndex.servingGeneration(base);
	const { rebuilding } = await knowledge.reindex(base).commit();
	await until('the new generation is filled', async () => {
		return (await store.searchIndex.generation(rebuilding as string))?.chunk_count === 140;
	});
	assert.equal(pool.trainLatch.waiting, 1, 'its training waits: threads are left to index documents');
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

test('a knowledge base that is deleted during a training leaves no data', async () => {
	await using harness = await openKnowledgeHarness();
	const { knowledge, pool, store } = harness;
	knowledge.start();
	const base = await harness.newBase();
	await harness.untilProcessed(await harness.add(base, 'a.md', manyChunks(70, 'amber')));
	pool.trainLatch.close();
	await harness.untilProcessed(await harness.add(base, 'b.md', manyChunks(70, 'birch')));
	await until('a basis has been trained', () => pool.trainLatch.waiting === 1);
	await store.commit({ write: [{ op: 'erase_knowledge_base', id: base }] });
	pool.trainLatch.open();
	await until('the training has ended', () => pool.trainLatch.waiting === 0);
	const next = await harness.newBase();
	await harness.untilProcessed(await harness.add(next, 'next.txt', 'The next kettle is green.'));
	const { generations, bases, orphans } = indexTables(harness.dataDir);
	assert.deepEqual([generations.length, bases.length, orphans], [1, 1, 0]);
	assert.deepEqual(
		harness.logLines.map(({ msg }) => msg),
		[],
		'and it is no failure',
	);
});

test('a knowledge base that grows too little for another training keeps its training time', async () => {
	await using harness = await openKnowledgeHarness();
	harness.knowledge.start();
	const base = await harness.newBase();
	await harness.untilProcessed(await harness.add(base, 'a.md', manyChunks(110, 'amber')));
	const { trained_at } = presentStatus(await harness.base(base));
	assert.ok(trained_at);
	await harness.untilProcessed(await harness.add(base, 'b.md', manyChunks(2, 'amber')));
	assert.equal(presentStatus(await harness.base(base)).trained_at, trained_at);
});

test('a requested training that is no longer due restores the time of the former training', async () => {
	await using harness = await openKnowledgeHarness();
	const { knowledge, store } = harness;
	knowledge.start();
	const base = await harness.newBase();
	await harness.untilProcessed(await harness.add(base, 'a.md', manyChunks(110, 'amber')));
	const { trained_at } = presentStatus(await harness.base(base));
	const record = await harness.base(base);
	const set = { training_asked_at: 1 };
	const job = { id: newId('job'), kind: 'train', ref: base, group: base, due_at: 0 };
	const { outcome } = await store.commit({
		expect: [expectVersion('knowledge_bases', record)],
		write: [{ op: 'patch', kind: 'knowledge_bases', id: base, set }],
		jobs: [{ op: 'enqueue', job }],
	});
	assert.equal(outcome, 'committed');
	assert.equal(presentStatus(await harness.base(base)).trained_at, null);
	await harness.untilProcessed(await harness.add(base, 'b.md', manyChunks(2, 'amber')));
	await until('the training has nothing to do', () => jobsOf(harness.dataDir, 'train') === 0);
	assert.equal(presentStatus(await harness.base(base)).trained_at, trained_at);
});

test('a training that fails finally clears the training time, because the basis does not cover newer documents', async () => {
	await using harness = await openKnowledgeHarness();
	const { knowledge, pool } = harness;
	knowledge.start();
	const base = await harness.newBase();
	await harness.untilProcessed(await harness.add(base, 'a.md', manyChunks(70, 'amber')));
	pool.trainFailure = () => new AppError('internal_error', 'There is no memory for this.');
	await harness.untilProcessed(await harness.add(base, 'b.md', manyChunks(70, 'birch')));
	await until('the training was given up', () => jobsOf(harness.dataDir, 'train') === 0);
	const { status, searchable, trained_at } = presentStatus(await harness.base(base));
	assert.deepEqual([status, searchable, trained_at], ['ready', true, null]);
});
