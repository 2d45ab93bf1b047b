import type { Clock, Log } from '../../base/index.ts';
import type { DeliveryRecord, Store } from '../../store/index.ts';
import type { Alarms } from './alarms.ts';
import type { Attempts } from './attempts.ts';
import type { Slots, Waiting } from './slots.ts';

/** Deliveries of an endpoint that are read ahead; with fewer left than the reserve more are read. */
const WINDOW = 64;
const RESERVE = 16;
/** Attempts at an endpoint that are under way at a time. */
const UNDER_WAY = { sound: 10, failing: 2 } as const;
/** The clock may be set meanwhile: after so many milliseconds is looked whether the time has come. */
const LONGEST_WAIT_MS = 3_600_000;
/** Milliseconds after which is looked again where the database cannot be read or written; doubled each time, up to the longest. */
const TROUBLE_MS = { first: 1_000, longest: 60_000 } as const;

/** What all lanes share. */
export interface LaneParts {
	store: Pick<Store, 'dueDeliveries' | 'dueBesides' | 'failingSince' | 'nextDue'>;
	attempts: Attempts;
	/** Endpoints that fail have slots of their own: they wait for one another, and nobody waits for them. */
	slots: { sound: Slots; failing: Slots };
	clock: Clock;
	alarms: Alarms;
	log: Log;
	signal: AbortSignal;
	/** Is told when a lane has nothing to do and nothing to wait for. */
	onIdle(lane: Lane): void;
	/** Is told when an endpoint is found to be disabled or gone while deliveries wait. */
	onInactive(): void;
}

/**
 * The deliveries of one endpoint. They begin in the order of their events, those that were tried before when they are due; of
 * those about one conversation (or else of one type) the next one begins when the one before has ended.
 */
export class Lane implements Waiting {
	readonly webhookId: string;
	readonly #parts: LaneParts;
	/** Read ahead and not begun. */
	#ready: DeliveryRecord[] = [];
	/** Whether something may have become due since it was read ahead. */
	#stale = true;
	/** When it was read ahead (ms since the epoch). */
	#readAt = 0;
	/** Whether more was due than was read ahead; and whether there was more even of what need not wait for its like. */
	#more = { inAll: false, besides: false };
	/** What is under way, by id. */
	readonly #inHand = new Map<string, { likeness: string; ended: Promise<void> }>();
	/** Whether the last attempt failed; known once the database was asked. */
	#failing: boolean | undefined;
	/** Whether the endpoint was found to be disabled or gone: nothing is begun until somebody wakes it. */
	#halted = false;
	#stopped = false;
	#looking = false;
	#lookAgain = false;
	/** How often the database has failed us in a row. */
	#troubles = 0;
	#takeBack = () => {};

	constructor(webhookId: string, parts: LaneParts) {
		this.webhookId = webhookId;
		this.#parts = parts;
	}

	/** Something may be due. */
	wake(): void {
		this.#halted = false;
		this.#stale = true;
		this.proceed();
	}

