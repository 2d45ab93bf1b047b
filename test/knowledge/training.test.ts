import assert from 'node:assert/strict';
import test from 'node:test';
import { systemClock } from '../../src/base/index.ts';
import { presentKnowledgeBase, presentStatus } from '../../src/knowledge/index.ts';
import { requestTrainings } from '../../src/knowledge/training/request-trainings.ts';
import { queueTraining } from '../../src/knowledge/training/training-policy.ts';
import { until } from '../support/until.ts';
import { indexTables, jobsOf } from './index-tables.ts';
import { manyChunks, openKnowledgeHarness } from './knowledge-harness.ts';

const isTuned = ({ tuned }: { tuned: boolean }) => tuned;

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
	await harness.knowledge.documents.remove(base, await harness.add(base, 'gone.txt', 'Gone.'), null);

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
	const { knowledge, pool, store } = harness;
	knowledge.start();
	const base = await harness.newBase();
	await harness.add(base, 'a.md', manyChunks(70, 'amber'));
	await harness.untilTrained(base);
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
	knowledge.start();
	const base = await harness.newBase();
	await harness.add(base, 'a.md', manyChunks(70, 'amber'));
	await harness.untilTrained(base);
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
	const { knowledge, pool, store } = harness;
	knowledge.start();
	const base = await harness.newBase();
	await harness.add(base, 'a.md', manyChunks(70, 'amber'));
	await harness.untilTrained(base);
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

test('a tuned knowledge base that changes by less than a twentieth keeps its basis and its training time', async () => {
	await using harness = await openKnowledgeHarness();
	const { knowledge, store } = harness;
	knowledge.start();
	const base = await harness.newBase();
	const first = await harness.add(base, 'a.md', manyChunks(1, 'amber'));
	await harness.add(base, 'b.md', manyChunks(50, 'amber'));
	await harness.untilProcessed(first);
	const { trained_at } = presentStatus(await harness.untilTrained(base));
	const { basis } = (await store.searchIndex.servingGeneration(base)) ?? assert.fail();
	await harness.untilProcessed(await harness.add(base, 'c.md', manyChunks(1, 'amber')));
	await knowledge.documents.remove(base, first, null);
	const record = await harness.base(base);
	assert.deepEqual([record.tuned_on, record.changed_chunks], [51, 2]);
	assert.equal(presentStatus(record).trained_at, trained_at);
	assert.equal((await store.searchIndex.servingGeneration(base))?.basis, basis);
});

test('removing documents makes a training due', async () => {
	await using harness = await openKnowledgeHarness();
	const { knowledge, store } = harness;
	knowledge.start();
	const base = await harness.newBase();
	const removed = await harness.add(base, 'a.md', manyChunks(4, 'amber'));
	await harness.add(base, 'b.md', manyChunks(20, 'birch'));
	await harness.untilProcessed(removed);
	await harness.untilTrained(base);
	await knowledge.documents.remove(base, removed, null);
	assert.equal(presentStatus(await harness.base(base)).trained_at, null);
	await harness.untilTrained(base);
	assert.equal((await store.searchIndex.servingGeneration(base))?.trained_on, 20);
});

test('a document is searchable while the tuned training runs, which then chooses the semantic weight', async () => {
	await using harness = await openKnowledgeHarness();
	const { knowledge, pool } = harness;
	pool.trainLatch.close(isTuned);
	knowledge.start();
	const base = await harness.newBase();
	await harness.untilProcessed(await harness.add(base, 'a.md', manyChunks(60, 'amber')));
	await until('the basis has been tuned', () => pool.trainLatch.waiting === 1);
	const { status, searchable, trained_at } = presentStatus(await harness.base(base));
	assert.deepEqual([status, searchable, trained_at], ['ready', true, null]);
	assert.ok((await harness.search(base, 'amber7')).length > 0);
	const settings = async () => presentKnowledgeBase(await harness.base(base)).search_settings;
	assert.deepEqual(await settings(), { hybrid: true, semantic_weight: 0.5, semantic_weight_source: 'auto' });
	pool.trainLatch.open();
	const { tuned_on, tuned_weight } = await harness.untilTrained(base);
	assert.equal(tuned_on, 60);
	assert.ok(tuned_weight === 0.7 || tuned_weight === 0.35, `${tuned_weight}`);
	assert.deepEqual(await settings(), { hybrid: true, semantic_weight: tuned_weight, semantic_weight_source: 'auto' });
});

test('a tuned training waits until the queue of documents is empty', async () => {
	await using harness = await openKnowledgeHarness();
	const { knowledge, pool, store } = harness;
	knowledge.start();
	const base = await harness.newBase();
	const tuned: number[] = [];
	pool.trainFailure = (job) => {
		if (job.tuned) tuned.push(pool.parsed);
		return undefined;
	};
	pool.pause(({ file_name }) => file_name === 'last.txt');
	await harness.add(base, 'last.txt', 'The last kettle.');
	await until('the last document waits', () => pool.waiting === 1);
	for (const name of ['a', 'b', 'c']) await harness.untilProcessed(await harness.add(base, name, `Kettle ${name}.`));
	assert.equal(jobsOf(harness.dataDir, 'train'), 0);
	pool.resume();
	await harness.untilTrained(base);
	assert.deepEqual(tuned, [4], 'one training, after the last document');
	assert.equal((await store.searchIndex.servingGeneration(base))?.trained_on, 4);
});

