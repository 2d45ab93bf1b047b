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

test('marks a delivery that the receiver accepts as delivered', () => {
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

test('schedules the next attempt of a rejected delivery from the end of this one', () => {
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

test('fails a delivery that is rejected after its time limit', () => {
	const last = after({ attempts: 24, failures: 24, first_attempt_at: NOON - 72 * HOUR + 60_000 }, {});
	assert.deepEqual([last.status, last.attempts, last.due_at, last.completed_at], ['failed', 25, null, NOON + 40]);
});

test('keeps a delivery cancelled during its attempt cancelled, unless it was delivered', () => {
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

test('does not make a given-up delivery due again when its attempt fails', () => {
	const failed = after({ status: 'failed', due_at: null, completed_at: NOON }, {});
	assert.deepEqual([failed.status, failed.due_at, failed.completed_at], ['failed', null, NOON]);
});

test('counts the 72 hours by the current clock after it was set back', () => {
	const delivery = after({ attempts: 1, failures: 1, first_attempt_at: NOON + 1_000 * HOUR }, {});
	assert.deepEqual([delivery.first_attempt_at, delivery.due_at], [NOON, NOON + 40 + 10_000]);
});

test('records why a delivery is given up, and gives a retried delivery its full time again', () => {
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
