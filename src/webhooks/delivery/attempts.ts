import { type Clock, type Log, newId, retryAfterMs } from '../../base/index.ts';
import {
	type Commit,
	type DeliveryRecord,
	decideAndCommit,
	type Store,
	versionOf,
	type WebhookRecord,
	type Write,
} from '../../store/index.ts';
import { renderEvent } from '../event-body.ts';
import type { Attempt, Sender } from '../sender.ts';
import { isOver, SCHEDULE } from './schedule.ts';
import { type AttemptResult, afterAttempt, givenUp } from './transitions.ts';

export interface AttemptsOptions {
	store: Pick<Store, 'commit' | 'event' | 'failingSince' | 'get'>;
	sender: Pick<Sender, 'send'>;
	clock: Clock;
	log: Log;
	/** From 0 up to 1. */
	random: () => number;
}

/** How an attempt ended. `inactive`: the endpoint is disabled or gone, none was made. `nothing`: there was none to make. */
export type AttemptEnd = 'delivered' | 'failed' | 'inactive' | 'nothing';

/** Deliveries that end with their endpoint in the commit that disables it; the others follow in portions. */
export const CANCELLED_AT_ONCE = 1_000;

/** Makes one attempt at a time of one delivery: looks that it is still wanted, sends, and stores what came of it. */
export class Attempts {
	readonly #store: AttemptsOptions['store'];
	readonly #sender: Pick<Sender, 'send'>;
	readonly #clock: Clock;
	readonly #log: Log;
	readonly #random: () => number;

	constructor({ store, sender, clock, log, random }: AttemptsOptions) {
		this.#store = store;
		this.#sender = sender;
		this.#clock = clock;
		this.#log = log;
		this.#random = random;
	}

	/**
	 * @throws the signal's reason, and `unavailable` where the outcome could not be stored: the delivery is as it was, and due
	 */
	async make(id: string, signal: AbortSignal): Promise<AttemptEnd> {
		const delivery = await this.#store.get('deliveries', id);
		const startedAt = this.#clock.now();
		if (delivery?.status !== 'pending') return 'nothing';
		const endpoint = await this.#store.get('webhooks', delivery.webhook_id);
		if (endpoint?.status !== 'active') return 'inactive';
		const { first_attempt_at } = delivery;
		if (isOver(first_attempt_at, startedAt)) return this.#giveUp(id, 'It could not be delivered within 72 hours.');
		const event = await this.#store.event(delivery.event_seq);
		if (!event) return this.#giveUp(id, 'The event is no longer kept.');
		const attempt = await this.#send(endpoint, { id: event.id, type: event.type, body: renderEvent(event) }, signal);
		return this.#settle(delivery, attempt, startedAt);
	}

	async #send(endpoint: WebhookRecord, signed: { id: string; type: string; body: string }, signal: AbortSignal) {
		try {
			return await this.#sender.send(endpoint, signed, signal);
		} catch (defect) {
			signal.throwIfAborted();
			// A secret that cannot be opened, say: a failure like others, which a person can mend within the time for retries.
			this.#log.error({ err: defect, webhook: endpoint.id }, 'a delivery could not be sent');
			const error = 'This server could not sign the delivery.';
			return { delivered: false, status: null, headers: {}, body: '', duration_ms: 0, error } satisfies Attempt;
		}
	}

	async #settle({ id, webhook_id }: DeliveryRecord, attempt: Attempt, startedAt: number): Promise<AttemptEnd> {
		const { delivered, status, error } = attempt;
		const endedAt = this.#clock.now();
		const asked = retryAfterMs(attempt.headers['retry-after'], endedAt);
		const result: AttemptResult = { startedAt, endedAt, delivered, status, error, retryAfterMs: asked };
		const random = this.#random();
		const disabled = await decideAndCommit(this.#store, async () => {
			const delivery = await this.#store.get('deliveries', id);
			// Erased with its conversation or its endpoint while it was under way.
			if (!delivery) return { commit: null, result: false };
			const disabling = delivered ? null : await this.#disabling(webhook_id, endedAt);
			return {
				commit: {
					expect: [versionOf('deliveries', delivery), ...(disabling?.expect ?? [])],
					write: [
						{ op: 'patch', kind: 'deliveries', id, set: afterAttempt(delivery, result, random) },
						{ op: 'insert', kind: 'delivery_attempts', record: attemptRecord(delivery, attempt, startedAt) },
						delivered ? { op: 'forget_failures', webhook_id } : { op: 'note_failure', webhook_id, at: startedAt },
						...(disabling?.write ?? []),
					],
				},
				result: disabling !== null,
			};
		});
		if (disabled) this.#log.warn({ webhook: webhook_id }, 'a webhook endpoint that has only failed was disabled');
		return delivered ? 'delivered' : 'failed';
	}

	/** What disables an endpoint that has only failed for too long; null where it has not. */
	async #disabling(id: string, now: number): Promise<Required<Pick<Commit, 'expect' | 'write'>> | null> {
		const since = await this.#store.failingSince(id);
		if (since === null || now - since < SCHEDULE.patience) return null;
		const endpoint = await this.#store.get('webhooks', id);
		if (endpoint?.status !== 'active') return null;
		const disabled_reason = `Every attempt since ${new Date(since).toISOString()} has failed.`;
		const write: Write[] = [
			{ op: 'patch', kind: 'webhooks', id, set: { status: 'disabled', disabled_reason, updated_at: now } },
			{ op: 'cancel_deliveries', webhook_id: id, at: now, limit: CANCELLED_AT_ONCE },
		];
		return { expect: [versionOf('webhooks', endpoint)], write };
	}

	async #giveUp(id: string, error: string): Promise<AttemptEnd> {
		return decideAndCommit(this.#store, async () => {
			const delivery = await this.#store.get('deliveries', id);
			if (delivery?.status !== 'pending') return { commit: null, result: 'nothing' as const };
			return {
				commit: {
					expect: [versionOf('deliveries', delivery)],
					write: [{ op: 'patch', kind: 'deliveries', id, set: givenUp(error, this.#clock.now()) }],
				},
				result: 'nothing' as const,
			};
		});
	}
}

function attemptRecord(delivery: DeliveryRecord, attempt: Attempt, startedAt: number) {
	const { status, duration_ms, error, body } = attempt;
	return {
		id: newId('delivery_attempt'),
		delivery_id: delivery.id,
		number: delivery.attempts + 1,
		status_code: status,
		duration_ms,
		error,
		answer: status === null ? null : body,
		created_at: startedAt,
	};
}
