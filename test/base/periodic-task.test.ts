import assert from 'node:assert/strict';
import { test } from 'node:test';
import { deferred, PeriodicTask } from '../../src/base/index.ts';
import { until } from '../support/until.ts';

test('runs at the start and after each interval, also after a failure', async () => {
	let begun = 0;
	const failures: unknown[] = [];
	await using rounds = new PeriodicTask({
		intervalMs: 5,
		async run() {
			if (++begun === 2) throw new Error('the second');
		},
		onFailure: (error) => void failures.push((error as Error).message),
	});
	rounds.start();
	assert.equal(begun, 1);
	await until('there were three', () => begun >= 3);
	assert.deepEqual(failures, ['the second']);
});

test('a run that is requested during another one joins it and gets its outcome', async () => {
	const gates = [deferred<void>(), deferred<void>()];
	let begun = 0;
	const rounds = new PeriodicTask({
		intervalMs: 60_000,
		run: async () => gates[begun++]?.promise,
		onFailure: assert.fail,
	});
	const both = [rounds.run(), rounds.run()];
	assert.equal(begun, 1);
	gates[0]?.resolve();
	await Promise.all(both);
	const failing = rounds.run();
	gates[1]?.reject(new Error('no disk'));
	await assert.rejects(failing, { message: 'no disk' });
	await rounds[Symbol.asyncDispose]();
});

test('disposal aborts the current run, waits for it, and starts no more', async () => {
	let ended = false;
	let begun = 0;
	const rounds = new PeriodicTask({
		intervalMs: 1,
		async run(signal) {
			begun++;
			await new Promise((resolve) => signal.addEventListener('abort', resolve));
			ended = true;
			throw signal.reason;
		},
		onFailure: () => assert.fail('to be stopped is no failure'),
	});
	rounds.start();
	await rounds[Symbol.asyncDispose]();
	assert.deepEqual([ended, begun], [true, 1]);
	await rounds.run();
	assert.equal(begun, 1);
});
