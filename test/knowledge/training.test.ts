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
	await knowledge.documents.remove(base, first, null).commit();
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
	await knowledge.documents.remove(base, removed, null).commit();
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
	await knowledge.documents.remove(base, only, null).commit();
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
