import {
	type Clock,
	type ClockJumpDetector,
	type Log,
	monotonicTimeFrom,
	newId,
	retryAfterMs,
} from '../../base/index.ts';
import {
	type Commit,
	type DeliveryRecord,
	decideAndCommit,
	expectVersion,
	type Store,
	type WebhookRecord,
	type Write,
} from '../../store/index.ts';
import { renderEvent } from '../event-body.ts';
import type { Attempt, Sender } from '../sender.ts';
import { DELIVERY_SCHEDULE, isDue } from './delivery-schedule.ts';
import { type AttemptResult, attemptPatch, expiryReason, giveUpPatch, mustAwaitClock } from './transitions.ts';

export interface AttemptRunnerOptions {
	store: Pick<Store, 'commit' | 'deliveries' | 'events' | 'get'>;
	sender: Pick<Sender, 'send'>;
	clock: Clock;
	jumpDetector: Pick<ClockJumpDetector, 'isSuspect'>;
	log: Log;
	/** From 0 up to 1. */
	random: () => number;
	/** Is told that another owner has the store: nothing can be stored any more. */
	onFenced(): void;
}

/** An attempt that was made, and is yet to be stored. Times in ms since the epoch; the end as if nobody had set the clock since. */
interface CompletedAttempt {
	kind: 'attempt';
	/** The delivery's, and its endpoint's. */
	id: string;
	endpoint: string;
	attempt: Attempt;
	startedAt: number;
	endedAt: number;
	random: number;
}

/** A delivery of which no attempt may be made any more: that, and why, is yet to be stored. */
interface ExpiredDelivery {
	kind: 'lapse';
	id: string;
	error: string;
}

/**
 * What came of making an attempt. `inactive`: none was made, the endpoint is disabled or gone. `none`: there was none to make;
 * `due` is when there will be (ms since the epoch), null for never.
 */
export type AttemptOutcome =
	| CompletedAttempt
	| ExpiredDelivery
	| { kind: 'inactive' }
	| { kind: 'none'; due: number | null };

/** Deliveries that end with their endpoint in the commit that disables it; the others follow in portions. */
export const CANCEL_BATCH_SIZE = 1_000;

/** Makes attempts in two steps: one looks that the delivery is still wanted and sends it, the other stores what came of it. */
export class AttemptRunner {
	readonly #store: AttemptRunnerOptions['store'];
	readonly #commits: Pick<Store, 'commit'>;
	readonly #sender: Pick<Sender, 'send'>;
	readonly #clock: Clock;
	readonly #jumpDetector: Pick<ClockJumpDetector, 'isSuspect'>;
	readonly #log: Log;
	readonly #random: () => number;

