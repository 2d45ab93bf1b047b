import assert from 'node:assert/strict';
import test from 'node:test';
import { AppError, createLog, KeyedLock, ResourceShortage, Semaphore, systemClock } from '../../src/base/index.ts';
import { presentStatus } from '../../src/knowledge/index.ts';
import { moveCounts } from '../../src/knowledge/status.ts';
import { requestTrainings } from '../../src/knowledge/training/request-trainings.ts';
import { Training } from '../../src/knowledge/training/training.ts';
import { queueTraining } from '../../src/knowledge/training/training-policy.ts';
import { WorkLimitExceeded } from '../../src/pool/index.ts';
import { knowledgeBase } from '../store/samples.ts';
import { until } from '../support/until.ts';
import { dueOf, indexTables, jobsOf } from './index-tables.ts';
import { manyChunks, openKnowledgeHarness } from './knowledge-harness.ts';

const HOUR = 3_600_000;

const isTuned = ({ tuned }: { tuned: boolean }) => tuned;

const tuningFails = ({ tuned }: { tuned: boolean }) =>
	tuned ? new AppError('internal_error', 'There is no memory for this.') : undefined;

test('a training that fails finally clears the training time, because the basis does not cover newer documents', async () => {
	await using harness = await openKnowledgeHarness();
	const { knowledge, pool } = harness;
	knowledge.start();
	const base = await harness.newBase();
	await harness.add(base, 'a.md', manyChunks(70, 'amber'));
	await harness.untilTrained(base);
	pool.trainFailure = () => new AppError('internal_error', 'There is no memory for this.');
	await harness.untilProcessed(await harness.add(base, 'b.md', manyChunks(70, 'birch')));
	await until('the training has failed', async () => (await harness.base(base)).training_failures > 0);
	const { status, searchable, trained_at } = presentStatus(await harness.base(base));
	assert.deepEqual([status, searchable, trained_at], ['ready', true, null]);
});

test('a failing training is shown in the status with its cause until a training succeeds, also after a document was indexed', async () => {
	await using harness = await openKnowledgeHarness({ retryMs: 60_000 });
	const { knowledge, pool, store } = harness;
	pool.trainFailure = ({ tuned }) => (tuned ? new WorkLimitExceeded('Training took too long.', undefined) : undefined);
	knowledge.start();
	const base = await harness.newBase();
	const problem = async () => presentStatus(await harness.base(base)).problem;
	await harness.untilProcessed(await harness.add(base, 'a.md', manyChunks(3, 'amber')));
	await until('the training has failed', async () => (await harness.base(base)).training_failures > 0);
	const expected = {
		code: 'unavailable',
		message: 'The last training of the search failed: Training took too long.',
	};
	assert.deepEqual(await problem(), expected);
	await harness.untilProcessed(await harness.add(base, 'b.md', manyChunks(1, 'birch')));
	assert.deepEqual(await problem(), expected);
	pool.trainFailure = () => undefined;
	await store.commit({ jobs: [{ op: 'make_due', kind: 'train' }] });
	await harness.untilTrained(base);
	assert.equal(await problem(), null);
});

test('the failure of a training is not shown after the last document was removed', async () => {
	await using harness = await openKnowledgeHarness({ retryMs: 60_000 });
	const { knowledge, pool } = harness;
	pool.trainFailure = tuningFails;
	knowledge.start();
	const base = await harness.newBase();
	const only = await harness.add(base, 'a.md', manyChunks(2, 'amber'));
	await until('the training has failed', async () => presentStatus(await harness.base(base)).problem !== null);
	await knowledge.documents.remove(base, only, null).commit();
	assert.equal(presentStatus(await harness.base(base)).problem, null);
});

test('a training that always fails is not started again by each new document', async () => {
	await using harness = await openKnowledgeHarness({ retryMs: 60_000 });
	const { knowledge, pool } = harness;
	let attempts = 0;
	pool.trainFailure = (job) => {
		if (job.tuned) attempts++;
		return tuningFails(job);
	};
	knowledge.start();
	const base = await harness.newBase();
	await harness.untilProcessed(await harness.add(base, 'a.md', manyChunks(10, 'amber')));
	await until('the training has failed', async () => (await harness.base(base)).training_failures === 3);
	for (const name of ['b', 'c', 'd']) {
		await harness.untilProcessed(await harness.add(base, name, manyChunks(1, name)));
	}
	const { training_failures, training_asked_at } = await harness.base(base);
	assert.deepEqual([attempts, training_failures], [1, 3]);
	assert.ok(training_asked_at !== null);
	assert.equal(jobsOf(harness.dataDir, 'train'), 1, 'it is tried again later');
	assert.ok((await harness.search(base, 'd7')).length > 0);
});