	/** Begins what can be begun. */
	proceed(): void {
		this.#lookAgain = true;
		if (this.#looking || this.#stopped) return;
		this.#looking = true;
		this.#look()
			.catch((error: unknown) => {
				this.#parts.log.error({ err: error, webhook: this.webhookId }, 'deliveries could not be read');
				this.#staleAfter(this.#troubleMs());
			})
			.finally(() => {
				this.#looking = false;
				if (this.#lookAgain) this.proceed();
			});
	}

	/** Begins nothing any more, and resolves when what is under way has ended. */
	async stop(): Promise<void> {
		this.#stopped = true;
		this.#rest();
		await Promise.all([...this.#inHand.values()].map(({ ended }) => ended));
	}

	async #look(): Promise<void> {
		const { store, clock } = this.#parts;
		this.#failing ??= (await store.failingSince(this.webhookId)) !== null;
		while (this.#lookAgain && !this.#stopped) {
			this.#lookAgain = false;
			this.#takeBack();
			if (this.#halted) {
				this.#rest();
				continue;
			}
			if (!this.#begin()) continue;
			if (this.#needsMore()) {
				await this.#readAhead();
				if (!this.#begin()) continue;
				await this.#readBesides();
				if (!this.#begin()) continue;
			}
			const due = await store.nextDue(this.webhookId, this.#readAt);
			if (due !== null) this.#staleAfter(due - clock.now());
			else if (!this.#lookAgain) this.#rest();
		}
	}

	/** Waits for nothing any more; with nothing under way either it is not needed. */
	#rest(): void {
		this.#takeBack();
		if (this.#ready.length > 0 && !this.#stopped && !this.#halted) return;
		this.#ready = [];
		for (const slots of Object.values(this.#parts.slots)) slots.forget(this);
		if (this.#inHand.size === 0) this.#parts.onIdle(this);
	}

	/** Begins of what was read ahead as much as there is room for; whether there would be room for more. */
	#begin(): boolean {
		while (!this.#stopped) {
			const kind = this.#failing ? 'failing' : 'sound';
			if (this.#inHand.size >= UNDER_WAY[kind]) return false;
			const next = this.#next();
			if (next === undefined) return true;
			const slots = this.#parts.slots[kind];
			if (!slots.take(this, this.#inHand.size > 0)) return false;
			this.#ready.splice(this.#ready.indexOf(next), 1);
			const ended = this.#attempt(next.id, slots);
			this.#inHand.set(next.id, { likeness: likenessOf(next), ended });
		}
		return false;
	}

	/** The first one whose like is not under way. */
	#next(): DeliveryRecord | undefined {
		const busy = this.#busy();
		return this.#ready.find((delivery) => !busy.has(likenessOf(delivery)));
	}

	#busy(): Set<string> {
		return new Set([...this.#inHand.values()].map(({ likeness }) => likeness));
	}

	/** Whether to read, where nothing that was read ahead can be begun although there is room. */
	#needsMore(): boolean {
		const { inAll, besides } = this.#more;
		return this.#stale || besides || (inAll && this.#ready.length < RESERVE);
	}

	async #readAhead(): Promise<void> {
		const { store, clock } = this.#parts;
		const limit = WINDOW + this.#inHand.size;
		this.#stale = false;
		this.#readAt = clock.now();
		const { retries, fresh } = await store.dueDeliveries(this.webhookId, this.#readAt, limit);
		const notInHand = ({ id }: DeliveryRecord) => !this.#inHand.has(id);
		const due = [retries, fresh].map((all) => all.filter(notInHand)) as [DeliveryRecord[], DeliveryRecord[]];
		// Retries go first, but not all the way: under a constant load they would keep what is new waiting.
		this.#ready = [...due[0].slice(0, WINDOW / 2), ...due[1].slice(0, WINDOW)];
		const full = retries.length === limit || fresh.length === limit;
		this.#more = { inAll: full || due[0].length > WINDOW / 2, besides: false };
	}

	/** Where all that was read ahead waits for its like, what comes after it need not. */
	async #readBesides(): Promise<void> {
		if (!this.#more.inAll) return;
		const { store, clock } = this.#parts;
		const busy = this.#busy();
		const due = await store.dueBesides(this.webhookId, clock.now(), [...busy], WINDOW);
		const known = new Set([...this.#inHand.keys(), ...this.#ready.map(({ id }) => id)]);
		this.#ready.push(...due.filter(({ id }) => !known.has(id)));
		this.#more.besides = due.length === WINDOW;
	}

	async #attempt(id: string, slots: Slots): Promise<void> {
		const { attempts, log, signal, onInactive } = this.#parts;
		try {
			const end = await attempts.make(id, signal);
			if (end === 'inactive') {
				this.#halted = true;
				onInactive();
			} else if (end !== 'nothing') this.#failing = end === 'failed';
			// Another time is set, perhaps one that has passed already.
			this.#stale ||= end !== 'delivered';
			this.#troubles = 0;
		} catch (error) {
			if (!signal.aborted) {
				log.error(
					{ err: error, webhook: this.webhookId },
					'the outcome of a delivery was not stored: it is made again',
				);
				this.#stale = true;
				await this.#pause(this.#troubleMs());
			}
		} finally {
			this.#inHand.delete(id);
			slots.release();
			this.proceed();
		}
	}

	#troubleMs(): number {
		const { first, longest } = TROUBLE_MS;
		return Math.min(first * 2 ** this.#troubles++, longest);
	}

	#pause(ms: number): Promise<void> {
		return new Promise((resolve) => {
			const { alarms, signal } = this.#parts;
			const done = () => {
				takeBack();
				signal.removeEventListener('abort', done);
				resolve();
			};
			const takeBack = alarms.set(ms, done);
			signal.addEventListener('abort', done, { once: true });
		});
	}

	#staleAfter(ms: number): void {
		this.#takeBack();
		this.#takeBack = this.#parts.alarms.set(Math.min(Math.max(ms, 1), LONGEST_WAIT_MS), () => {
			this.#stale = true;
			this.proceed();
		});
	}
}

/** What deliveries that must not overtake one another have in common. */
function likenessOf({ subject, event_type }: DeliveryRecord): string {
	return subject ?? event_type;
}
