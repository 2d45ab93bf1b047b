import { type Clock, ID_PREFIXES, type Log, Rounds } from '../../base/index.ts';
import type { Store } from '../../store/index.ts';
import type { Sender } from '../sender.ts';
import { type Alarms, systemAlarms } from './alarms.ts';
import { Attempts } from './attempts.ts';
import { Lane, type LaneParts } from './lane.ts';
import { Slots } from './slots.ts';
import { Tidying } from './tidying.ts';

export interface DelivererOptions {
	store: Store;
	sender: Pick<Sender, 'send'>;
	clock: Clock;
	log: Log;
	alarms?: Alarms;
	/** From 0 up to 1. */
	random?: () => number;
}

/** Attempts that are under way at a time, in all; and how many of these slots are for endpoints that have none. */
const SLOTS = { sound: { count: 200, kept: 100 }, failing: { count: 50, kept: 25 } } as const;
/** Beside what events, alarms and people say: endpoints with something to do are looked for. */
const EVERY_MS = 60_000;

/**
 * Delivers events to webhook endpoints. What is to be delivered, and when, is in the database: the writer adds a delivery for
 * each endpoint in the transaction of the event, and each attempt's outcome is a commit. So a process that ends at any moment
 * loses nothing; what it had in hand is due at once for the next one, which may deliver it a second time.
 */
export class Deliverer implements AsyncDisposable {
	readonly #store: Store;
	readonly #log: Log;
	readonly #ending = new AbortController();
	readonly #parts: LaneParts;
	readonly #lanes = new Map<string, Lane>();
	readonly #tidying: Tidying;
	readonly #rounds: Rounds;
	/** Workspaces of which events were stored in this turn of the event loop. */
	#told = new Set<string>();
	#listening = () => {};
	#draining = false;

	constructor({ store, sender, clock, log, alarms = systemAlarms, random = Math.random }: DelivererOptions) {
		this.#store = store;
		this.#log = log;
		this.#tidying = new Tidying({ store, clock, log });
		this.#parts = {
			store,
			attempts: new Attempts({ store, sender, clock, log, random }),
			slots: { sound: slotsOf(SLOTS.sound), failing: slotsOf(SLOTS.failing) },
			clock,
			alarms,
			log,
			signal: this.#ending.signal,
			onIdle: (lane) => this.#forget(lane),
			onInactive: () => this.tidy(),
		};
		this.#rounds = new Rounds({
			everyMs: EVERY_MS,
			work: () => this.#wakeAll(),
			onFailure: (error) => log.error({ err: error }, 'webhook deliveries could not be looked for'),
		});
	}

	start(): void {
		this.#listening = this.#store.onEvents((events) => {
			if (this.#told.size === 0) setImmediate(() => this.#hear());
			for (const { stream } of events) if (stream.startsWith(ID_PREFIXES.workspace)) this.#told.add(stream);
		});
		this.#rounds.start();
		this.#tidying.start();
	}

	/** Something became due at an endpoint. */
	wake(webhookId: string): void {
		if (this.#draining) return;
		let lane = this.#lanes.get(webhookId);
		if (!lane) {
			lane = new Lane(webhookId, this.#parts);
			this.#lanes.set(webhookId, lane);
		}
		lane.wake();
	}

	/** An endpoint was disabled or deleted: what is left of its deliveries ends with it. */
	tidy(): void {
		this.#tidying.run().catch((error: unknown) => {
			if (!this.#ending.signal.aborted) this.#log.warn({ err: error }, 'deliveries could not be tidied up');
		});
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

	/** Of many events in a turn of the event loop each workspace is looked at once. */
	#hear(): void {
		const told = this.#told;
		this.#told = new Set();
		for (const workspace of told) {
			this.#wakeAll(workspace).catch((error: unknown) => {
				this.#log.error({ err: error, workspace }, 'webhook deliveries could not be looked for');
			});
		}
	}

	async #wakeAll(workspace: string | null = null): Promise<void> {
		for (const webhookId of await this.#store.webhooksWithPending(workspace)) this.wake(webhookId);
	}

	#forget(lane: Lane): void {
		if (this.#lanes.get(lane.webhookId) === lane) this.#lanes.delete(lane.webhookId);
	}
}

function slotsOf({ count, kept }: { count: number; kept: number }): Slots {
	return new Slots(count, kept);
}
