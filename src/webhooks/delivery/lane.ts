import { type Clock, type ClockJumpDetector, deferred, type Log } from '../../base/index.ts';
import type { DeliveryRecord, Store } from '../../store/index.ts';
import type { Attempt } from '../sender.ts';
import { Alarm, type Alarms } from './alarms.ts';
import type { Attempts, Outcome } from './attempts.ts';
import type { Health, Pool } from './health.ts';
import { type InHand, isFresh, likenessOf, nextToBegin, ReadAhead } from './read-ahead.ts';
import type { Slots, Waiting } from './slots.ts';
import { mustWait } from './transitions.ts';

/** The clock may be set meanwhile: after so many milliseconds is looked whether the time has come. */
const LONGEST_WAIT_MS = 3_600_000;
/** While the clock is in doubt, what its time is over for is looked at so often (ms). */
const DOUBT_CHECK_MS = 60_000;
/** Milliseconds after which is looked again where the database cannot be read or written; doubled each time, up to the longest. */
const TROUBLE_MS = { first: 1_000, longest: 60_000 } as const;

/** What all lanes share. */
export interface LaneParts {
	store: Pick<Store, 'dueDeliveries' | 'dueDeliveriesExcept' | 'failingSince' | 'nextDueAfter'>;
	attempts: Pick<Attempts, 'make' | 'settle'>;
	slots: Record<Pool, Slots>;
	clock: Clock;
	watch: Pick<ClockJumpDetector, 'isSuspect'>;
	alarms: Alarms;
	log: Log;
	signal: AbortSignal;
	/** Is told when a lane has nothing to do and nothing to wait for. */
	onIdle(lane: Lane): void;
	/** Is told when an endpoint is found to be disabled or gone while deliveries wait. */
	onInactive(): void;
}

/** A delivery in hand, until its end is stored or can be stored no more. */
interface Begun extends InHand {
	ended: Promise<void>;
}

/**
 * Why nothing is begun: the endpoint was found to be disabled or gone, until somebody wakes it; the database cannot be used,
 * until a pause is over; or the server stops.
 */
type Hold = 'halted' | 'troubled' | 'stopped';

/**
 * The deliveries of one endpoint. They begin in the order of their events, those that were tried before when they are due; of
 * those about one conversation (or else of one type) the next one begins when the end of the one before is stored.
 *
 * One look at a time finds what can be begun. Whoever changes what that may be (something is due, ended, free again) notes the
 * change first and calls `proceed` then. A look that is under way ends its round, and as it began before the call it is followed
 * by another one: so no change is missed.
 */
export class Lane implements Waiting {
	readonly webhookId: string;
	readonly #parts: LaneParts;
	readonly #health: Health;
	readonly #ahead: ReadAhead;
	/** By id. */
	readonly #inHand = new Map<string, Begun>();
	#hold: Hold | null = null;
	#looking = false;
	/** Whether `proceed` was called since the look under way, or the last one, began its round. */
	#asked = false;
	/** Rings when a retry is due, at `dueAt` (ms since the epoch): never later than the first one that is not due yet. */
	readonly #due: Alarm;
	#dueAt = Number.POSITIVE_INFINITY;
	/** Is set while what is new waits after a probe that has failed. */
	readonly #pause: Alarm;
	/** How often the database has failed us in a row; the pause after the last time, while it lasts. */
	#troubles = 0;
	#trouble: { over: Promise<void>; end(): void } | undefined;

	constructor(webhookId: string, health: Health, parts: LaneParts) {
		this.webhookId = webhookId;
		this.#health = health;
		this.#parts = parts;
		this.#ahead = new ReadAhead(parts.store, webhookId);
		this.#due = new Alarm(parts.alarms);
		this.#pause = new Alarm(parts.alarms);
	}

