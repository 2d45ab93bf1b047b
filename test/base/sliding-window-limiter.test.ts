import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { SlidingWindowLimiter } from '../../src/base/index.ts';

const MINUTE = 60_000;
const START = Date.UTC(2026, 10, 20);

/** A window of a minute with a clock that the test moves. */
function windowAt(keys = 100) {
	const clock = { at: START, now: () => clock.at };
	return { clock, window: new SlidingWindowLimiter(clock, MINUTE, keys) };
}

/** The most events that any window of this length holds. */
function fullest(times: number[], windowMs: number): number {
	return Math.max(0, ...times.map((end) => times.filter((time) => time > end - windowMs && time <= end).length));
}

test('admits as many events as the limit, and one more when the first has left the window', () => {
	const { clock, window } = windowAt();
	for (let event = 0; event < 5; event++) {
		assert.equal(window.tryConsume('ann', 5), 0);
		clock.at += 1_000;
	}
	assert.equal(window.tryConsume('ann', 5), 55);
	clock.at = START + MINUTE - 1;
	assert.equal(window.tryConsume('ann', 5), 1);
	clock.at = START + MINUTE;
	assert.equal(window.tryConsume('ann', 5), 0);
	assert.equal(window.tryConsume('ann', 5), 1);
});

test('a burst at the end of one minute prevents another at the start of the next', () => {
	const { clock, window } = windowAt();
	window.tryConsume('ann', 20);
	clock.at = START + MINUTE - 100;
	const burst = () =>
		Array.from({ length: 50 }, () => window.tryConsume('ann', 20)).filter((wait) => wait === 0).length;
	assert.equal(burst(), 19);
	clock.at = START + MINUTE + 30_000;
	assert.equal(burst(), 1);
});

test('never refuses a client that stays exactly at the limit', () => {
	const { clock, window } = windowAt();
	for (let event = 0; event < 500; event++) {
		assert.equal(window.tryConsume('ann', 20), 0);
		clock.at += MINUTE / 20;
	}
});

test('each key has its own window', () => {
	const { window } = windowAt();
	assert.equal(window.tryConsume('ann', 1), 0);
	assert.equal(window.tryConsume('bob', 1), 0);
	assert.equal(window.tryConsume('ann', 1), 60);
});

test('a refusal does not lengthen the wait', () => {
	const { clock, window } = windowAt();
	assert.equal(window.tryConsume('ann', 1), 0);
	for (let second = 1; second < 60; second++) {
		clock.at = START + second * 1_000;
		assert.equal(window.tryConsume('ann', 1), 60 - second);
	}
	clock.at = START + MINUTE;
	assert.equal(window.tryConsume('ann', 1), 0);
});

test('a changed limit counts earlier events', () => {
	const { clock, window } = windowAt();
	for (let event = 0; event < 10; event++) {
		assert.equal(window.tryConsume('ann', 10), 0);
		clock.at += 1_000;
	}
	// The limit is now two a minute. One more fits when all events but the newest have left the window: 60 s after second 8.
	assert.equal(window.tryConsume('ann', 2), 58);
	assert.equal(window.tryConsume('ann', 11), 0);
});

test('a clock that is set back locks a key out for at most one window and admits no event early', () => {
	const { clock, window } = windowAt();
	for (let event = 0; event < 3; event++) assert.equal(window.tryConsume('ann', 3), 0);
	clock.at -= 24 * 3_600_000;
	assert.equal(window.tryConsume('ann', 3), 60);
	clock.at += MINUTE - 1;
	assert.equal(window.tryConsume('ann', 3), 1);
	clock.at += 1;
	assert.equal(window.tryConsume('ann', 3), 0);
});

test('no window ever has more events than the limit, and the indicated wait is always enough', () => {
	const gap = fc.oneof(fc.constant(0), fc.integer({ min: 0, max: 500 }), fc.integer({ min: 0, max: 90_000 }));
	fc.assert(
		fc.property(fc.integer({ min: 1, max: 12 }), fc.array(gap, { minLength: 1, maxLength: 120 }), (limit, gaps) => {
			const { clock, window } = windowAt();
			const taken: number[] = [];
			for (const wait of gaps) {
				clock.at += wait;
				const seconds = window.tryConsume('ann', limit);
				if (seconds === 0) {
					taken.push(clock.at);
					continue;
				}
				assert.ok(Number.isInteger(seconds) && seconds >= 1 && seconds <= 60, `told to wait ${seconds} s`);
				// About half of the refused callers wait exactly the indicated time.
				if (wait % 2 === 0) {
					clock.at += seconds * 1_000;
					assert.equal(window.tryConsume('ann', limit), 0, `waited ${seconds} s in vain`);
					taken.push(clock.at);
				}
			}
			assert.ok(fullest(taken, MINUTE) <= limit, `${fullest(taken, MINUTE)} in one minute, ${limit} are allowed`);
		}),
		{ numRuns: 500 },
	);
});

test('the indicated wait is never longer than needed, except for rounding to whole seconds', () => {
	fc.assert(
		fc.property(
			fc.integer({ min: 1, max: 6 }),
			fc.array(fc.integer({ min: 0, max: 20_000 }), { maxLength: 30 }),
			(limit, gaps) => {
				const { clock, window } = windowAt();
				for (const gap of gaps) {
					clock.at += gap;
					const seconds = window.tryConsume('ann', limit);
					if (seconds < 2) continue;
					clock.at += (seconds - 1) * 1_000 - 1;
					assert.notEqual(window.tryConsume('ann', limit), 0);
				}
			},
		),
	);
});

