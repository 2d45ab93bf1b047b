import { type Clock, type Log, monotonicTimeFrom, newId, retryAfterMs } from '../../base/index.ts';
import {
	type Commit,
	type DeliveryRecord,
	decideAndCommit,
	expectVersion,
	type FenceOf,
	type Store,
	type WebhookRecord,
	type Write,
} from '../../store/index.ts';
import { renderEvent } from '../event-body.ts';
import type { Attempt, Sender } from '../sender.ts';
import { DELIVERY_SCHEDULE, isDue } from './delivery-schedule.ts';
import { type AttemptResult, attemptPatch, expiryReason, giveUpPatch } from './transitions.ts';

/** What attempts need. */
interface AttemptRunnerOptions {
	store: Pick<Store, 'commit' | 'deliveries' | 'events' | 'get'>;
	sender: Pick<Sender, 'send'>;
	clock: Clock;
	log: Log;
	/** From 0 up to 1. */
	random: () => number;
	/** Called when another owner has the store: nothing can be stored afterwards. */
	onFenced(): void;
	onAttempt?: AttemptObserver | undefined;
	/** Absent: the store has one owner. */
	fenceOf?: FenceOf | undefined;
}

/** Called for each attempt with whether it delivered, and the milliseconds from the event to its end. */
export type AttemptObserver = (isDelivered: boolean, lagMs: number) => void;

/** An attempt that is not stored yet. Times in ms since the epoch; the end ignores changes of the clock during the attempt. */
interface CompletedAttempt {
	kind: 'attempt';
	/** The ids of the delivery and of its endpoint. */
	id: string;
	endpoint: string;
	attempt: Attempt;
	startedAt: number;
	endedAt: number;
	random: number;
}

/** A delivery that may not be attempted any more. This is not stored yet. */
interface ExpiredDelivery {
	kind: 'expired';
	id: string;
	error: string;
}

/**
 * The outcome of a run. `inactive`: no attempt, because the endpoint is disabled or deleted. `none`: no attempt is due; `due`
 * is when the next one is (ms since the epoch), null for never.
 */
export type AttemptOutcome =
	| CompletedAttempt
	| ExpiredDelivery
	| { kind: 'inactive' }
	| { kind: 'none'; due: number | null };

/** Deliveries that the commit that disables an endpoint cancels. The others are cancelled in batches later. */
export const CANCEL_BATCH_SIZE = 1_000;

/** Makes attempts in two steps: `run` sends a delivery that is still pending, `recordOutcome` stores the outcome. */
export class AttemptRunner {
	readonly #store: AttemptRunnerOptions['store'];
	readonly #commits: Pick<Store, 'commit'>;
	readonly #sender: Pick<Sender, 'send'>;
	readonly #clock: Clock;
	readonly #log: Log;
	readonly #random: () => number;
	readonly #onAttempt: AttemptObserver | undefined;
	readonly #fenceOf: FenceOf | undefined;

	constructor({ store, sender, clock, log, random, onFenced, onAttempt, fenceOf }: AttemptRunnerOptions) {
		this.#fenceOf = fenceOf;
		this.#onAttempt = onAttempt;
		this.#store = store;
		this.#sender = sender;
		this.#clock = clock;
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
	 * Sends the delivery if it is still pending and due. Nothing is stored yet: a process that ends now leaves the delivery due.
	 * @throws the signal's reason, and the error of the database when it cannot be read
	 */
	async run(id: string, signal: AbortSignal): Promise<AttemptOutcome> {
		const delivery = await this.#store.get('deliveries', id);
		const startedAt = this.#clock.now();
		if (delivery?.status !== 'pending') return { kind: 'none', due: null };
		if (!isDue(delivery.due_at, startedAt)) return { kind: 'none', due: delivery.due_at };
		const endpoint = await this.#store.get('webhooks', delivery.webhook_id);
		if (endpoint?.status !== 'active') return { kind: 'inactive' };
		const error = expiryReason(delivery, startedAt);
		if (error !== null) return { kind: 'expired', id, error };
		const event = await this.#store.events.at(delivery.event_seq);
		if (!event) return { kind: 'expired', id, error: 'The event is no longer kept.' };
		// The last look before the request: another node delivers to the endpoint, also if this one was frozen meanwhile.
		if (this.#fenceOf?.(endpoint.id) === null) return { kind: 'none', due: null };
		const now = monotonicTimeFrom(this.#clock);
		const attempt = await this.#send(endpoint, { id: event.id, type: event.type, body: renderEvent(event) }, signal);
		const endedAt = now();
		this.#onAttempt?.(attempt.delivered, endedAt - event.created_at);
		return { kind: 'attempt', id, endpoint: endpoint.id, attempt, startedAt, endedAt, random: this.#random() };
	}

	/**
	 * Stores an outcome and its consequences. May be called again until it succeeds.
	 * @returns when the next attempt is due (ms since the epoch); null when none will follow
	 * @throws AppError `unavailable` when it could not be stored
	 */
	recordOutcome(outcome: AttemptOutcome & { kind: 'attempt' | 'expired' }): Promise<number | null> {
		return outcome.kind === 'attempt' ? this.#recordAttempt(outcome) : this.#recordExpiry(outcome);
	}

	async #send(endpoint: WebhookRecord, payload: { id: string; type: string; body: string }, signal: AbortSignal) {
		try {
			return await this.#sender.send(endpoint, payload, signal);
		} catch (defect) {
			signal.throwIfAborted();
			// For example a secret that cannot be opened. It counts as a failure, because a person can repair it while retries last.
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
			// Erased with its conversation or its endpoint during the attempt.
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
							? { op: 'clear_failures', webhook_id: endpoint }
							: { op: 'record_failure', webhook_id: endpoint, at: startedAt },
						...(disableCommit?.write ?? []),
					],
				},
				result: { due: set.due_at ?? null, disabled: disableCommit !== null },
			};
		});
		if (disabled) this.#log.warn({ webhook: endpoint }, 'a webhook endpoint that has only failed was disabled');
		return due;
	}

	/** The part of the commit that disables an endpoint that has only failed for too long; null when it has not. */
	async #disableCommit(id: string, now: number): Promise<Required<Pick<Commit, 'expect' | 'write'>> | null> {
		const since = await this.#store.deliveries.failingSince(id);
		if (since === null || now - since < DELIVERY_SCHEDULE.disableAfter) return null;
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
