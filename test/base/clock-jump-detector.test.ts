import assert from 'node:assert/strict';
import test from 'node:test';
import { ClockJumpDetector, monotonicTimeFrom, systemClock } from '../../src/base/index.ts';
import { ManualClock } from '../support/manual-clock.ts';

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;

test('a clock is suspect for ten minutes after it was set forward by more than an hour', () => {
	const clock = new ManualClock();
	const watch = new ClockJumpDetector(clock);
	clock.advance(1_000 * HOUR);
	assert.equal(watch.isSuspect(), false, 'time that passes is no jump');
	clock.adjust(HOUR);
	assert.equal(watch.isSuspect(), false, 'an hour is what time zones are mistaken by');
	clock.adjust(HOUR + 1);
	assert.equal(watch.isSuspect(), true);
	clock.advance(10 * MINUTE - 1);
	assert.equal(watch.isSuspect(), true);
	clock.advance(1);
	assert.equal(watch.isSuspect(), false);
});

test('a corrected clock stays suspect until the ten minutes have passed', () => {
	const clock = new ManualClock();
	const watch = new ClockJumpDetector(clock);
	clock.adjust(24 * HOUR);
	assert.equal(watch.isSuspect(), true);
	clock.adjust(-24 * HOUR);
	assert.equal(watch.isSuspect(), true);
	clock.advance(10 * MINUTE);
	assert.equal(watch.isSuspect(), false);
});

test('a clock that is set back is not suspect, because nothing expires by it', () => {
	const clock = new ManualClock();
	const watch = new ClockJumpDetector(clock);
	clock.adjust(-24 * HOUR);
	assert.equal(watch.isSuspect(), false);
});

test('a clock that cannot be set is never suspect, and the machine’s is not at first', () => {
	let now = 0;
	const watch = new ClockJumpDetector({ now: () => now });
	now += 1_000 * HOUR;
	assert.equal(watch.isSuspect(), false);
	assert.equal(new ClockJumpDetector(systemClock).isSuspect(), false);
});

test('measured durations do not change with the clock', () => {
	const clock = new ManualClock();
	const [start, time] = [clock.now(), monotonicTimeFrom(clock)];
	clock.advance(1_500);
	clock.adjust(24 * HOUR);
	assert.equal(time(), start + 1_500);
	let now = 5;
	const plain = monotonicTimeFrom({ now: () => now });
	now = 9;
	assert.equal(plain(), 9);
});

test('a clock far ahead of the time stored by an earlier process is suspect for ten minutes', () => {
	const clock = new ManualClock();
	const seen = clock.now() - 45 * 24 * HOUR;
	const watch = new ClockJumpDetector(clock, seen);
	assert.equal(watch.trustedNow(), null);
	clock.advance(10 * MINUTE);
	assert.equal(watch.trustedNow(), clock.now());
	assert.equal(
		new ClockJumpDetector(clock, clock.now() - HOUR).isSuspect(),
		false,
		'a restart takes less than an hour',
	);
	assert.equal(
		new ClockJumpDetector(clock, clock.now() + HOUR).isSuspect(),
		false,
		'nothing is over by a clock that is behind',
	);
});

test('a clock that is ahead of the shared one is suspect until it is not', () => {
	const clock = new ManualClock();
	const watch = new ClockJumpDetector(clock);
	watch.compare(clock.now() - HOUR);
	assert.equal(watch.trustedNow(), null);
	watch.compare(clock.now() - MINUTE);
	assert.equal(watch.trustedNow(), clock.now());
	watch.compare(clock.now() + HOUR);
	assert.equal(watch.trustedNow(), clock.now(), 'nothing expires too early by a clock that is behind');
});

test('for ten minutes after the clock was set back, lifetimes count from the time of the former clock', () => {
	const clock = new ManualClock();
	const watch = new ClockJumpDetector(clock);
	const start = clock.now();
	assert.equal(watch.startOfLifetime(), start);
	clock.adjust(-20 * 24 * HOUR);
	assert.equal(watch.startOfLifetime(), start);
	clock.advance(9 * MINUTE);
	assert.equal(watch.startOfLifetime(), start + 9 * MINUTE);
	clock.advance(MINUTE);
	assert.equal(watch.startOfLifetime(), clock.now());
});

test('lifetimes never count from a suspect time, nor from one more than a month ahead', () => {
	const clock = new ManualClock();
	const start = clock.now();
	const watch = new ClockJumpDetector(clock);
	clock.adjust(45 * 24 * HOUR);
	assert.equal(watch.startOfLifetime(), clock.now(), 'what is stored now has this time');
	clock.adjust(-65 * 24 * HOUR);
	assert.equal(watch.startOfLifetime(), start);
	const restarted = new ClockJumpDetector(clock, start);
	assert.equal(restarted.startOfLifetime(), start, 'the time stored by an earlier process counts, too');
	const wrong = new ClockJumpDetector(clock, start + 400 * 24 * HOUR);
	assert.equal(wrong.startOfLifetime(), clock.now() + 31 * 24 * HOUR);
});
