import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createLog, deferred, newId } from '../../src/base/index.ts';
import { type JobHandler, JobLoop, retryDelay, shortageDelay } from '../../src/knowledge/job-loop.ts';
import type { Commit, CommitOutcome, Job, JobWrite } from '../../src/store/index.ts';
import { until } from '../support/until.ts';

/** A queue that returns each job once, in order. */
function queueOf(jobs: Record<string, number>) {
	const waiting = Object.entries(jobs).flatMap(([kind, count]) =>
		Array.from({ length: count }, (): Job => {
			const id = newId('job');
			return { id, kind, ref: id, group: 'g', due_at: 0, attempts: 1 };
		}),
	);
	const claimed = new Set<string>();
	const claim = async (kind: string, limit: number) => {
		const taken = waiting.filter((job) => job.kind === kind).slice(0, limit);
		for (const job of taken) {
			waiting.splice(waiting.indexOf(job), 1);
			claimed.add(job.id);
		}
		return taken;
	};
	const written: JobWrite[] = [];
	return {
		jobs: { claim, isClaimed: async (id: string) => claimed.has(id) },
		commit: async ({ jobs = [] }: Commit): Promise<CommitOutcome> => {
			written.push(...jobs);
			for (const write of jobs) if (write.op === 'postpone') claimed.delete(write.id);
			return { outcome: 'committed', seqs: [] };
		},
		waiting,
		/** The writes of the loop and its handlers. */
		written,
	};
}

/** A handler whose jobs run until the test releases them. */
class HeldWork implements JobHandler {
	readonly leaseMs = 1;
	readonly kind: string;
	readonly concurrencyLimit: number;
	readonly started: Job[] = [];
	readonly gate = deferred<void>();

	constructor(kind: string, concurrencyLimit: number) {
		this.kind = kind;
		this.concurrencyLimit = concurrencyLimit;
	}

	async perform(job: Job, signal: AbortSignal): Promise<void> {
		this.started.push(job);
		const aborted = deferred<never>();
		const abort = () => aborted.reject(signal.reason);
		signal.addEventListener('abort', abort);
		await Promise.race([this.gate.promise, aborted.promise]).finally(() => signal.removeEventListener('abort', abort));
	}

	async afterFailure(): Promise<void> {
		assert.fail('nothing fails here');
	}
}

const log = createLog('silent');

test('long jobs of one kind do not block jobs of another kind', async () => {
	const long = new HeldWork('long', 2);
	const short = new HeldWork('short', 3);
	short.gate.resolve();
	const store = queueOf({ long: 5, short: 9 });
	await using loop = new JobLoop({ store, log, handlers: [long, short], retryMs: 1 });
	loop.start();
	await until('all short ones are done', () => short.started.length === 9);
	assert.equal(long.started.length, 2);
	long.gate.resolve();
	await until('the long ones are done as well', () => long.started.length === 5);
});

test('shutdown aborts running jobs at once, counts no failure, and gives their claims back', async () => {
	const work = new HeldWork('long', 2);
	const store = queueOf({ long: 3 });
	const loop = new JobLoop({ store, log, handlers: [work], retryMs: 1 });
	loop.start();
	await until('two run', () => work.started.length === 2);
	await loop[Symbol.asyncDispose]();
	assert.equal(work.started.length, 2, 'and claims no more');
	assert.deepEqual(
		store.written,
		work.started.map(({ id }) => ({ op: 'give_back', id })),
	);
});

test('a job that cannot be completed stays claimed and is retried without end', async () => {
	const failureCounts: number[] = [];
	let performed = 0;
	const work: JobHandler = {
		kind: 'failing',
		concurrencyLimit: 1,
		leaseMs: 1,
		async perform() {
			if (++performed <= 2000) throw new Error('It does not work.');
		},
		async afterFailure(_job, _error, failures) {
			failureCounts.push(failures);
			throw new Error('The disk is full.');
		},
	};
	await using loop = new JobLoop({ store: queueOf({ failing: 1 }), log, handlers: [work], retryMs: 0 });
	loop.start();
	await until('it is done', () => performed === 2001);
	assert.equal(failureCounts.length, 2000);
	assert.ok(failureCounts.every((failures) => failures === 1));
});

test('counts the failures of a job over its attempts', async () => {
	const failureCounts: number[] = [];
	const store = queueOf({ failing: 1 });
	const work: JobHandler = {
		kind: 'failing',
		concurrencyLimit: 1,
		leaseMs: 1,
		async perform() {
			throw new Error('It does not work.');
		},
		async afterFailure(job, _error, failures) {
			failureCounts.push(failures);
			if (failures < 4) store.waiting.push(job);
		},
	};
	await using loop = new JobLoop({ store, log, handlers: [work], retryMs: 1 });
	loop.start();
	await until('it has failed four times', () => failureCounts.length === 4);
	assert.deepEqual(failureCounts, [1, 2, 3, 4]);
});

test('a job that is claimed again before its run has ended runs again after it', async () => {
	const store = queueOf({ failing: 1 });
	const runs: string[] = [];
	const work: JobHandler = {
		kind: 'failing',
		concurrencyLimit: 2,
		leaseMs: 1,
		async perform() {
			runs.push('start');
			if (runs.length === 1) throw new Error('It does not work.');
		},
		async afterFailure(job) {
			store.waiting.push(job);
			loop.wake();
			await until('it is claimed again', () => store.waiting.length === 0);
			runs.push('end');
		},
	};
	const loop = new JobLoop({ store, log, handlers: [work], retryMs: 1 });
	loop.start();
	await until('it has run twice', () => runs.length === 3);
	assert.deepEqual(runs, ['start', 'end', 'start']);
	await loop[Symbol.asyncDispose]();
});

test('a job that is claimed again after its lease does not run again if its run has postponed it since', async () => {
	const store = queueOf({ slow: 1 });
	const runs: string[] = [];
	let hasEnded = false;
	const work: JobHandler = {
		kind: 'slow',
		concurrencyLimit: 2,
		leaseMs: 1,
		async perform(job) {
			runs.push(job.id);
			if (runs.length > 1) return;
			store.waiting.push(job);
			loop.wake();
			await until('it is claimed again', () => store.waiting.length === 0);
			await store.commit({ jobs: [{ op: 'postpone', id: job.id, due_at: Date.now() + 60_000 }] });
			hasEnded = true;
		},
		async afterFailure() {
			assert.fail('nothing fails here');
		},
	};
	const loop = new JobLoop({ store, log, handlers: [work], retryMs: 1 });
	loop.start();
	await until('it has been postponed', () => hasEnded);
	store.waiting.push({ id: 'job_next', kind: 'slow', ref: 'r', group: 'g', due_at: 0, attempts: 1 });
	loop.wake();
	await until('the next job has run', () => runs.includes('job_next'));
	await loop[Symbol.asyncDispose]();
	assert.deepEqual(runs.slice(1), ['job_next']);
});

test('retries wait a quarter of an hour at most, and a minute at most after a shortage of the system', () => {
	const seconds = (delay: typeof retryDelay) =>
		[1, 2, 3, 4, 5, 9, 1000].map((failures) => delay(5_000, failures) / 1000);
	assert.deepEqual(seconds(retryDelay), [5, 10, 20, 40, 80, 900, 900]);
	assert.deepEqual(seconds(shortageDelay), [5, 10, 20, 40, 60, 60, 60]);
});
