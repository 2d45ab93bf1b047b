import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { TokenBuckets } from '../../src/access/token-bucket.ts';

function bucketsAt() {
	const clock = { at: Date.UTC(2026, 10, 20), now: () => clock.at };
	return { clock, buckets: new TokenBuckets(clock) };
}

test("allows a burst of a sixth of the minute's requests, at least ten, then rejects", () => {
	for (const [perMinute, burst] of [
		[6_000, 1_000],
		[1_200, 200],
		[100, 17],
		[60, 10],
		[1, 10],
	] as const) {
		const { buckets } = bucketsAt();
		for (let taken = 1; taken <= burst; taken++) {
			const { allowed, limit, remaining, retryAfter } = buckets.tryConsume('key', perMinute);
			assert.deepEqual([allowed, limit, remaining, retryAfter], [true, perMinute, burst - taken, 0]);
		}
		const { allowed, remaining } = buckets.tryConsume('key', perMinute);
		assert.deepEqual([allowed, remaining], [false, 0]);
	}
});

test('the numbers of a full and of an empty bucket are right to the second', () => {
	const { clock, buckets } = bucketsAt();
	assert.equal(buckets.tryConsume('key', 60).resetSeconds, 1);
	for (let taken = 2; taken <= 10; taken++) assert.equal(buckets.tryConsume('key', 60).resetSeconds, taken);
	assert.deepEqual(buckets.tryConsume('key', 60), {
		allowed: false,
		limit: 60,
		remaining: 0,
		resetSeconds: 10,
		retryAfter: 1,
	});
	clock.at += 999;
	assert.equal(buckets.tryConsume('key', 60).allowed, false);
	clock.at += 1;
	assert.equal(buckets.tryConsume('key', 60).allowed, true);
	clock.at += 10_000;
	assert.equal(buckets.tryConsume('key', 60).remaining, 9);
});

test('a slow plan returns the whole wait', () => {
	const { clock, buckets } = bucketsAt();
	for (let taken = 0; taken < 10; taken++) buckets.tryConsume('key', 1);
	const { retryAfter, resetSeconds } = buckets.tryConsume('key', 1);
	assert.deepEqual([retryAfter, resetSeconds], [60, 600]);
	clock.at += 59_999;
	assert.equal(buckets.tryConsume('key', 1).allowed, false);
	clock.at += 1;
	assert.equal(buckets.tryConsume('key', 1).allowed, true);
});

test('a rejected request does not delay the next one', () => {
	const { clock, buckets } = bucketsAt();
	for (let taken = 0; taken < 10; taken++) buckets.tryConsume('key', 60);
	for (let asked = 0; asked < 10; asked++) {
		assert.equal(buckets.tryConsume('key', 60).allowed, false);
		clock.at += 100;
	}
	assert.equal(buckets.tryConsume('key', 60).allowed, true);
});

test('a bucket never holds more than its burst, however long it is idle', () => {
	const { clock, buckets } = bucketsAt();
	buckets.tryConsume('key', 60);
	clock.at += 365 * 24 * 3_600_000;
	assert.deepEqual(buckets.tryConsume('key', 60), {
		allowed: true,
		limit: 60,
		remaining: 9,
		resetSeconds: 1,
		retryAfter: 0,
	});
});

test('keys have separate buckets', () => {
	const { buckets } = bucketsAt();
	for (let taken = 0; taken < 11; taken++) buckets.tryConsume('ann', 60);
	assert.equal(buckets.tryConsume('ann', 60).allowed, false);
	assert.equal(buckets.tryConsume('bob', 60).remaining, 9);
});

test('a clock that steps back neither locks a key out nor gives it tokens', () => {
	const { clock, buckets } = bucketsAt();
	for (let taken = 0; taken < 10; taken++) buckets.tryConsume('key', 60);
	clock.at -= 24 * 3_600_000;
	assert.deepEqual(buckets.tryConsume('key', 60), {
		allowed: false,
		limit: 60,
		remaining: 0,
		resetSeconds: 10,
		retryAfter: 1,
	});
	clock.at += 1_000;
	assert.equal(buckets.tryConsume('key', 60).allowed, true);
});

test('a changed plan takes effect with the next request', () => {
	const { clock, buckets } = bucketsAt();
	assert.equal(buckets.tryConsume('key', 1_200).remaining, 199);
	assert.equal(buckets.tryConsume('key', 60).remaining, 9);
	clock.at += 1_000;
	assert.equal(buckets.tryConsume('key', 1_200).remaining, 28);
});

test('Retry-After is exact, and no minute has more requests than the burst and the rate', () => {
	const gap = fc.oneof(fc.constant(0), fc.integer({ min: 0, max: 200 }), fc.integer({ min: 0, max: 30_000 }));
	fc.assert(
		fc.property(
			fc.integer({ min: 1, max: 300 }),
			fc.array(gap, { minLength: 1, maxLength: 150 }),
			(perMinute, gaps) => {
				const { clock, buckets } = bucketsAt();
				const burst = Math.max(10, Math.ceil(perMinute / 6));
				const taken: number[] = [];
				for (const wait of gaps) {
					clock.at += wait;
					const state = buckets.tryConsume('key', perMinute);
					assert.equal(state.remaining, Math.trunc(state.remaining));
					assert.ok(state.remaining >= 0 && state.remaining < burst);
					assert.ok(state.resetSeconds >= 1 && state.resetSeconds <= Math.ceil((burst * 60) / perMinute));
					if (state.allowed) {
						taken.push(clock.at);
						continue;
					}
					assert.equal(state.remaining, 0);
					assert.ok(state.retryAfter >= 1 && state.retryAfter <= Math.ceil(60 / perMinute));
					// Every other rejected client waits exactly for Retry-After.
					if (wait % 2 === 0) {
						clock.at += state.retryAfter * 1_000;
						assert.ok(buckets.tryConsume('key', perMinute).allowed, `waited ${state.retryAfter} s in vain`);
						taken.push(clock.at);
					}
				}
				for (const end of taken) {
					const inMinute = taken.filter((time) => time > end - 60_000 && time <= end).length;
					assert.ok(inMinute <= burst + perMinute, `${inMinute} in one minute`);
				}
			},
		),
		{ numRuns: 500 },
	);
});

test('waiting for the reset refills the whole burst', () => {
	fc.assert(
		fc.property(fc.integer({ min: 1, max: 10_000 }), fc.integer({ min: 1, max: 30 }), (perMinute, requests) => {
			const { clock, buckets } = bucketsAt();
			const burst = Math.max(10, Math.ceil(perMinute / 6));
			let reset = 0;
			for (let taken = 0; taken < requests; taken++) {
				reset = buckets.tryConsume('key', perMinute).resetSeconds;
				clock.at += 37;
			}
			clock.at += reset * 1_000 - 37;
			assert.equal(buckets.tryConsume('key', perMinute).remaining, burst - 1);
		}),
	);
});
