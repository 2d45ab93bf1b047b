import assert from 'node:assert/strict';
import test from 'node:test';
import { type Clock, ClockWatch, measuredFrom, systemClock } from '../../src/base/index.ts';

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;

/** A clock that a test sets, and time that passes. */
class SetClock implements Clock {
	#now = Date.UTC(2026, 10, 20);
	#elapsed = 1_234;

	now(): number {
		return this.#now;
	}

	elapsed(): number {
		return this.#elapsed;
	}

	set(ms: number): void {
		this.#now += ms;
	}

	pass(ms: number): void {
		this.#now += ms;
		this.#elapsed += ms;
	}
}

test('a clock is in doubt for ten minutes after it was set forward by more than an hour', () => {
	const clock = new SetClock();
	const watch = new ClockWatch(clock);
	clock.pass(1_000 * HOUR);
	assert.equal(watch.isInDoubt(), false, 'time that passes is no jump');
	clock.set(HOUR);
	assert.equal(watch.isInDoubt(), false, 'an hour is what time zones are mistaken by');
	clock.set(HOUR + 1);
	assert.equal(watch.isInDoubt(), true);
	clock.pass(10 * MINUTE - 1);
	assert.equal(watch.isInDoubt(), true);
	clock.pass(1);
	assert.equal(watch.isInDoubt(), false);
});

test('a clock that is set right again stays in doubt until the ten minutes are over', () => {
	const clock = new SetClock();
	const watch = new ClockWatch(clock);
	clock.set(24 * HOUR);
	assert.equal(watch.isInDoubt(), true);
	clock.set(-24 * HOUR);
	assert.equal(watch.isInDoubt(), true);
	clock.pass(10 * MINUTE);
	assert.equal(watch.isInDoubt(), false);
});

test('a clock that is set back is not in doubt: nothing is over by it', () => {
	const clock = new SetClock();
	const watch = new ClockWatch(clock);
	clock.set(-24 * HOUR);
	assert.equal(watch.isInDoubt(), false);
});

test('a clock that nobody can set is never in doubt, and the machine’s is not at first', () => {
	let now = 0;
	const watch = new ClockWatch({ now: () => now });
	now += 1_000 * HOUR;
	assert.equal(watch.isInDoubt(), false);
	assert.equal(new ClockWatch(systemClock).isInDoubt(), false);
});

test('what is measured does not change with the clock', () => {
	const clock = new SetClock();
	const [start, time] = [clock.now(), measuredFrom(clock)];
	clock.pass(1_500);
	clock.set(24 * HOUR);
	assert.equal(time(), start + 1_500);
	let now = 5;
	const plain = measuredFrom({ now: () => now });
	now = 9;
	assert.equal(plain(), 9);
});