test('a training that fails at its end leaves no basis', async () => {
	await using harness = await openKnowledgeHarness({ retryMs: 60_000 });
	const { knowledge, pool } = harness;
	pool.trainLatch.close(isTuned);
	knowledge.start();
	const base = await harness.newBase();
	await harness.untilProcessed(await harness.add(base, 'a.md', manyChunks(10, 'amber')));
	await until('a basis has been trained', () => pool.trainLatch.waiting === 1);
	await harness.untilProcessed(await harness.add(base, 'b.md', manyChunks(1, 'amber')));
	pool.foldFailure = () => new AppError('unavailable', 'Folding failed.');
	pool.trainLatch.open();
	await until('the training has failed', async () => (await harness.base(base)).training_failures === 1);
	const { bases, embedded } = indexTables(harness.dataDir);
	assert.deepEqual([bases.length, embedded], [1, 11]);
});

test('a large knowledge base that outgrows its basis gets an untuned basis if tuning fails, and is tuned later', async () => {
	await using harness = await openKnowledgeHarness({ maxSyncTrainingChunks: 10, retryMs: 60_000 });
	const { knowledge, pool, store } = harness;
	knowledge.start();
	const base = await harness.newBase();
	await harness.untilProcessed(await harness.add(base, 'a.md', manyChunks(6, 'amber')));
	await harness.untilTrained(base);
	pool.trainFailure = ({ tuned }) => (tuned ? new WorkLimitExceeded('Training took too long.', undefined) : undefined);
	await harness.untilProcessed(await harness.add(base, 'b.md', manyChunks(8, 'birch')));
	const isDelayed = () => dueOf(harness.dataDir, 'train').some((at) => at > Date.now() + 100_000);
	await until('the tuning is delayed', isDelayed);
	const { tuned_on, training_asked_at, training_failures } = await harness.base(base);
	assert.deepEqual([tuned_on, training_failures], [0, 3]);
	assert.ok(training_asked_at !== null);
	assert.match(presentStatus(await harness.base(base)).problem?.message ?? '', /Training took too long/);
	assert.equal((await store.searchIndex.servingGeneration(base))?.trained_on, 14);
	assert.equal(indexTables(harness.dataDir).bases.length, 1);
	pool.trainFailure = () => undefined;
	await store.commit({ jobs: [{ op: 'make_due', kind: 'train' }] });
	assert.equal((await harness.untilTrained(base)).tuned_on, 14);
});

test('while a tuning is delayed, a knowledge base that outgrows its basis gets an untuned basis at once', async () => {
	await using harness = await openKnowledgeHarness({ maxSyncTrainingChunks: 10, retryMs: 60_000 });
	const { knowledge, pool, store } = harness;
	knowledge.start();
	const base = await harness.newBase();
	await harness.untilProcessed(await harness.add(base, 'a.md', manyChunks(6, 'amber')));
	await harness.untilTrained(base);
	await until('its job is completed', () => jobsOf(harness.dataDir, 'train') === 0);
	const isTunedOf: boolean[] = [];
	pool.trainFailure = ({ tuned }) => {
		isTunedOf.push(tuned);
		return undefined;
	};
	await harness.patch(base, { training_asked_at: 1, training_failures: 5 }, [queueTraining(base, Date.now() + HOUR)]);
	await harness.untilProcessed(await harness.add(base, 'b.md', manyChunks(8, 'birch')));
	await until('it has a basis for all', async () => {
		return (await store.searchIndex.servingGeneration(base))?.trained_on === 14;
	});
	const isDelayed = () => dueOf(harness.dataDir, 'train').some((at) => at > Date.now() + 500_000);
	await until('the tuning is delayed again', isDelayed);
	assert.deepEqual(isTunedOf, [false]);
	assert.equal((await harness.base(base)).training_failures, 5);
});

