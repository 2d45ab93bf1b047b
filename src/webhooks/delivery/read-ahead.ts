import type { DeliveriesReader, DeliveryRecord } from '../../store/index.ts';

/** Deliveries of an endpoint that are read ahead, of each kind; with fewer left than the reserve more are read. */
const READ_AHEAD_SIZE = { retries: 32, firstAttempts: 64 } as const;
const REFILL_THRESHOLD = 16;

/** A delivery that was begun and has not ended. */
export interface InFlight {
	/** As it was when it was begun. */
	readonly delivery: DeliveryRecord;
	/** Whether it was seen to be due as it was not when it was begun: what ends then is perhaps due again. */
	changed: boolean;
}

/** What an endpoint has to be sent, as far as it was read ahead. */
export interface ReadyDeliveries {
	/** Tried before and due again, or asked for by a person; by their time. */
	readonly retries: readonly DeliveryRecord[];
	/** In the order of their events. */
	readonly firstAttempts: readonly DeliveryRecord[];
}

/** What may be begun now. */
export interface StartRules {
	/** What is about one of these has to wait for what is under way (see `orderingKey`). */
	busyKeys: ReadonlySet<string>;
	/** Whether anything may that is tried for the first time. */
	allowFirstAttempts: boolean;
	/** Whether this one must wait for another reason. */
	isBlocked(delivery: DeliveryRecord): boolean;
}

/** What deliveries that must not overtake one another have in common: their conversation, or where there is none their type. */
export function orderingKey({ subject, event_type }: DeliveryRecord): string {
	return subject ?? event_type;
}

/** Whether it is sent in the order of the log: it was not tried since its event, or since all of a time was asked for again. */
export function isFirstAttempt({ due_at }: DeliveryRecord): boolean {
	return due_at === 0;
}

/** The next one to begin: what is due again goes before what is new. */
export function nextToStart(
	{ retries, firstAttempts }: ReadyDeliveries,
	rules: StartRules,
): DeliveryRecord | undefined {
	const mayStart = (delivery: DeliveryRecord) =>
		!rules.busyKeys.has(orderingKey(delivery)) && !rules.isBlocked(delivery);
	return retries.find(mayStart) ?? (rules.allowFirstAttempts ? firstAttempts.find(mayStart) : undefined);
}

/** The queries about an endpoint's due deliveries. */
type DueReader = Pick<DeliveriesReader, 'due' | 'dueExcept' | 'nextDueAfter'>;

/**
 * What of an endpoint's deliveries is read ahead. Of every one that waits and is not in hand, one of these holds, so that none is
 * forgotten:
 *
 * - it was read, and is here;
 * - more was due than was read: it will be read once little is left of its kind;
 * - something may have become due since it was read: it is read when nothing can be begun of what is here;
 * - it is not due: `read` answers when the first of these will be. Who learns of an earlier time looks then too.
 */
export class ReadAhead implements ReadyDeliveries {
	readonly #deliveries: DueReader;
	readonly #webhookId: string;
	#retries: DeliveryRecord[] = [];
	#firstAttempts: DeliveryRecord[] = [];
	#stale = true;
	/** Whether more was due than was read; `besides`: even of what need not wait for its like. */
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

	/** Something may have become due. */
	invalidate(): void {
		this.#stale = true;
	}

	/** A retry has become due: it does not wait for all that is new. */
	onRetryDue(): void {
		this.#stale = true;
		if (this.#retries.length === 0) this.#firstAttempts = [];
	}

	remove(delivery: DeliveryRecord): void {
		const from = this.#retries.includes(delivery) ? this.#retries : this.#firstAttempts;
		from.splice(from.indexOf(delivery), 1);
	}

	/** Whether to read, where nothing that is here can be begun although there is room. */
	needsMore(allowFirstAttempts: boolean): boolean {
		const { retries, firstAttempts: hasMoreFirstAttempts, otherKeys } = this.#hasMore;
		if (this.#stale || (retries && this.#retries.length < REFILL_THRESHOLD)) return true;
		return allowFirstAttempts && (otherKeys || (hasMoreFirstAttempts && this.#firstAttempts.length < REFILL_THRESHOLD));
	}

	/** Reads anew. @returns when the next one is due of those that are not (ms since the epoch); null where there is none */
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

	/** Where all that was read waits for its like, what comes after it need not. */
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

/** One that is in hand may have been made due anew before its end was known here: that is remembered until it ends. */
function isInFlight({ id, version }: DeliveryRecord, inFlight: ReadonlyMap<string, InFlight>): boolean {
	const started = inFlight.get(id);
	if (started) started.changed ||= version > started.delivery.version;
	return started !== undefined;
}
