// Own process: it counts the timers of the process.

import assert from 'node:assert/strict';
import { getEventListeners } from 'node:events';
import { test } from 'node:test';
import { deferred, rejectOnAbort, sleep, withDeadline } from '../../src/base/index.ts';

const late = () => new Error('late');

test('passes on an outcome before the deadline', async () => {
	assert.equal(await withDeadline(Promise.resolve(7), 1_000, late), 7);
	await assert.rejects(withDeadline(Promise.reject(new Error('own')), 1_000, late), { message: 'own' });
});

test('rejects at the deadline, not before', async (t) => {
	t.mock.timers.enable({ apis: ['setTimeout'] });
	const seen: string[] = [];
	const waiting = withDeadline(deferred<void>().promise, 500, late).catch((error: Error) => seen.push(error.message));
	t.mock.timers.tick(499);
	await Promise.resolve();
	assert.deepEqual(seen, []);
	t.mock.timers.tick(1);
	await waiting;
	assert.deepEqual(seen, ['late']);
});

test('ignores an outcome or failure after the deadline', async () => {
	const work = deferred<void>();
	await assert.rejects(withDeadline(work.promise, 1, late), { message: 'late' });
	work.reject(new Error('too late to matter'));
	await sleep(1);
});

test('leaves no timer behind after an outcome before the deadline', async () => {
	const timers = () => process.getActiveResourcesInfo().filter((name) => name === 'Timeout').length;
	const before = timers();
	await withDeadline(Promise.resolve(), 60_000, late);
	await withDeadline(Promise.reject(new Error('own')), 60_000, late).catch(() => {});
	assert.equal(timers(), before);
});

test('sleep ends after its time', async (t) => {
	t.mock.timers.enable({ apis: ['setTimeout'] });
	let over = false;
	const waiting = sleep(1_000).then(() => {
		over = true;
	});
	t.mock.timers.tick(999);
	await Promise.resolve();
	assert.equal(over, false);
	t.mock.timers.tick(1);
	await waiting;
	assert.equal(over, true);
});

test('sleep ends at once when its signal aborts, or was aborted before', async () => {
	const abort = new AbortController();
	const waiting = sleep(60_000, abort.signal);
	abort.abort();
	await waiting;
	await sleep(60_000, abort.signal);
});

test('sleep removes its listener from the signal', async () => {
	const { signal } = new AbortController();
	for (let round = 0; round < 3; round++) await sleep(0, signal);
	assert.equal(getEventListeners(signal, 'abort').length, 0);
});

test('passes on the outcome of a promise whose signal does not abort', async () => {
	const { signal } = new AbortController();
	assert.equal(await rejectOnAbort(Promise.resolve(7), signal), 7);
	assert.equal(await rejectOnAbort(Promise.resolve(7), undefined), 7);
	await assert.rejects(rejectOnAbort(Promise.reject(new Error('own')), signal), { message: 'own' });
	assert.equal(getEventListeners(signal, 'abort').length, 0, 'no listener remains');
});

test('rejects with the reason of the signal when it aborts before the promise is settled, or was aborted before', async () => {
	const controller = new AbortController();
	const work = deferred<void>();
	const outcome = rejectOnAbort(work.promise, controller.signal);
	controller.abort(new Error('aborted'));
	await assert.rejects(outcome, { message: 'aborted' });
	await assert.rejects(rejectOnAbort(work.promise, controller.signal), { message: 'aborted' });
	// A later failure of the work is not an unhandled rejection.
	work.reject(new Error('too late to matter'));
	await sleep(1);
});

test('a deferred is settled from outside, once', async () => {
	const value = deferred<number>();
	value.resolve(1);
	value.reject(new Error('ignored'));
	assert.equal(await value.promise, 1);
});