test('evicts the least recently used keys when there are too many', () => {
	const { window } = windowAt(2);
	assert.equal(window.tryConsume('ann', 1), 0);
	assert.equal(window.tryConsume('bob', 1), 0);
	assert.equal(window.tryConsume('ann', 1), 60);
	assert.equal(window.tryConsume('cid', 1), 0);
	assert.equal(window.tryConsume('ann', 1), 60);
	assert.equal(window.tryConsume('bob', 1), 0);
});

test('in a window longer than a minute the oldest event counts until the end', () => {
	const clock = { at: START, now: () => clock.at };
	const window = new SlidingWindowLimiter(clock, 100_000, 1);
	assert.equal(window.tryConsume('ann', 2), 0);
	clock.at += 90_000;
	assert.equal(window.tryConsume('ann', 2), 0);
	assert.equal(window.tryConsume('ann', 2), 10);
	clock.at += 10_000;
	assert.equal(window.tryConsume('ann', 2), 0);
	assert.equal(window.tryConsume('ann', 2), 90);
});

test('counts like a list of all times, for short and long windows, under a jumping clock', () => {
	const gap = fc.oneof(
		fc.constant(0),
		fc.integer({ min: -5_000, max: 5_000 }),
		fc.integer({ min: 0, max: 140_000 }),
		fc.integer({ min: -10_000_000_000, max: 10_000_000_000 }),
	);
	const step = fc.record({ gap, limit: fc.integer({ min: 1, max: 40 }) });
	const windowMs = fc.constantFrom(1_000, MINUTE, 65_535, 65_536, 100_000, 15 * MINUTE, 24 * 60 * MINUTE);
	fc.assert(
		fc.property(windowMs, fc.array(step, { maxLength: 120 }), (length, steps) => {
			const clock = { at: START, now: () => clock.at };
			const window = new SlidingWindowLimiter(clock, length, 1);
			let model: number[] = [];
			for (const { gap, limit } of steps) {
				clock.at += gap;
				const now = clock.at;
				model = model.map((time) => Math.min(time, now)).filter((time) => time > now - length);
				const at = model[model.length - limit];
				if (at === undefined) model.push(now);
				assert.equal(window.tryConsume('ann', limit), at === undefined ? 0 : Math.ceil((at + length - now) / 1000));
			}
		}),
		{ numRuns: 500 },
	);
});

test('limits the timestamps of all keys together by evicting the least recently used keys', () => {
	const clock = { at: START, now: () => clock.at };
	const window = new SlidingWindowLimiter(clock, MINUTE, { keys: 1_000, timestamps: 200 });
	const fill = (key: string) => {
		for (let event = 0; event < 50; event++) assert.equal(window.tryConsume(key, 50), 0);
	};
	for (const key of ['ann', 'bob', 'cid', 'dot']) fill(key);
	assert.equal(window.tryConsume('ann', 50), 60);
	fill('eve');
	assert.ok(window.size < 5);
	assert.equal(window.tryConsume('ann', 50), 60);
	assert.equal(window.tryConsume('eve', 50), 60);
	assert.equal(window.tryConsume('bob', 50), 0, 'not seen for longest');
});

test('a refunded event does not count', () => {
	const step = fc.record({ gap: fc.integer({ min: 0, max: 30_000 }), back: fc.boolean() });
	fc.assert(
		fc.property(fc.constantFrom(MINUTE, 5 * MINUTE), fc.array(step, { maxLength: 120 }), (length, steps) => {
			const clock = { at: START, now: () => clock.at };
			const window = new SlidingWindowLimiter(clock, length, 10);
			let model: number[] = [];
			for (const { gap, back } of steps) {
				clock.at += gap;
				if (back) {
					window.refund('ann');
					model.pop();
					continue;
				}
				model = model.filter((time) => time > clock.at - length);
				const first = model.length < 7 ? undefined : model[model.length - 7];
				if (first === undefined) model.push(clock.at);
				const wait = first === undefined ? 0 : Math.ceil((first + length - clock.at) / 1000);
				assert.equal(window.tryConsume('ann', 7), wait);
			}
			window.refund('nobody');
		}),
		{ numRuns: 500 },
	);
});

test('a key without events after a refund is removed and evicts no other key', () => {
	const { window } = windowAt(2);
	assert.equal(window.tryConsume('ann', 2), 0);
	assert.equal(window.tryConsume('ann', 2), 0);
	for (const key of ['bob', 'cid', 'dot', 'eve']) {
		assert.equal(window.tryConsume(key, 1), 0);
		window.refund(key);
		assert.equal(window.size, 1, key);
	}
	window.refund('ann');
	assert.equal(window.size, 1, 'one event is left');
	assert.equal(window.tryConsume('ann', 2), 0);
	assert.equal(window.tryConsume('ann', 2), 60);
});

test('the memory of an evicted key is free for others', () => {
	const clock = { at: START, now: () => clock.at };
	const window = new SlidingWindowLimiter(clock, MINUTE, { keys: 1_000, timestamps: 200 });
	for (let round = 0; round < 20; round++) {
		for (let event = 0; event < 50; event++) assert.equal(window.tryConsume(`key ${round}`, 50), 0);
		for (let event = 0; event < 50; event++) window.refund(`key ${round}`);
	}
	assert.equal(window.size, 0);
	const keys = ['ann', 'bob', 'cid', 'dot'];
	for (const key of keys) {
		for (let event = 0; event < 50; event++) assert.equal(window.tryConsume(key, 50), 0);
	}
	for (const key of keys) assert.equal(window.tryConsume(key, 50), 60, key);
});