	constructor({ store, sender, clock, jumpDetector, log, random, onFenced }: AttemptRunnerOptions) {
		this.#store = store;
		this.#sender = sender;
		this.#clock = clock;
		this.#jumpDetector = jumpDetector;
		this.#log = log;
		this.#random = random;
		this.#commits = {
			async commit(commit) {
				const end = await store.commit(commit);
				if (end.outcome === 'fenced') onFenced();
				return end;
			},
		};
	}

	/**
	 * Sends it, where that is still wanted. Nothing of that is stored yet: a process that ends now leaves the delivery due.
	 * @throws the signal's reason, and where the database cannot be read
	 */
	async run(id: string, signal: AbortSignal): Promise<AttemptOutcome> {
		const delivery = await this.#store.get('deliveries', id);
		const startedAt = this.#clock.now();
		if (delivery?.status !== 'pending') return { kind: 'none', due: null };
		if (!isDue(delivery.due_at, startedAt)) return { kind: 'none', due: delivery.due_at };
		const endpoint = await this.#store.get('webhooks', delivery.webhook_id);
		if (endpoint?.status !== 'active') return { kind: 'inactive' };
		const isTimeSuspect = this.#jumpDetector.isSuspect();
		if (mustAwaitClock(delivery, startedAt, isTimeSuspect)) return { kind: 'none', due: startedAt };
		const error = isTimeSuspect ? null : expiryReason(delivery, startedAt);
		if (error !== null) return { kind: 'lapse', id, error };
		const event = await this.#store.events.at(delivery.event_seq);
		if (!event) return { kind: 'lapse', id, error: 'The event is no longer kept.' };
		const now = monotonicTimeFrom(this.#clock);
		const attempt = await this.#send(endpoint, { id: event.id, type: event.type, body: renderEvent(event) }, signal);
		return { kind: 'attempt', id, endpoint: endpoint.id, attempt, startedAt, endedAt: now(), random: this.#random() };
	}

	/**
	 * Stores it, with what follows from it. May be called again until it has succeeded.
	 * @returns when the next attempt is due (ms since the epoch); null where none is to come
	 * @throws AppError `unavailable` where it could not be stored
	 */
	recordOutcome(outcome: AttemptOutcome & { kind: 'attempt' | 'lapse' }): Promise<number | null> {
		return outcome.kind === 'attempt' ? this.#recordAttempt(outcome) : this.#recordExpiry(outcome);
	}

	async #send(endpoint: WebhookRecord, payload: { id: string; type: string; body: string }, signal: AbortSignal) {
		try {
			return await this.#sender.send(endpoint, payload, signal);
		} catch (defect) {
			signal.throwIfAborted();
			// A secret that cannot be opened, say: a failure like others, which a person can mend within the time for retries.
			this.#log.error({ err: defect, webhook: endpoint.id }, 'a delivery could not be sent');
			const error = 'This server could not sign the delivery.';
			return { delivered: false, status: null, headers: {}, body: '', duration_ms: 0, error } satisfies Attempt;
		}
	}

	async #recordAttempt({
		id,
		endpoint,
		attempt,
		startedAt,
		endedAt,
		random,
	}: CompletedAttempt): Promise<number | null> {
		const { delivered, status, error } = attempt;
		const requestedDelayMs = retryAfterMs(attempt.headers['retry-after'], endedAt);
		const result: AttemptResult = { startedAt, endedAt, delivered, status, error, retryAfterMs: requestedDelayMs };
		const { due, disabled } = await decideAndCommit(this.#commits, async () => {
			const delivery = await this.#store.get('deliveries', id);
			// Erased with its conversation or its endpoint while it was under way.
			if (!delivery) return { commit: null, result: { due: null, disabled: false } };
			const disableCommit = delivered ? null : await this.#disableCommit(endpoint, endedAt);
			const set = attemptPatch(delivery, result, random);
			return {
				commit: {
					expect: [expectVersion('deliveries', delivery), ...(disableCommit?.expect ?? [])],
					write: [
						{ op: 'patch', kind: 'deliveries', id, set },
						{ op: 'insert', kind: 'delivery_attempts', record: attemptRecord(delivery, attempt, startedAt) },
						delivered
							? { op: 'forget_failures', webhook_id: endpoint }
							: { op: 'note_failure', webhook_id: endpoint, at: startedAt },
						...(disableCommit?.write ?? []),
					],
				},
				result: { due: set.due_at ?? null, disabled: disableCommit !== null },
			};
		});
		if (disabled) this.#log.warn({ webhook: endpoint }, 'a webhook endpoint that has only failed was disabled');
		return due;
	}

	/** What disables an endpoint that has only failed for too long; null where it has not. */
	async #disableCommit(id: string, now: number): Promise<Required<Pick<Commit, 'expect' | 'write'>> | null> {
		const since = await this.#store.deliveries.failingSince(id);
		if (since === null || now - since < DELIVERY_SCHEDULE.disableAfter || this.#jumpDetector.isSuspect()) return null;
		const endpoint = await this.#store.get('webhooks', id);
		if (endpoint?.status !== 'active') return null;
		const disabled_reason = `Every attempt since ${new Date(since).toISOString()} has failed.`;
		const write: Write[] = [
			{ op: 'patch', kind: 'webhooks', id, set: { status: 'disabled', disabled_reason, updated_at: now } },
			{ op: 'cancel_deliveries', webhook_id: id, at: now, limit: CANCEL_BATCH_SIZE },
		];
		return { expect: [expectVersion('webhooks', endpoint)], write };
	}

	async #recordExpiry({ id, error }: ExpiredDelivery): Promise<null> {
		return decideAndCommit(this.#commits, async () => {
			const delivery = await this.#store.get('deliveries', id);
			if (delivery?.status !== 'pending') return { commit: null, result: null };
			return {
				commit: {
					expect: [expectVersion('deliveries', delivery)],
					write: [{ op: 'patch', kind: 'deliveries', id, set: giveUpPatch(error, this.#clock.now()) }],
				},
				result: null,
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