	/** Something may be due. */
	wake(): void {
		if (this.#hold === 'halted') this.#hold = null;
		this.#ahead.invalidate();
		this.proceed();
	}

	/** Something new may be due, and nothing else: during a pause it waits. */
	wakeForNew(): void {
		if (this.#pause.isSet && this.#hold === null) this.#ahead.invalidate();
		else this.wake();
	}

	/** The endpoint is revived, or somewhere else. */
	beginAnew(): void {
		this.#health.forget();
		this.#pause.takeBack();
		this.wake();
	}

	/** Begins what can be begun. */
	proceed(): void {
		this.#asked = true;
		if (this.#looking) return;
		if (this.#hold !== null) {
			this.#rest();
			return;
		}
		this.#looking = true;
		this.#look()
			.catch((error: unknown) => {
				void this.#pauseForTrouble(error, 'deliveries could not be read');
			})
			.finally(() => {
				this.#looking = false;
				if (this.#asked) this.proceed();
				else this.#rest();
			});
	}

	/** Begins nothing any more, and resolves when what is under way has ended. */
	async stop(): Promise<void> {
		this.#hold = 'stopped';
		this.#trouble?.end();
		const under = [...this.#inHand.values()].map(({ ended }) => ended);
		this.#rest();
		await Promise.all(under);
	}

	/** One round each time that it was asked. It is synchronous until it reads: a slot that it was told of is taken at once. */
	async #look(): Promise<void> {
		const { store } = this.#parts;
		while (this.#asked && this.#hold === null) {
			this.#asked = false;
			if (!this.#health.isKnown) this.#health.learn((await store.failingSince(this.webhookId)) !== null);
			if (!this.#begin() || !this.#ahead.needsMore(this.#mayBeginFresh())) continue;
			this.#lookAt(await this.#ahead.read(this.#inHand, this.#parts.clock.now()));
			if (!this.#begin() || !this.#mayBeginFresh()) continue;
			await this.#ahead.readBesides(this.#inHand, this.#busy(), this.#parts.clock.now());
			this.#begin();
		}
	}

	/** Begins of what was read ahead as much as there is room for; whether there would be room for more. */
	#begin(): boolean {
		const [now, inDoubt] = [this.#parts.clock.now(), this.#parts.watch.isSuspect()];
		const isKept = (delivery: DeliveryRecord) => {
			if (!mustWait(delivery, now, inDoubt)) return false;
			this.#lookAt(now + DOUBT_CHECK_MS);
			return true;
		};
		while (this.#hold === null) {
			const { pool, room } = this.#health;
			if (this.#inHand.size >= room) return false;
			const next = nextToBegin(this.#ahead, { busy: this.#busy(), fresh: this.#mayBeginFresh(), isKept });
			if (next === undefined) return true;
			const slots = this.#parts.slots[pool];
			if (!slots.take(this, next.workspace_id)) return false;
			this.#ahead.remove(next);
			this.#inHand.set(next.id, { delivery: next, changed: false, ended: this.#deliver(next, slots) });
		}
		return false;
	}

	#busy(): Set<string> {
		return new Set([...this.#inHand.values()].map(({ delivery }) => likenessOf(delivery)));
	}

	#mayBeginFresh(): boolean {
		if (!this.#health.isProbed) return true;
		return !this.#pause.isSet && ![...this.#inHand.values()].some(({ delivery }) => isFresh(delivery));
	}

	async #deliver(delivery: DeliveryRecord, slots: Slots): Promise<void> {
		const due = await this.#attempt(delivery, slots);
		if (this.#inHand.get(delivery.id)?.changed) this.#ahead.invalidate();
		this.#inHand.delete(delivery.id);
		this.#lookAt(due);
		this.proceed();
	}

	/** @returns when it is due again (ms since the epoch); null: not, as far as this process knows */
	async #attempt(delivery: DeliveryRecord, slots: Slots): Promise<number | null> {
		const { attempts, signal, onInactive } = this.#parts;
		const before = this.#health.failures;
		let outcome: Outcome;
		try {
			outcome = await attempts.make(delivery.id, signal);
		} catch (error) {
			if (!signal.aborted) void this.#pauseForTrouble(error, 'a delivery could not be begun');
			return null;
		} finally {
			// What remains to be done needs the disk, and keeps nobody from the network.
			slots.release(this);
		}
		if (outcome.kind === 'none') return outcome.due;
		if (outcome.kind === 'inactive') {
			if (this.#hold !== 'stopped') this.#hold = 'halted';
			onInactive();
			return null;
		}
		if (outcome.kind === 'attempt') this.#note(outcome.attempt, before, delivery);
		return this.#settle(outcome);
	}

	#note(attempt: Attempt, before: number, delivery: DeliveryRecord): void {
		this.#health.note(attempt, before);
		if (!this.#health.isProbed) this.#pause.takeBack();
		else if (isFresh(delivery)) this.#pause.set(this.#health.pauseMs, () => this.proceed());
	}

	/** Stores what came of it, when it can be: it is not sent a second time because the disk was full. */
	async #settle(outcome: Outcome & { kind: 'attempt' | 'lapse' }): Promise<number | null> {
		for (;;) {
			try {
				const due = await this.#parts.attempts.settle(outcome);
				this.#troubles = 0;
				return due;
			} catch (error) {
				if (this.#hold === 'stopped') return null;
				await this.#pauseForTrouble(error, 'the outcome of a delivery could not be stored');
			}
		}
	}

	/** The database cannot be used: nothing is begun, and nothing tried again, until a pause is over that all share who need it. */
	#pauseForTrouble(err: unknown, message: string): Promise<void> {
		const { alarms, log } = this.#parts;
		log.error({ err, webhook: this.webhookId }, message);
		if (this.#trouble || this.#hold === 'stopped') return this.#trouble?.over ?? Promise.resolve();
		this.#hold ??= 'troubled';
		const { promise, resolve } = deferred<void>();
		const alarm = new Alarm(alarms);
		const end = () => {
			alarm.takeBack();
			this.#trouble = undefined;
			if (this.#hold === 'troubled') this.#hold = null;
			this.#ahead.invalidate();
			resolve();
			this.proceed();
		};
		alarm.set(Math.min(TROUBLE_MS.first * 2 ** this.#troubles++, TROUBLE_MS.longest), end);
		this.#trouble = { over: promise, end };
		return promise;
	}

	/** Something is due at a time (ms since the epoch). */
	#lookAt(due: number | null): void {
		if (due === null || due >= this.#dueAt || this.#hold === 'stopped') return;
		this.#dueAt = due;
		const ms = Math.min(Math.max(due - this.#parts.clock.now(), 1), LONGEST_WAIT_MS);
		this.#due.set(ms, () => {
			this.#dueAt = Number.POSITIVE_INFINITY;
			this.#ahead.retryDue();
			this.proceed();
		});
	}

	/** Where it waits for nothing any more it is not needed. */
	#rest(): void {
		const waits = this.#hold === null && (!this.#ahead.isEmpty || this.#due.isSet);
		if (waits || this.#hold === 'troubled') return;
		this.#due.takeBack();
		this.#dueAt = Number.POSITIVE_INFINITY;
		for (const slots of Object.values(this.#parts.slots)) slots.forget(this);
		if (this.#inHand.size > 0) return;
		this.#pause.takeBack();
		this.#parts.onIdle(this);
	}
}
