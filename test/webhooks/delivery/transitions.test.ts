import assert from 'node:assert/strict';
import test from 'node:test';
import type { DeliveryRecord } from '../../../src/store/index.ts';
import {
	type AttemptResult,
	attemptPatch,
	giveUpPatch,
	retryPatch,
} from '../../../src/webhooks/delivery/transitions.ts';
import { NOON, delivery as sample } from '../../store/samples.ts';

const HOUR = 3_600_000;
const fresh = {
	version: 1,
	status: 'pending',
	attempts: 0,
	failures: 0,
	first_attempt_at: null,
	due_at: 0,
	status_code: null,
	error: null,
	completed_at: null,
} as const;

/** What a delivery is after an attempt that took 40 ms. */
function after(before: Partial<DeliveryRecord>, given: Partial<AttemptResult>): DeliveryRecord {
	const delivery: DeliveryRecord = { ...sample(), ...fresh, ...before };
	const startedAt = given.startedAt ?? NOON;
	const failed = { delivered: false, status: 503, error: 'The endpoint answered with status 503.', retryAfterMs: null };
	const result = { startedAt, endedAt: startedAt + 40, ...failed, ...given };
	return { ...delivery, ...attemptPatch(delivery, result, 0.5) };
}
const taken = { delivered: true, status: 202, error: null };

const told = ({
	status,
	attempts,
	failures,
	first_attempt_at,
	due_at,
	status_code,
	error,
	completed_at,
}: DeliveryRecord) => ({
	status,
	attempts,
	failures,
	first_attempt_at,
	due_at,
	status_code,
	error,
	completed_at,
});
const error = 'The endpoint answered with status 503.';

test('what a receiver takes is delivered, and due no more', () => {
	assert.deepEqual(told(after({}, taken)), {
		status: 'delivered',
		attempts: 1,
		failures: 0,
		first_attempt_at: NOON,
		due_at: null,
		status_code: 202,
		error: null,
		completed_at: NOON + 40,
	});
	const late = after({ attempts: 3, failures: 3, first_attempt_at: NOON - HOUR, error, status_code: 503 }, taken);
	assert.deepEqual(
		[late.attempts, late.failures, late.first_attempt_at, late.error, late.status_code],
		[4, 3, NOON - HOUR, null, 202],
	);
});

test('what a receiver refuses waits for its next attempt, counted from the end of this one', () => {
	assert.deepEqual(told(after({}, {})), {
		status: 'pending',
		attempts: 1,
		failures: 1,
		first_attempt_at: NOON,
		due_at: NOON + 40 + 5_000,
		status_code: 503,
		error,
		completed_at: null,
	});
	const third = after({ attempts: 2, failures: 2, first_attempt_at: NOON - 15_000 }, {});
	assert.deepEqual([third.attempts, third.failures, third.due_at], [3, 3, NOON + 40 + 20_000]);
	assert.equal(after({}, { retryAfterMs: 8_000 }).due_at, NOON + 40 + 8_000);
});

test('what is refused when its time is over has failed', () => {
	const last = after({ attempts: 24, failures: 24, first_attempt_at: NOON - 72 * HOUR + 60_000 }, {});
	assert.deepEqual([last.status, last.attempts, last.due_at, last.completed_at], ['failed', 25, null, NOON + 40]);
});

test('what was cancelled while it was under way stays cancelled, unless it has arrived', () => {
	const cancelled = { status: 'cancelled', due_at: null, completed_at: NOON + 10 } as const;
	assert.deepEqual(told(after(cancelled, {})), {
		status: 'cancelled',
		attempts: 1,
		failures: 1,
		first_attempt_at: NOON,
		due_at: null,
		status_code: 503,
		error,
		completed_at: NOON + 10,
	});
	const arrived = after(cancelled, taken);
	assert.deepEqual([arrived.status, arrived.completed_at], ['delivered', NOON + 40]);
});

test('what was given up meanwhile is not due again by an attempt that fails', () => {
	const failed = after({ status: 'failed', due_at: null, completed_at: NOON }, {});
	assert.deepEqual([failed.status, failed.due_at, failed.completed_at], ['failed', null, NOON]);
});

test('after the clock was set back the 72 hours count from the first attempt by the clock of now', () => {
	const delivery = after({ attempts: 1, failures: 1, first_attempt_at: NOON + 1_000 * HOUR }, {});
	assert.deepEqual([delivery.first_attempt_at, delivery.due_at], [NOON, NOON + 40 + 10_000]);
});

test('what is given up is due no more and says why; what is asked for again is due at once, with all its time before it', () => {
	const delivery: DeliveryRecord = { ...sample(), ...fresh, attempts: 9, failures: 9, first_attempt_at: NOON };
	const over = { ...delivery, ...giveUpPatch('Too late.', NOON + 1) };
	assert.deepEqual([over.status, over.due_at, over.error, over.completed_at], ['failed', null, 'Too late.', NOON + 1]);
	assert.deepEqual(told({ ...over, ...retryPatch(NOON + 2) }), {
		...told(over),
		status: 'pending',
		failures: 0,
		first_attempt_at: null,
		due_at: 0,
		completed_at: null,
	});
});
