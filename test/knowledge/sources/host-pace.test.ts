import assert from 'node:assert/strict';
import test from 'node:test';
import { deferred } from '../../../src/base/index.ts';
import { HostPace } from '../../../src/knowledge/sources/host-pace.ts';
import { ManualClock } from '../../support/manual-clock.ts';

const { signal } = new AbortController();
const HOST = 'shop.example';

test('a host gets its next request a second later, or when it asks for it, up to a minute', async () => {
	const clock = new ManualClock();
	const pace = new HostPace(clock, 1_000);
	assert.equal(pace.waitMs(HOST), 0);
	for (const [crawlDelayMs, waitMs] of [
		[null, 1_000],
		[200, 1_000],
		[5_000, 5_000],
		[3_600_000, 60_000],
	] as const) {
		await pace.run(HOST, crawlDelayMs, signal, async () => {});
		assert.equal(pace.waitMs(HOST), waitMs);
		assert.equal(pace.waitMs('other.example'), 0);
		clock.advance(waitMs);
		assert.equal(pace.waitMs(HOST), 0);
	}
});

test('a host that asks to try again later waits as long, up to ten minutes', async () => {
	const clock = new ManualClock();
	const pace = new HostPace(clock, 1_000);
	await pace.run(HOST, null, signal, async () => pace.retryAfter(HOST, 30_000));
	assert.equal(pace.waitMs(HOST), 30_000);
	pace.retryAfter(HOST, 86_400_000);
	assert.equal(pace.waitMs(HOST), 600_000);
});

test('a host gets one request at a time, and other hosts do not wait', async () => {
	const pace = new HostPace(new ManualClock(), 0);
	const [first, other] = [deferred<void>(), deferred<void>()];
	const order: string[] = [];
	const runs = [
		pace.run(HOST, null, signal, async () => {
			await first.promise;
			order.push('first');
		}),
		pace.run(HOST, null, signal, async () => void order.push('second')),
		pace.run('other.example', null, signal, async () => {
			order.push('other');
			other.resolve();
		}),
	];
	await other.promise;
	first.resolve();
	await Promise.all(runs);
	assert.deepEqual(order, ['other', 'first', 'second']);
});

test('a wait ends when the server stops', async () => {
	const pace = new HostPace(new ManualClock(), 1_000);
	await pace.run(HOST, null, signal, async () => {});
	const stop = new AbortController();
	const waiting = pace.run(HOST, null, stop.signal, async () => assert.fail('it was not time'));
	stop.abort(new Error('stopping'));
	await assert.rejects(waiting, /stopping/);
});

test('requests that wait behind one whose host asks for a long delay are given back', async () => {
	const pace = new HostPace(new ManualClock(), 1_000);
	const answered = deferred<void>();
	const requested: string[] = [];
	const first = pace.run(HOST, null, signal, async () => {
		requested.push('first');
		await answered.promise;
		pace.retryAfter(HOST, 600_000);
		return 'answer';
	});
	const second = pace.run(HOST, null, signal, async () => requested.push('second'));
	answered.resolve();
	assert.deepEqual([await first, await second], ['answer', null]);
	assert.deepEqual(requested, ['first']);
});
