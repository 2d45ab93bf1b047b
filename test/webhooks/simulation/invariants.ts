import assert from 'node:assert/strict';
import type { DeliveryRecord } from '../../../src/store/index.ts';
import { DELIVERY_SCHEDULE, lastAttemptAt } from '../../../src/webhooks/delivery/index.ts';
import type { Received } from './receivers.ts';
import { HOUR, type SimulationResult } from './simulation.ts';

/** The time that a commit and its outcome may take in the simulation, and what waiting for others may add. */
const SLACK_MS = 60_000;

/** Everything that Parley promises of deliveries, held against what happened. */
export function checkInvariants(outcome: SimulationResult): void {
	const attempts = attemptsByDelivery(outcome);
	assertNoLostEvents(outcome);
	for (const delivery of outcome.deliveries) {
		const seen = attempts.get(delivery.id) ?? [];
		assertEndState(delivery, seen, outcome);
		assertGiveUpTime(delivery, seen);
		assertRetryDelays(delivery, seen, outcome);
		assert.equal(
			outcome.attemptRows.get(delivery.id) ?? 0,
			delivery.attempts,
			`${delivery.id}: all attempts are recorded`,
		);
		assert.ok(seen.length >= delivery.attempts, `${delivery.id}: no attempt is recorded that was not made`);
	}
	assertEqualBodies(outcome);
	assertDisabledNotCalled(outcome);
	assertCancelledNotSent(outcome, attempts);
	assertOrder(outcome, attempts);
	assertDisabledOnlyAfterFailing(outcome);
}

function attemptsByDelivery({ endpoints, deliveries, received }: SimulationResult): Map<string, Received[]> {
	const endpointOf = new Map(endpoints.flatMap(({ id, urls }) => urls.map((url) => [url, id])));
	const known = new Map(deliveries.map((delivery) => [`${delivery.webhook_id} ${delivery.event_id}`, delivery.id]));
	const found = new Map<string, Received[]>();
	for (const attempt of received) {
		const id = known.get(`${endpointOf.get(attempt.url)} ${attempt.id}`);
		// Of an endpoint that was deleted since.
		if (id === undefined) continue;
		const list = found.get(id) ?? [];
		list.push(attempt);
		found.set(id, list);
	}
	return found;
}

function assertNoLostEvents({ expected, deliveries, endpoints }: SimulationResult): void {
	const there = new Set(deliveries.map(({ event_seq, webhook_id }) => `${event_seq} ${webhook_id}`));
	const deleted = new Set(endpoints.filter((endpoint) => endpoint.deleted).map(({ id }) => id));
	for (const { seq, webhook_id } of expected) {
		if (!deleted.has(webhook_id))
			assert.ok(there.has(`${seq} ${webhook_id}`), `event ${seq} is lost for ${webhook_id}`);
	}
	for (const { id, webhook_id } of deliveries) assert.ok(!deleted.has(webhook_id), `${id} outlives its endpoint`);
}

function assertEndState(delivery: DeliveryRecord, seen: Received[], { endpoints, webhooks }: SimulationResult): void {
	const { id, status, completed_at, first_attempt_at } = delivery;
	assert.notEqual(status, 'pending', `${id} still waits`);
	assert.ok(completed_at !== null && delivery.due_at === null, `${id} has ended and is not due`);
	if (status === 'delivered')
		assert.ok(
			seen.some((attempt) => attempt.delivered),
			`${id} was never received`,
		);
	if (status === 'failed') {
		const giveUp =
			(first_attempt_at ?? Number.NaN) +
			DELIVERY_SCHEDULE.giveUpAfter -
			DELIVERY_SCHEDULE.lastAttemptMargin -
			DELIVERY_SCHEDULE.initialDelay;
		assert.ok(completed_at >= giveUp, `${id} was given up early`);
	}
	if (status === 'cancelled') {
		const endpoint = endpoints.find((known) => known.id === delivery.webhook_id);
		const byServer = webhooks.get(delivery.webhook_id)?.disabled_reason?.startsWith('Every attempt') ?? false;
		assert.ok(
			byServer || (endpoint?.disabled.length ?? 0) > 0 || endpoint === undefined,
			`${id} was cancelled for nothing`,
		);
	}
}

function assertGiveUpTime({ id, first_attempt_at }: DeliveryRecord, seen: Received[]): void {
	const last = seen.at(-1);
	if (!last || first_attempt_at === null) return;
	assert.ok(last.startedAt <= first_attempt_at + DELIVERY_SCHEDULE.giveUpAfter, `${id} was tried after 72 hours`);
}

