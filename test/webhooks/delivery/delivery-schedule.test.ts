import assert from 'node:assert/strict';
import test from 'node:test';
import { retryAfterMs } from '../../../src/base/index.ts';
import {
	DELIVERY_SCHEDULE,
	isPastGiveUp,
	lastAttemptAt,
	nextAttemptAt,
	type RetryContext,
} from '../../../src/webhooks/delivery/delivery-schedule.ts';
import { NOON } from '../../store/samples.ts';

const SECOND = 1_000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;

/** How long after a failure the next attempt is; at noon, when the first attempt was a moment ago. */
function delay(given: Partial<RetryContext>): number {
	const at = nextAttemptAt({ failures: 1, firstAt: NOON, now: NOON, retryAfterMs: null, random: 0.5, ...given });
	assert.ok(at !== null);
	return at - NOON;
}

/** When a receiver that always fails is tried, from the first attempt on (ms), each attempt taking so long. */
function attempts(random: () => number, retryAfter: number | null = null, attemptMs = 5 * SECOND): number[] {
	const begun = [0];
	for (let failures = 1; ; failures++) {
		const now = NOON + (begun.at(-1) as number) + attemptMs;
		const next = nextAttemptAt({ failures, firstAt: NOON, now, retryAfterMs: retryAfter, random: random() });
		if (next === null) return begun;
		assert.ok(next > now);
		begun.push(next - NOON);
	}
}

test('delays five seconds after the first failure and doubles the delay up to six hours', () => {
	const table = [5, 10, 20, 40, 80, 160, 320, 640, 1_280, 2_560, 5_120, 10_240, 20_480, 21_600, 21_600, 21_600, 21_600];
	for (const [index, seconds] of table.entries()) assert.equal(delay({ failures: index + 1 }), seconds * SECOND);
	assert.equal(delay({ failures: 5_000 }), 6 * HOUR);
});

test('varies a delay by at most ten per cent and never exceeds six hours', () => {
	assert.equal(delay({ random: 0 }), 4_500);
	assert.equal(delay({ random: 0.75 }), 5_250);
	assert.equal(delay({ random: 1 }), 5_500);
	assert.equal(delay({ failures: 3, random: 0 }), 18_000);
	assert.equal(delay({ failures: 20, random: 0 }), 5.4 * HOUR);
	assert.equal(delay({ failures: 20, random: 1 }), 6 * HOUR);
	const spread = new Set(Array.from({ length: 50 }, (_, at) => delay({ failures: 8, random: at / 50 })));
	assert.equal(spread.size, 50, 'many that failed at once do not come back at once');
});

test('lengthens a delay at most twofold for Retry-After, and never shortens it', () => {
	const table: [header: string, seconds: number][] = [
		['0', 5],
		['1', 5],
		['5', 5],
		['7', 7],
		['9.5', 9.5],
		['10', 10],
		['11', 10],
		['86400', 10],
		[new Date(NOON + 8 * SECOND).toUTCString(), 8],
		[new Date(NOON + HOUR).toUTCString(), 10],
		[new Date(NOON - HOUR).toUTCString(), 5],
		['-3', 5],
		['soon', 5],
		['', 5],
	];
	for (const [header, seconds] of table) {
		assert.equal(delay({ retryAfterMs: retryAfterMs(header, NOON) }), seconds * SECOND, header);
	}
	assert.equal(delay({ retryAfterMs: HOUR, random: 1 }), 11 * SECOND, 'twice what it would be');
	assert.equal(delay({ failures: 30, retryAfterMs: 24 * HOUR }), 12 * HOUR);
});

test('tries a receiver that always fails for 72 hours, the last time a minute before the end', () => {
	for (const random of [() => 0, () => 0.5, () => 0.999, Math.random]) {
		for (const asked of [null, 1, HOUR, 48 * HOUR]) {
			for (const attemptMs of [1, 5 * SECOND]) {
				const begun = attempts(random, asked, attemptMs);
				assert.equal(begun.at(-1), 72 * HOUR - MINUTE);
				assert.ok(begun.length >= 18 && begun.length <= 30, `${begun.length} attempts`);
			}
		}
	}
});

test('plans no attempt after the last one, nor after a late one', () => {
	const last = lastAttemptAt(NOON);
	assert.equal(last, NOON + 72 * HOUR - MINUTE);
	const after = (now: number) => nextAttemptAt({ failures: 20, firstAt: NOON, now, retryAfterMs: null, random: 0.5 });
	assert.equal(after(last), null);
	assert.equal(after(last + 5 * SECOND), null);
	assert.equal(after(last - DELIVERY_SCHEDULE.initialDelay + 1), null, 'so little time is not worth another attempt');
	assert.equal(after(last - DELIVERY_SCHEDULE.initialDelay), last);
	assert.equal(after(NOON + 100 * HOUR), null);
});

test('ends the time of a delivery 72 hours after its first attempt, not before the first attempt', () => {
	assert.equal(isPastGiveUp(null, NOON), false);
	assert.equal(isPastGiveUp(NOON, NOON + 72 * HOUR), false);
	assert.equal(isPastGiveUp(NOON, NOON + 72 * HOUR + 1), true);
});
