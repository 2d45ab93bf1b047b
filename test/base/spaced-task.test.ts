import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Deferred, deferred, SpacedTask } from '../../src/base/index.ts';
import { until } from '../support/until.ts';

const HOUR = 3_600_000;

test('the first request is carried out at once, and those during its run share the next one', async () => {
	const runs: Deferred<void>[] = [];
	await using task = new SpacedTask(0, () => {
		const run = deferred<void>();
		runs.push(run);
		return run.promise;
	});
	task.request();
	assert.equal(runs.length, 1);
	task.request();
	task.request();
	assert.equal(runs.length, 1);
	runs[0]?.resolve();
	await until('the next run begins', () => runs.length === 2);
	runs[1]?.resolve();
	await runs[1]?.promise;
	assert.equal(runs.length, 2);
});

test('a request soon after a run waits for the interval', async () => {
	const startedAt: number[] = [];
	await using task = new SpacedTask(30, async () => void startedAt.push(performance.now()));
	const requestedAt = performance.now();
	task.request();
	await Promise.resolve();
	task.request();
	await until('the second run', () => startedAt.length === 2);
	// Timers may fire a little early.
	assert.ok((startedAt[1] as number) - requestedAt > 25);
});

test('a closed task runs no more', async () => {
	let runs = 0;
	const task = new SpacedTask(HOUR, async () => void runs++);
	task.request();
	await Promise.resolve();
	task.request();
	await task[Symbol.asyncDispose]();
	task.request();
	assert.equal(runs, 1);
});