test('a training that fails for want of disk space waits longer after each failure', async () => {
	await using harness = await openKnowledgeHarness({ retryMs: 100_000 });
	const { knowledge, pool } = harness;
	pool.trainFailure = ({ tuned }) => (tuned ? new ResourceShortage('The disk is full.', undefined) : undefined);
	knowledge.start();
	const base = await harness.newBase();
	await harness.untilProcessed(await harness.add(base, 'a.md', manyChunks(2, 'amber')));
	const isDelayed = () => dueOf(harness.dataDir, 'train').some((at) => at > Date.now() + 61_000);
	await until('it is delayed by more than a minute', isDelayed);
	assert.equal((await harness.base(base)).training_failures, 0);
});

test('postponed trainings are due at the start of the server', async () => {
	await using harness = await openKnowledgeHarness();
	const { knowledge, store } = harness;
	const base = await harness.newBase();
	await store.commit({ jobs: [queueTraining(base, Date.now() + HOUR)] });
	knowledge.start();
	await until('its job has been claimed, and had nothing to do', () => jobsOf(harness.dataDir, 'train') === 0);
});

test('a training during which the process ended twice is not tuned, and is postponed in the end', async () => {
	await using harness = await openKnowledgeHarness();
	const { knowledge, pool, store } = harness;
	knowledge.start();
	const base = await harness.newBase();
	await harness.untilProcessed(await harness.add(base, 'a.md', manyChunks(20, 'amber')));
	await harness.untilTrained(base);
	await harness.untilProcessed(await harness.add(base, 'b.md', manyChunks(1, 'amber')));
	const training = new Training({
		store: store as ConstructorParameters<typeof Training>[0]['store'],
		pool,
		clock: systemClock,
		log: createLog('silent'),
		indexing: new KeyedLock(),
		tunedTrainings: new Semaphore(1, 1),
		retryMs: 1,
		maxSyncTrainingChunks: 100,
	});
	const isTunedOf: boolean[] = [];
	pool.trainFailure = ({ tuned }) => {
		isTunedOf.push(tuned);
		return undefined;
	};
	const perform = async (attempts: number) => {
		await harness.patch(base, { training_asked_at: 1, tuned_on: 0 });
		const job = { id: 'job_1', kind: 'train', ref: base, group: base, due_at: 0, attempts };
		await training.perform(job, new AbortController().signal);
	};
	await assert.rejects(perform(5), /process ended/);
	await perform(3);
	assert.deepEqual(isTunedOf, [false]);
	const { training_asked_at, training_failures, tuned_on } = await harness.base(base);
	assert.deepEqual([training_asked_at, training_failures, tuned_on], [1, 1, 0], 'its tuning is still requested');
	assert.equal((await store.searchIndex.servingGeneration(base))?.trained_on, 21);

	const delayed = queueTraining(base, Date.now() + HOUR);
	await harness.patch(base, { documents_pending: 1 }, [delayed]);
	assert.ok(delayed.op === 'enqueue');
	await training.perform({ ...delayed.job, attempts: 1 }, new AbortController().signal);
	const [due = 0, ...others] = dueOf(harness.dataDir, 'train');
	assert.ok(due < Date.now() + HOUR / 2, 'it waits for the documents, not for another delay');
	assert.deepEqual([others, isTunedOf.length], [[], 1]);
});

test('at the start of the server a training that was given up is requested again, and trainings run in the order of their requests', async () => {
	await using harness = await openKnowledgeHarness();
	const { store } = harness;
	const [given, fresh] = [await harness.newBase(), await harness.newBase()];
	const indexed = { generation: 'gen_1', embedder: 'builtin', documents_total: 1 };
	await harness.patch(given, { ...indexed, training_asked_at: 5 });
	const request = (signal: AbortSignal) => requestTrainings({ store, clock: systemClock }, signal);
	await assert.rejects(request(AbortSignal.abort()), { name: 'AbortError' });
	assert.equal(jobsOf(harness.dataDir, 'train'), 0);
	for (let start = 0; start < 2; start++) await request(new AbortController().signal);
	assert.equal((await harness.base(given)).training_asked_at, 5);
	const record = { ...knowledgeBase(indexed), id: fresh, version: 1 };
	const { jobs } = moveCounts(record, { chunks: 50 }, Date.now() + 1);
	await store.commit({ jobs });
	await until('it is due', () => Date.now() > (dueOf(harness.dataDir, 'train').at(-1) ?? 0));
	const claimed = await store.jobs.claim('train', 10, 1000);
	assert.deepEqual(
		claimed.map(({ ref }) => ref),
		[given, fresh],
	);
});