test('a basis that was trained beside an older index does not replace the newer basis', async () => {
	await using harness = await openKnowledgeHarness();
	const { knowledge, pool, store } = harness;
	pool.trainLatch.close(isTuned);
	knowledge.start();
	const base = await harness.newBase();
	await harness.untilProcessed(await harness.add(base, 'a.md', manyChunks(4, 'amber')));
	await until('a basis of four chunks has been tuned', () => pool.trainLatch.waiting === 1);
	await harness.untilProcessed(await harness.add(base, 'b.md', manyChunks(20, 'birch')));
	assert.equal((await store.searchIndex.servingGeneration(base))?.trained_on, 24, 'the untuned basis knows all words');
	pool.trainLatch.open();
	const { tuned_on } = await harness.untilTrained(base);
	assert.equal(tuned_on, 24);
	const { embedded, bases } = indexTables(harness.dataDir);
	assert.deepEqual([embedded, bases.length], [24, 1]);
	assert.deepEqual(harness.logLines, [], 'and it is no failure');
});

test('requests the training of a knowledge base of an earlier version, once', async () => {
	await using harness = await openKnowledgeHarness();
	const { knowledge, store } = harness;
	knowledge.start();
	const base = await harness.newBase();
	await harness.add(base, 'a.md', manyChunks(10, 'amber'));
	const { trained_at } = await harness.untilTrained(base);
	const request = () => requestTrainings({ store, clock: systemClock }, new AbortController().signal);
	await request();
	assert.equal((await harness.base(base)).training_asked_at, null, 'a tuned one needs none');
	await harness.patch(base, { tuned_on: 0, tuned_weight: null });
	await request();
	const trained = await until('it is tuned', async () => {
		const record = await harness.base(base);
		return record.tuned_on > 0 && record;
	});
	assert.ok(trained.trained_at && trained_at && trained.trained_at > trained_at);
	assert.equal(trained.training_asked_at, null);
});

test('a request is cleared where nothing is left to train on', async () => {
	await using harness = await openKnowledgeHarness();
	const { knowledge } = harness;
	knowledge.start();
	const base = await harness.newBase();
	const only = await harness.add(base, 'a.md', manyChunks(2, 'amber'));
	await harness.untilTrained(base);
	await knowledge.documents.remove(base, only, null);
	await harness.patch(base, { training_asked_at: 1 }, [queueTraining(base, 0)]);
	await until('the training has nothing to do', () => jobsOf(harness.dataDir, 'train') === 0);
	assert.equal((await harness.base(base)).training_asked_at, null);
});

test('single documents that are added during a tuned training do not start it again', async () => {
	await using harness = await openKnowledgeHarness();
	const { knowledge, pool, store } = harness;
	let attempts = 0;
	pool.trainFailure = ({ tuned }) => {
		if (tuned) attempts++;
		return undefined;
	};
	pool.trainLatch.close(isTuned);
	knowledge.start();
	const base = await harness.newBase();
	await harness.untilProcessed(await harness.add(base, 'a.md', manyChunks(40, 'amber')));
	await until('a basis has been trained', () => pool.trainLatch.waiting === 1);
	const before = await store.searchIndex.servingGeneration(base);
	for (const name of ['b', 'c']) await harness.untilProcessed(await harness.add(base, name, manyChunks(1, 'amber')));
	assert.equal((await store.searchIndex.servingGeneration(base))?.basis, before?.basis);
	pool.trainLatch.open();
	const { tuned_on } = await harness.untilTrained(base);
	assert.deepEqual([attempts, tuned_on], [1, 40]);
	assert.equal(indexTables(harness.dataDir).embedded, 42);
});

test('a knowledge base that changes during its training waits for its next one behind the others', async () => {
	await using harness = await openKnowledgeHarness();
	const { knowledge, pool } = harness;
	const generations: Array<string | null> = [];
	pool.trainFailure = ({ tuned, generation }) => {
		if (tuned) generations.push(generation);
		return undefined;
	};
	pool.trainLatch.close(isTuned);
	knowledge.start();
	const [one, other] = [await harness.newBase(), await harness.newBase()];
	await harness.untilProcessed(await harness.add(one, 'a.md', manyChunks(4, 'amber')));
	await until('a basis has been trained', () => pool.trainLatch.waiting === 1);
	await harness.untilProcessed(await harness.add(one, 'b.md', manyChunks(1, 'birch')));
	await harness.untilProcessed(await harness.add(other, 'c.md', manyChunks(4, 'cedar')));
	pool.trainLatch.open();
	const ids = [];
	for (const base of [one, other]) ids.push((await harness.untilTrained(base)).generation);
	assert.deepEqual(generations, [ids[0], ids[1], ids[0]]);
});
