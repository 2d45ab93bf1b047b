import { setMaxListeners } from 'node:events';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { type Clock, type ClockJumpDetector, ID_PREFIXES, type Log, LruCache, PeriodicTask } from '../../base/index.ts';
import type { Store, WebhookRecord } from '../../store/index.ts';
import type { Sender } from '../sender.ts';
import { type Alarms, systemAlarms } from './alarms.ts';
import { Attempts } from './attempts.ts';
import { Health } from './health.ts';
import { Lane, type LaneParts } from './lane.ts';
import { isDue } from './schedule.ts';
import { Slots, type SlotsOptions } from './slots.ts';
import { Tidying } from './tidying.ts';

export interface DelivererOptions {
	store: Store;
	sender: Pick<Sender, 'send'>;
	clock: Clock;
	watch: ClockJumpDetector;
	log: Log;
	alarms?: Alarms;
	/** From 0 up to 1. */
	random?: () => number;
	/** Attempts that may be under way at a time, where that is less than would be otherwise. */
	atOnce?: number;
}

/** Attempts that are under way at a time. */
const SLOTS = {
	sound: { count: 300, share: 200, further: 100 },
	poor: { count: 75, share: 50, further: 25 },
} as const;
const MOST_AT_ONCE = SLOTS.sound.count + SLOTS.poor.count;
/** Endpoints of which is known how they have answered lately. */
const KNOWN = 10_000;
/** Endpoints that are woken in one turn of the event loop. */
const AT_ONCE = 20;
/**
 * Milliseconds from an event to the look at whom it goes to. What caused it is often still being answered, and goes first; and
 * events that follow at once are looked at together.
 */
const SOON_MS = 10;
/** Beside what events, alarms and people say: endpoints with something to do are looked for. */
const EVERY_MS = 60_000;

/**
 * Delivers events to webhook endpoints. What is to be delivered, and when, is in the database: the writer adds a delivery for
 * each endpoint in the transaction of the event, and each attempt's outcome is a commit. So a process that ends at any moment
 * loses nothing; what it had in hand is due at once for the next one, which may deliver it a second time.
 */
export class Deliverer implements AsyncDisposable {
	readonly #store: Store;
	readonly #clock: Clock;
	readonly #log: Log;
	readonly #ending = new AbortController();
	readonly #parts: LaneParts;
	/** Those that have something to do or to wait for. */
	readonly #lanes = new Map<string, Lane>();
	readonly #health = new LruCache<string, Health>(KNOWN);
	readonly #tidying: Tidying;
	readonly #rounds: PeriodicTask;
	/** Workspaces of which events were stored since the last look. */
	#told = new Set<string>();
	#listening = () => {};
	#draining = false;