function assertRetryDelays(
	{ id, webhook_id }: DeliveryRecord,
	seen: Received[],
	{ downtimes, requested, webhooks, endpoints }: SimulationResult,
): void {
	const endpoint = endpoints.find((known) => known.id === webhook_id);
	let failures = 0;
	for (const [place, attempt] of seen.slice(1).entries()) {
		const before = seen[place] as Received;
		const between = (at: number) => at >= before.startedAt && at <= attempt.startedAt;
		const crashed = downtimes.some(({ from, to }) => between(from) || between(to));
		const ended = before.endedAt !== null && before.endedAt <= attempt.startedAt;
		assert.ok(ended || crashed, `${id} is tried twice at once`);
		const wasRequested = requested.some(({ of, at }) => (of === id || of === webhook_id) && between(at));
		// From here on the failures are not known any more.
		if (crashed || wasRequested || before.delivered) failures = Number.NaN;
		failures += 1;
		if (Number.isNaN(failures)) continue;
		const baseDelay = Math.min(
			DELIVERY_SCHEDULE.initialDelay * DELIVERY_SCHEDULE.backoffFactor ** (failures - 1),
			DELIVERY_SCHEDULE.maxDelay,
		);
		const delay = attempt.startedAt - (before.endedAt ?? 0);
		// The last attempt of all may come sooner than its turn.
		const isLast = attempt.startedAt >= lastAttemptAt(seen[0]?.startedAt ?? 0);
		assert.ok(
			isLast || delay >= baseDelay * (1 - DELIVERY_SCHEDULE.jitter) - 1,
			`${id} is tried again after ${delay} ms, before its time`,
		);
		const retryAfterFactor = before.retryAfterMs > 0 ? DELIVERY_SCHEDULE.maxRetryAfterFactor : 1;
		const moved = endpoint?.disabled.length !== 0 || webhooks.get(webhook_id)?.status !== 'active';
		const latest =
			Math.min(baseDelay * (1 + DELIVERY_SCHEDULE.jitter), DELIVERY_SCHEDULE.maxDelay) * retryAfterFactor + SLACK_MS;
		assert.ok(moved || delay <= latest, `${id} is tried again after ${delay} ms, later than ${latest}`);
	}
}

function assertEqualBodies({ received }: SimulationResult): void {
	const bodies = new Map<string, string>();
	for (const { id, body } of received) {
		assert.equal(body, bodies.get(id) ?? body, `the bodies of ${id} differ`);
		bodies.set(id, body);
	}
}

function assertDisabledNotCalled({ endpoints, received }: SimulationResult): void {
	for (const { id, urls, disabled } of endpoints) {
		for (const { from, to } of disabled) {
			const wrong = received.find(({ url, startedAt }) => urls.includes(url) && startedAt > from && startedAt < to);
			assert.equal(wrong, undefined, `${id} was called while it was disabled`);
		}
	}
}

/** Deliveries that were pending when their endpoint was disabled are not sent after it is enabled, unless they are retried. */
function assertCancelledNotSent(
	{ cancelled, requested, deliveries }: SimulationResult,
	attempts: Map<string, Received[]>,
): void {
	const endpointOf = new Map(deliveries.map(({ id, webhook_id }) => [id, webhook_id]));
	for (const { of, at } of cancelled) {
		const later = attempts.get(of)?.find(({ startedAt }) => startedAt > at);
		const again = requested.some((one) => (one.of === of || one.of === endpointOf.get(of)) && one.at >= at);
		assert.ok(!later || again, `${of} is sent although its endpoint was disabled meanwhile`);
	}
}

/** What is about one conversation begins in order, and the next one when the one before has ended. */
function assertOrder({ deliveries, downtimes, requested }: SimulationResult, attempts: Map<string, Received[]>): void {
	const previous = new Map<string, Received>();
	for (const { id, webhook_id, subject, event_type } of deliveries) {
		const [first] = attempts.get(id) ?? [];
		if (!first) continue;
		// What a person asked for comes when the person asks.
		if (requested.some(({ of, at }) => (of === id || of === webhook_id) && at <= first.startedAt)) continue;
		const orderingKey = `${webhook_id} ${subject ?? event_type}`;
		const before = previous.get(orderingKey);
		previous.set(orderingKey, first);
		if (!before) continue;
		const ended = before.endedAt ?? Number.POSITIVE_INFINITY;
		const crashed = downtimes.some(({ from }) => from >= before.startedAt && from <= ended);
		assert.ok(first.startedAt >= (crashed ? before.startedAt : ended), `${id} overtakes what came before it`);
	}
}

function assertDisabledOnlyAfterFailing({ endpoints, webhooks, received, failingSince }: SimulationResult): void {
	for (const { id, urls } of endpoints) {
		const record = webhooks.get(id);
		if (!record) continue;
		const own = received.filter(({ url }) => urls.includes(url));
		const last = own.at(-1);
		const since = failingSince.get(id) ?? null;
		const reason = /^Every attempt since (\S+) has failed\.$/.exec(record.disabled_reason ?? '');
		if (reason) {
			const failing = Date.parse(reason[1] as string);
			const wrong = own.find(
				({ startedAt, delivered }) => delivered && startedAt > failing && startedAt < record.updated_at,
			);
			assert.equal(wrong, undefined, `${id} is disabled although it took something`);
			assert.ok(record.updated_at - failing >= DELIVERY_SCHEDULE.disableAfter, `${id} is disabled too early`);
		} else if (record.status === 'active' && since !== null) {
			assert.ok(
				(last?.startedAt ?? 0) - since < DELIVERY_SCHEDULE.disableAfter + HOUR,
				`${id} has only failed, and is active`,
			);
		}
	}
}
