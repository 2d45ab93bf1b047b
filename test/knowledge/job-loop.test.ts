import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createLog, deferred, newId } from '../../src/base/index.ts';
import { type JobHandler, JobLoop, retryDelay, shortageDelay } from '../../src/knowledge/job-loop.ts';
import type { Job } from '../../src/store/index.ts';
import { until } from '../support/until.ts';

/** A queue that returns each job once, in order. */
function queueOf(jobs: Record<string, number>) {
	const waiting = Object.entries(jobs).flatMap(([kind, count]) =>
		Array.from({ length: count }, (): Job => {
			const id = newId('job');
			return { id, kind, ref: id, group: 'g', due_at: 0, attempts: 1 };
		}),
	);
	const claim = async (kind: string, limit: number) => {
		const taken = waiting.filter((job) => job.kind === kind).slice(0, limit);
		for (const job of taken) waiting.splice(waiting.indexOf(job), 1);
		return taken;
	};
	return { jobs: { claim }, waiting };
}

/** A handler whose jobs run until the test releases them. */
class HeldWork implements JobHandler {
	readonly leaseMs = 1;
	readonly kind: string;
	readonly concurrencyLimit: number;
	readonly inHand: Job[] = [];
	readonly gate = deferred<void>();

	constructor(kind: string, harness: number) {
		this.kind = kind;
		this.concurrencyLimit = harness;
	}

	async perform(job: Job, signal: AbortSignal): Promise<void> {
		this.inHand.push(job);
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
	await until('all short ones are done', () => short.inHand.length === 9);
	assert.equal(long.inHand.length, 2);
	long.gate.resolve();
	await until('the long ones are done as well', () => long.inHand.length === 5);
});

test('shutdown aborts running jobs at once and counts no failure', async () => {
	const work = new HeldWork('long', 2);
	const loop = new JobLoop({ store: queueOf({ long: 3 }), log, handlers: [work], retryMs: 1 });
	loop.start();
	await until('two are in hand', () => work.inHand.length === 2);
	await loop[Symbol.asyncDispose]();
	assert.equal(work.inHand.length, 2, 'and takes no more');
});

test('a job that cannot be completed stays claimed and is retried without end', async () => {
	const told: number[] = [];
	let performed = 0;
	const work: JobHandler = {
		kind: 'ill',
		concurrencyLimit: 1,
		leaseMs: 1,
		async perform() {
			if (++performed <= 2000) throw new Error('It does not work.');
		},
		async afterFailure(_job, _error, failures) {
			told.push(failures);
			throw new Error('The disk is full.');
		},
	};
	await using loop = new JobLoop({ store: queueOf({ ill: 1 }), log, handlers: [work], retryMs: 0 });
	loop.start();
	await until('it is done', () => performed === 2001);
	assert.equal(told.length, 2000);
	assert.ok(told.every((failures) => failures === 1));
});

test('counts the failures of a job over its attempts', async () => {
	const told: number[] = [];
	const store = queueOf({ ill: 1 });
	const work: JobHandler = {
		kind: 'ill',
		concurrencyLimit: 1,
		leaseMs: 1,
		async perform() {
			throw new Error('It does not work.');
		},
		async afterFailure(job, _error, failures) {
			told.push(failures);
			if (failures < 4) store.waiting.push(job);
		},
	};
	await using loop = new JobLoop({ store, log, handlers: [work], retryMs: 1 });
	loop.start();
	await until('it has failed four times', () => told.length === 4);
	assert.deepEqual(told, [1, 2, 3, 4]);
});

test('a job that is claimed again before its run has ended runs again after it', async () => {
	const store = queueOf({ ill: 1 });
	const runs: string[] = [];
	const work: JobHandler = {
		kind: 'ill',
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

test('retries wait a quarter of an hour at most, and a minute at most after a shortage of the system', () => {
	const seconds = (delay: typeof retryDelay) =>
		[1, 2, 3, 4, 5, 9, 1000].map((failures) => delay(5_000, failures) / 1000);
	assert.deepEqual(seconds(retryDelay), [5, 10, 20, 40, 80, 900, 900]);
	assert.deepEqual(seconds(shortageDelay), [5, 10, 20, 40, 60, 60, 60]);
});