	constructor(options: DelivererOptions) {
		const { store, sender, clock, watch, log, alarms = systemAlarms, random = Math.random } = options;
		this.#store = store;
		this.#clock = clock;
		this.#log = log;
		const onFenced = () => this.#cease();
		this.#tidying = new Tidying({ store, clock, watch, log, onFenced });
		this.#parts = {
			store,
			attempts: new Attempts({ store, sender, clock, watch, log, random, onFenced }),
			slots: slotsWithin(options.atOnce ?? Number.POSITIVE_INFINITY),
			clock,
			watch,
			alarms,
			log,
			signal: this.#ending.signal,
			onIdle: (lane) => this.#forget(lane),
			onInactive: () => this.tidy(),
		};
		// Each attempt that is under way listens to it.
		setMaxListeners(0, this.#ending.signal);
		this.#rounds = new PeriodicTask({
			intervalMs: EVERY_MS,
			run: () => this.#wakeAll(),
			onFailure: (error) => log.error({ err: error }, 'webhook deliveries could not be looked for'),
		});
	}

	start(): void {
		this.#listening = this.#store.onEvents((events) => {
			const before = this.#told.size;
			for (const { stream } of events) if (stream.startsWith(ID_PREFIXES.workspace)) this.#told.add(stream);
			if (before === 0 && this.#told.size > 0) this.#parts.alarms.set(SOON_MS, () => this.#hear());
		});
		this.#rounds.start();
		this.#tidying.start();
	}

	/**
	 * Something became due at an endpoint.
	 * @param anew whether it was revived or is somewhere else: that it has failed before says nothing any more
	 */
	wake(webhookId: string, { anew = false }: { anew?: boolean } = {}): void {
		const lane = this.#lane(webhookId);
		if (anew) lane?.beginAnew();
		else lane?.wake();
	}

	/** An endpoint was disabled or deleted: what is left of its deliveries ends with it. */
	tidy(): void {
		this.#tidying.run().catch((error: unknown) => {
			if (!this.#ending.signal.aborted) this.#log.warn({ err: error }, 'deliveries could not be tidied up');
		});
	}

	/**
	 * Ends what waits at a disabled endpoint that is about to be revived.
	 * @throws AppError `unavailable` where it is too much to wait for
	 */
	cancelAll(endpoint: WebhookRecord): Promise<void> {
		return this.#tidying.cancelAll(endpoint);
	}

	/** Begins no attempt any more, and resolves when those under way have ended: soon, each has its time limit. */
	async drain(): Promise<void> {
		this.#draining = true;
		this.#listening();
		await Promise.all([...this.#lanes.values()].map((lane) => lane.stop()));
	}

	async [Symbol.asyncDispose](): Promise<void> {
		this.#ending.abort(new Error('The server is stopping.'));
		await Promise.all([this.#rounds[Symbol.asyncDispose](), this.#tidying[Symbol.asyncDispose](), this.drain()]);
	}

	/** Of many events each workspace is looked at once. */
	#hear(): void {
		const told = this.#told;
		this.#told = new Set();
		if (this.#draining) return;
		for (const workspace of told) {
			this.#wakeAll(workspace).catch((error: unknown) => {
				this.#log.error({ err: error, workspace }, 'webhook deliveries could not be looked for');
			});
		}
	}

	/** Those that have something due, and those that have something to wait for and do not wait yet. */
	async #wakeAll(workspace: string | null = null): Promise<void> {
		let woken = 0;
		for (const { id, due_at } of await this.#store.webhooksWithPendingDeliveries(workspace)) {
			if (this.#lanes.has(id) && !isDue(due_at, this.#clock.now())) continue;
			if (workspace === null) this.#lane(id)?.wake();
			else this.#lane(id)?.wakeForNew();
			if (++woken % AT_ONCE === 0) await nextTurn();
		}
	}

	/** The endpoint's; none where nothing is begun any more. */
	#lane(webhookId: string): Lane | undefined {
		if (this.#draining) return undefined;
		const known = this.#lanes.get(webhookId);
		if (known) return known;
		const health = this.#health.get(webhookId) ?? new Health();
		this.#health.set(webhookId, health);
		const lane = new Lane(webhookId, health, this.#parts);
		this.#lanes.set(webhookId, lane);
		return lane;
	}

	#forget(lane: Lane): void {
		if (this.#lanes.get(lane.webhookId) === lane) this.#lanes.delete(lane.webhookId);
	}

	/** Another server has the store: what is sent from here could not be stored, and is sent from there. */
	#cease(): void {
		if (this.#draining) return;
		this.#log.error('another server has taken over the database: it delivers to webhook endpoints from now on');
		this.#rounds.stop();
		this.#tidying.stop();
		void this.drain();
	}
}

/** Slots for so many attempts at once, divided in the same way whatever their number. */
function slotsWithin(atOnce: number): LaneParts['slots'] {
	const scale = Math.min(1, atOnce / MOST_AT_ONCE);
	const part = (number: number) => Math.max(1, Math.floor(number * scale));
	const slots = ({ count, share, further }: SlotsOptions) =>
		new Slots({ count: part(count), share: part(share), further: part(further) });
	return { sound: slots(SLOTS.sound), poor: slots(SLOTS.poor) };
}
