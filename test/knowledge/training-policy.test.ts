import assert from 'node:assert/strict';
import test from 'node:test';
import { AppError } from '../../src/base/index.ts';
import { moveCounts } from '../../src/knowledge/status.ts';
import {
	failureOf,
	failuresAfter,
	hasOutgrownBasis,
	hasUnknownWords,
	isTrainingDue,
	isTuningExpected,
	trainingDelay,
	UNTRAINED,
} from '../../src/knowledge/training/training-policy.ts';
import { WorkLimitExceeded } from '../../src/pool/index.ts';
import type { JobWrite, KnowledgeBaseRecord } from '../../src/store/index.ts';
import { knowledgeBase } from '../store/samples.ts';

const NOW = 1000;

const tuned = (given: Partial<KnowledgeBaseRecord> = {}): KnowledgeBaseRecord => ({
	...knowledgeBase({ generation: 'gen_1', embedder: 'builtin', documents_total: 10, trained_at: 1, tuned_on: 100 }),
	version: 1,
	...given,
});

test('a training is due when more than a twentieth of the chunks has changed, or none was tuned', () => {
	assert.equal(isTrainingDue({ tuned_on: 0, changed_chunks: 0 }), true);
	assert.equal(isTrainingDue({ tuned_on: 100, changed_chunks: 5 }), false);
	assert.equal(isTrainingDue({ tuned_on: 100, changed_chunks: 6 }), true);
});

test('many unknown words make a training due after a smaller change', () => {
	assert.equal(hasUnknownWords({ tuned_on: 100, changed_chunks: 2 }, 0.3), true);
	assert.equal(hasUnknownWords({ tuned_on: 100, changed_chunks: 2 }, 0.2), false);
	assert.equal(hasUnknownWords({ tuned_on: 100, changed_chunks: 1 }, 1), false);
	assert.equal(hasOutgrownBasis({ chunk_count: 149, trained_on: 100 }), false);
	assert.equal(hasOutgrownBasis({ chunk_count: 150, trained_on: 100 }), true);
});

test('the commit that empties the queue requests the training for all changes together', () => {
	const first = moveCounts(tuned({ documents_pending: 2 }), { pending: -1, chunks: 4 }, NOW);
	assert.deepEqual([first.next.changed_chunks, first.next.training_asked_at, first.jobs], [4, null, []]);
	const last = moveCounts(first.next, { pending: -1, chunks: 4 }, NOW);
	assert.deepEqual([last.next.changed_chunks, last.next.training_asked_at], [8, NOW]);
	const [job, ...others] = last.jobs;
	assert.ok(job?.op === 'enqueue' && job.unless_queued, 'a training that waits or runs keeps its job');
	assert.deepEqual([job.job.ref, job.job.due_at, others], [last.next.id, NOW, []]);
	assert.deepEqual(moveCounts(tuned(), { chunks: 5 }, NOW).jobs, [], 'too little has changed');
});

test('a request keeps its time until a training answers it', () => {
	const { next, jobs } = moveCounts(tuned({ training_asked_at: 7 }), { chunks: 1 }, NOW);
	assert.deepEqual([next.training_asked_at, jobs.length], [7, 1]);
});

test('a training that has failed waits longer after each failure, twelve hours at most', () => {
	assert.deepEqual(
		[0, 1, 2, 3, 10, 100].map((failures) => trainingDelay(failures) / 1000),
		[0, 5, 10, 20, 2_560, 43_200],
	);
	assert.deepEqual(
		[0, 1, 10_000, 3_600_000, 5 * 3_600_000].map((duration) => trainingDelay(2, 5_000, duration) / 1000),
		[10, 10, 40, 14_400, 43_200],
		'and four times as long as the attempt took',
	);
	const { jobs } = moveCounts(tuned({ training_failures: 3 }), { chunks: 50 }, NOW);
	assert.deepEqual(
		jobs.map((write) => write.op === 'enqueue' && write.job.due_at),
		[NOW + 20_000],
	);
});

test('a failure that would repeat counts as three, and an interruption after three failures as ten', () => {
	const tooLarge = new WorkLimitExceeded('Training took more memory than a thread has.', undefined);
	const kinds = [new Error('x'), new AppError('unavailable'), tooLarge, new AppError('model_error')].map(failureOf);
	assert.deepEqual(kinds, ['temporary', 'temporary', 'permanent', 'permanent']);
	const after = (failures: number) =>
		(['temporary', 'permanent', 'interruption'] as const).map((kind) => failuresAfter(failures, kind));
	assert.deepEqual([0, 3, 20].map(after), [
		[1, 3, 1],
		[4, 4, 10],
		[21, 21, 21],
	]);
});

test('the removal of the last document and another index end a training, its failures and its delay', () => {
	const failed = { training_asked_at: 7, training_failures: 12 };
	const ends = (jobs: JobWrite[]) => jobs.map((write) => (write.op === 'complete_all' ? write.kind : write.op));
	const empty = moveCounts(tuned({ ...failed, documents_total: 1 }), { total: -1 }, NOW);
	assert.deepEqual([empty.next.training_asked_at, empty.next.training_failures], [null, 0]);
	assert.ok(empty.write.op === 'patch' && empty.write.kind === 'knowledge_bases');
	assert.deepEqual([empty.write.set.training_asked_at, empty.write.set.training_failures], [null, 0]);
	assert.deepEqual(ends(empty.jobs), ['train']);
	const replaced = moveCounts(tuned(failed), {}, NOW, { generation: 'gen_2', ...UNTRAINED });
	assert.deepEqual([replaced.next.training_asked_at, replaced.next.training_failures], [NOW, 0]);
	assert.deepEqual(ends(replaced.jobs), ['train', 'enqueue'], 'the delayed job does not replace the new one');
	assert.deepEqual(ends(moveCounts(tuned(failed), {}, NOW, { generation: 'gen_1' }).jobs), ['enqueue']);
});

test('a tuned basis is expected from its request on, until its training has failed three times', () => {
	assert.equal(isTuningExpected({ training_asked_at: null, training_failures: 0 }), false);
	assert.equal(isTuningExpected({ training_asked_at: 7, training_failures: 2 }), true);
	assert.equal(isTuningExpected({ training_asked_at: 7, training_failures: 3 }), false);
});

test('no training is requested during a rebuild, for vectors of a provider, or without documents', () => {
	for (const given of [
		{ rebuilding: 'gen_2' },
		{ embedder: 'stand-in/first' },
		{ generation: null },
		{ documents_total: 1, documents_failed: 1 },
	]) {
		const { next, jobs } = moveCounts(tuned(given), { chunks: 50 }, NOW);
		assert.deepEqual([next.training_asked_at, jobs], [null, []], JSON.stringify(given));
	}
});
