import type { DeliveryRecord, Store } from '../../store/index.ts';

/** Deliveries of an endpoint that are read ahead, of each kind; with fewer left than the reserve more are read. */
const WINDOW = { retries: 32, fresh: 64 } as const;
const RESERVE = 16;

/** A delivery that was begun and has not ended. */
export interface InHand {
	/** As it was when it was begun. */
	readonly delivery: DeliveryRecord;
	/** Whether it was seen to be due as it was not when it was begun: what ends then is perhaps due again. */
	changed: boolean;
}

/** What an endpoint has to be sent, as far as it was read ahead. */
export interface Ready {
	/** Tried before and due again, or asked for by a person; by their time. */
	readonly retries: readonly DeliveryRecord[];
	/** In the order of their events. */
	readonly fresh: readonly DeliveryRecord[];
}

/** What may be begun now. */
export interface Rules {
	/** What is about one of these has to wait for what is under way (see `likenessOf`). */
	busy: ReadonlySet<string>;
	/** Whether anything may that is tried for the first time. */
	fresh: boolean;
	/** Whether this one must wait for another reason. */
	isKept(delivery: DeliveryRecord): boolean;
}

/** What deliveries that must not overtake one another have in common: their conversation, or where there is none their type. */
export function likenessOf({ subject, event_type }: DeliveryRecord): string {
	return subject ?? event_type;
}

/** Whether it is sent in the order of the log: it was not tried since its event, or since all of a time was asked for again. */
export function isFresh({ due_at }: DeliveryRecord): boolean {
	return due_at === 0;
}

/** The next one to begin: what is due again goes before what is new. */
export function nextToBegin({ retries, fresh }: Ready, rules: Rules): DeliveryRecord | undefined {
	const mayBegin = (delivery: DeliveryRecord) => !rules.busy.has(likenessOf(delivery)) && !rules.isKept(delivery);
	return retries.find(mayBegin) ?? (rules.fresh ? fresh.find(mayBegin) : undefined);
}

/**
 * What of an endpoint's deliveries is read ahead. Of every one that waits and is not in hand, one of these holds, so that none is
 * forgotten:
 *
 * - it was read, and is here;
 * - more was due than was read: it will be read once little is left of its kind;
 * - something may have become due since it was read: it is read when nothing can be begun of what is here;
 * - it is not due: `read` answers when the first of these will be. Who learns of an earlier time looks then too.
 */
export class ReadAhead implements Ready {
	readonly #store: Pick<Store, 'dueDeliveriesExcept' | 'dueDeliveries' | 'nextDueAfter'>;
	readonly #webhookId: string;
	#retries: DeliveryRecord[] = [];
	#fresh: DeliveryRecord[] = [];
	#stale = true;
	/** Whether more was due than was read; `besides`: even of what need not wait for its like. */
	#more = { retries: false, fresh: false, besides: false };

	constructor(store: Pick<Store, 'dueDeliveriesExcept' | 'dueDeliveries' | 'nextDueAfter'>, webhookId: string) {
		this.#store = store;
		this.#webhookId = webhookId;
	}

	get retries(): readonly DeliveryRecord[] {
		return this.#retries;
	}

	get fresh(): readonly DeliveryRecord[] {
		return this.#fresh;
	}

	/** Whether nothing is known to be due. */
	get isEmpty(): boolean {
		return !this.#stale && this.#retries.length === 0 && this.#fresh.length === 0;
	}

	/** Something may have become due. */
	invalidate(): void {
		this.#stale = true;
	}

	/** A retry has become due: it does not wait for all that is new. */
	retryDue(): void {
		this.#stale = true;
		if (this.#retries.length === 0) this.#fresh = [];
	}

	remove(delivery: DeliveryRecord): void {
		const from = this.#retries.includes(delivery) ? this.#retries : this.#fresh;
		from.splice(from.indexOf(delivery), 1);
	}

	/** Whether to read, where nothing that is here can be begun although there is room. */
	needsMore(fresh: boolean): boolean {
		const { retries, fresh: ofFresh, besides } = this.#more;
		if (this.#stale || (retries && this.#retries.length < RESERVE)) return true;
		return fresh && (besides || (ofFresh && this.#fresh.length < RESERVE));
	}

	/** Reads anew. @returns when the next one is due of those that are not (ms since the epoch); null where there is none */
	async read(inHand: ReadonlyMap<string, InHand>, now: number): Promise<number | null> {
		const limit = WINDOW.fresh + inHand.size;
		this.#stale = false;
		const due = await this.#store.dueDeliveries(this.#webhookId, now, limit);
		const [retries, fresh] = [due.retries, due.firstAttempts].map((all) => all.filter((one) => !isInHand(one, inHand)));
		this.#retries = (retries ?? []).slice(0, WINDOW.retries);
		this.#fresh = (fresh ?? []).slice(0, WINDOW.fresh);
		this.#more = {
			retries: due.retries.length === limit || (retries ?? []).length > WINDOW.retries,
			fresh: due.firstAttempts.length === limit,
			besides: false,
		};
		return this.#store.nextDueAfter(this.#webhookId, now);
	}

	/** Where all that was read waits for its like, what comes after it need not. */
	async readBesides(inHand: ReadonlyMap<string, InHand>, busy: ReadonlySet<string>, now: number): Promise<void> {
		if (!this.#more.retries && !this.#more.fresh) return;
		const due = await this.#store.dueDeliveriesExcept(this.#webhookId, now, [...busy], WINDOW.fresh);
		const known = new Set([...this.#retries, ...this.#fresh].map(({ id }) => id));
		for (const delivery of due) {
			if (known.has(delivery.id) || isInHand(delivery, inHand)) continue;
			(isFresh(delivery) ? this.#fresh : this.#retries).push(delivery);
		}
		this.#more.besides = due.length === WINDOW.fresh;
	}
}

/** One that is in hand may have been made due anew before its end was known here: that is remembered until it ends. */
function isInHand({ id, version }: DeliveryRecord, inHand: ReadonlyMap<string, InHand>): boolean {
	const held = inHand.get(id);
	if (held) held.changed ||= version > held.delivery.version;
	return held !== undefined;
}
