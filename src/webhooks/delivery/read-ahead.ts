import type { DeliveriesReader, DeliveryRecord } from '../../store/index.ts';

/** Deliveries of an endpoint that are read ahead, of each kind. With fewer than the threshold left, more are read. */
const READ_AHEAD_SIZE = { retries: 32, firstAttempts: 64 } as const;
const REFILL_THRESHOLD = 16;

/** A delivery that was started and has not ended. */
export interface InFlight {
	/** The record when it was started. */
	readonly delivery: DeliveryRecord;
	/** Whether a newer version of the record was read since the start: the delivery may be due again when it ends. */
	changed: boolean;
}

/** The due deliveries of an endpoint that were read ahead. */
interface ReadyDeliveries {
	/** Tried before and due again, or retried by a person; by due time. */
	readonly retries: readonly DeliveryRecord[];
	/** In the order of their events. */
	readonly firstAttempts: readonly DeliveryRecord[];
}

/** Which deliveries may start now. */
interface StartRules {
	/** Ordering keys of running deliveries: others with these keys wait. */
	busyKeys: ReadonlySet<string>;
	/** Whether first attempts may start. */
	allowFirstAttempts: boolean;
}

/** Deliveries with the same key must not overtake one another: their conversation, or else their type. */
export function orderingKey({ subject, event_type }: DeliveryRecord): string {
	return subject ?? event_type;
}

/** Whether it is sent in the order of the event log: it was not tried since its event, or since a replay. */
export function isFirstAttempt({ due_at }: DeliveryRecord): boolean {
	return due_at === 0;
}

/** The next delivery to start: retries go before first attempts. */
export function nextToStart(
	{ retries, firstAttempts }: ReadyDeliveries,
	rules: StartRules,
): DeliveryRecord | undefined {
	const mayStart = (delivery: DeliveryRecord) => !rules.busyKeys.has(orderingKey(delivery));
	return retries.find(mayStart) ?? (rules.allowFirstAttempts ? firstAttempts.find(mayStart) : undefined);
}

/** The queries about an endpoint's due deliveries. */
type DueReader = Pick<DeliveriesReader, 'due' | 'dueExcept' | 'nextDueAfter'>;

/**
 * The read-ahead of an endpoint's deliveries. For each pending delivery that is not running, one of these holds, so that none
 * is forgotten:
 *
 * - It was read and is here.
 * - More was due than was read: it is read when few of its kind are left.
 * - Something may have become due since the last read (`invalidate`): it is read when nothing here can start.
 * - It is not due: `read` returns when the first of these will be. A caller that learns of an earlier time reads then too.
 */
export class ReadAhead implements ReadyDeliveries {
	readonly #deliveries: DueReader;
	readonly #webhookId: string;
	#retries: DeliveryRecord[] = [];
	#firstAttempts: DeliveryRecord[] = [];
	#stale = true;
	/** Whether more was due than was read; `otherKeys`: with other ordering keys than the running deliveries. */
	#hasMore = { retries: false, firstAttempts: false, otherKeys: false };

	constructor(deliveries: DueReader, webhookId: string) {
		this.#deliveries = deliveries;
		this.#webhookId = webhookId;
	}

	get retries(): readonly DeliveryRecord[] {
		return this.#retries;
	}

	get firstAttempts(): readonly DeliveryRecord[] {
		return this.#firstAttempts;
	}

	/** Whether nothing is known to be due. */
	get isEmpty(): boolean {
		return !this.#stale && this.#retries.length === 0 && this.#firstAttempts.length === 0;
	}

	/** Called when something may have become due. */
	invalidate(): void {
		this.#stale = true;
	}

	/** Called when a retry has become due. It does not wait for the first attempts that were read before it. */
	onRetryDue(): void {
		this.#stale = true;
		if (this.#retries.length === 0) this.#firstAttempts = [];
	}

	remove(delivery: DeliveryRecord): void {
		const from = this.#retries.includes(delivery) ? this.#retries : this.#firstAttempts;
		from.splice(from.indexOf(delivery), 1);
	}

	/** Whether to read more when there are free slots but nothing here can start. */
	needsMore(allowFirstAttempts: boolean): boolean {
		const { retries, firstAttempts: hasMoreFirstAttempts, otherKeys } = this.#hasMore;
		if (this.#stale || (retries && this.#retries.length < REFILL_THRESHOLD)) return true;
		return allowFirstAttempts && (otherKeys || (hasMoreFirstAttempts && this.#firstAttempts.length < REFILL_THRESHOLD));
	}

	/** Reads again. @returns when the next delivery is due that is not due now (ms since the epoch); null when there is none */
	async read(inFlight: ReadonlyMap<string, InFlight>, now: number): Promise<number | null> {
		const limit = READ_AHEAD_SIZE.firstAttempts + inFlight.size;
		this.#stale = false;
		const due = await this.#deliveries.due(this.#webhookId, now, limit);
		const [retries, firstAttempts] = [due.retries, due.firstAttempts].map((all) =>
			all.filter((one) => !isInFlight(one, inFlight)),
		);
		this.#retries = (retries ?? []).slice(0, READ_AHEAD_SIZE.retries);
		this.#firstAttempts = (firstAttempts ?? []).slice(0, READ_AHEAD_SIZE.firstAttempts);
		this.#hasMore = {
			retries: due.retries.length === limit || (retries ?? []).length > READ_AHEAD_SIZE.retries,
			firstAttempts: due.firstAttempts.length === limit,
			otherKeys: false,
		};
		return this.#deliveries.nextDueAfter(this.#webhookId, now);
	}

	/** Reads deliveries with other ordering keys, when all that were read wait for running ones. */
	async readOtherKeys(
		inFlight: ReadonlyMap<string, InFlight>,
		busyKeys: ReadonlySet<string>,
		now: number,
	): Promise<void> {
		if (!this.#hasMore.retries && !this.#hasMore.firstAttempts) return;
		const due = await this.#deliveries.dueExcept(this.#webhookId, now, [...busyKeys], READ_AHEAD_SIZE.firstAttempts);
		const known = new Set([...this.#retries, ...this.#firstAttempts].map(({ id }) => id));
		for (const delivery of due) {
			if (known.has(delivery.id) || isInFlight(delivery, inFlight)) continue;
			(isFirstAttempt(delivery) ? this.#firstAttempts : this.#retries).push(delivery);
		}
		this.#hasMore.otherKeys = due.length === READ_AHEAD_SIZE.firstAttempts;
	}
}

/** A running delivery may have been made due again before its end is known here. `changed` records this until it ends. */
function isInFlight({ id, version }: DeliveryRecord, inFlight: ReadonlyMap<string, InFlight>): boolean {
	const started = inFlight.get(id);
	if (started) started.changed ||= version > started.delivery.version;
	return started !== undefined;
}
