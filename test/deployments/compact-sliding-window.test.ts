import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { CompactSlidingWindow } from '../../src/deployments/compact-sliding-window.ts';

const MINUTE = 60_000;
const START = Date.UTC(2026, 10, 20);
/** A bound for the tests with few visitors. */
const ENOUGH = 100;

function windowOf(keys = ENOUGH) {
	const clock = { at: START, now: () => clock.at };
	return { clock, visitors: new CompactSlidingWindow(clock, MINUTE, keys) };
}

test('counts like a list of all times, in any order of keys, also when the clock jumps', () => {
	const gap = fc.oneof(
		fc.constant(0),
		fc.integer({ min: -5_000, max: 5_000 }),
		fc.integer({ min: 0, max: 90_000 }),
		fc.integer({ min: -10_000_000_000, max: 10_000_000_000 }),
	);
	const step = fc.record({ gap, who: fc.integer({ min: 0, max: 3 }) });
	fc.assert(
		fc.property(fc.integer({ min: 1, max: 12 }), fc.array(step, { maxLength: 150 }), (limit, steps) => {
			const { clock, visitors } = windowOf();
			const model = new Map<number, number[]>();
			for (const { gap, who } of steps) {
				clock.at += gap;
				const now = clock.at;
				const times = (model.get(who) ?? []).map((time) => Math.min(time, now)).filter((time) => time > now - MINUTE);
				const at = times[times.length - limit];
				if (at === undefined) times.push(now);
				model.set(who, times);
				const wait = at === undefined ? 0 : Math.ceil((at + MINUTE - now) / 1000);
				assert.equal(visitors.tryConsume('dep_a', `198.51.100.${who}`, limit), wait);
			}
		}),
		{ numRuns: 500 },
	);
});

test('still counts a key that returns before the bound of other keys, however many keys there are in total', () => {
	const { visitors } = windowOf(50);
	let stranger = 0;
	for (let visit = 0; visit < 30; visit++) {
		assert.equal(visitors.tryConsume('dep_a', 'regular', 30), 0, `visit ${visit}`);
		for (let others = 0; others < 49; others++)
			assert.equal(visitors.tryConsume('dep_a', `stranger ${stranger++}`, 30), 0);
	}
	assert.equal(visitors.tryConsume('dep_a', 'regular', 30), 60);
});

test('remembers at most twice the bound of keys, and forgets keys that were not seen for long', () => {
	const { visitors } = windowOf(50);
	assert.equal(visitors.tryConsume('dep_a', 'long ago', 1), 0);
	assert.equal(visitors.tryConsume('dep_a', 'long ago', 1), 60);
	for (let at = 0; at < 1_000; at++) {
		visitors.tryConsume('dep_a', `visitor ${at}`, 2);
		if (at % 3 === 0) visitors.tryConsume('dep_a', `visitor ${at}`, 2);
		assert.ok(visitors.size <= 100, `${visitors.size} are remembered`);
		assert.ok(visitors.size >= Math.min(at, 50), `${visitors.size} are remembered after ${at}`);
	}
	assert.equal(visitors.tryConsume('dep_a', 'long ago', 1), 0);
});

test('distinguishes a hundred thousand visitors with neighbouring addresses and deployments', () => {
	const { visitors } = windowOf(100_000);
	for (let at = 0; at < 100_000; at++) {
		const wait = visitors.tryConsume(`dep_${at % 10}`, `10.0.${(at / 10) >> 8}.${Math.floor(at / 10) & 255}`, 1);
		assert.equal(wait, 0, `visitor ${at} was taken for another one`);
	}
	assert.equal(visitors.size, 100_000);
	for (const [group, member] of [
		['ab', 'c'],
		['a', 'bc'],
		['', 'abc'],
		['abc', ''],
	] as const) {
		assert.equal(visitors.tryConsume(group, member, 1), 0, `${group} ${member}`);
	}
});
