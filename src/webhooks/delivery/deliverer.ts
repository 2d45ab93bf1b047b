import { setMaxListeners } from 'node:events';
import { setImmediate as yieldToEventLoop } from 'node:timers/promises';
import { type Clock, type ClockJumpDetector, ID_PREFIXES, type Log, LruCache, PeriodicTask } from '../../base/index.ts';
import type { Store, WebhookRecord } from '../../store/index.ts';
import type { Sender } from '../sender.ts';
import { AttemptRunner } from './attempts.ts';
import { DeliveryCleanup } from './delivery-cleanup.ts';
import { isDue } from './delivery-schedule.ts';
import { EndpointHealth } from './endpoint-health.ts';
import { EndpointQueue, type EndpointQueueDependencies } from './endpoint-queue.ts';
import { FairSemaphore, type FairSemaphoreOptions } from './fair-semaphore.ts';
import { systemTimers, type Timers } from './timers.ts';

export interface DelivererOptions {
	store: Store;
	sender: Pick<Sender, 'send'>;
	clock: Clock;
	jumpDetector: ClockJumpDetector;
	log: Log;
	timers?: Timers;
	/** From 0 up to 1. */
	random?: () => number;
	/** Attempts that may be under way at a time, where that is less than would be otherwise. */
	atOnce?: number;
}

/** Attempts that are under way at a time. */
const CONCURRENCY_LIMITS = {
	healthy: { permits: 300, maxPerWorkspace: 200, additionalPerWorkspace: 100 },
	degraded: { permits: 75, maxPerWorkspace: 50, additionalPerWorkspace: 25 },
} as const;
const MOST_AT_ONCE = CONCURRENCY_LIMITS.healthy.permits + CONCURRENCY_LIMITS.degraded.permits;
/** Endpoints of which is known how they have answered lately. */
const HEALTH_CACHE_SIZE = 10_000;
/** Endpoints that are woken in one turn of the event loop. */
const WAKE_BATCH_SIZE = 20;
/**
 * Milliseconds from an event to the look at whom it goes to. What caused it is often still being answered, and goes first; and
 * events that follow at once are looked at together.
 */
const EVENT_DEBOUNCE_MS = 10;
/** Beside what events, alarms and people say: endpoints with something to do are looked for. */
const SCAN_INTERVAL_MS = 60_000;

/**
 * Delivers events to webhook endpoints. What is to be delivered, and when, is in the database: the writer adds a delivery for
 * each endpoint in the transaction of the event, and each attempt's outcome is a commit. So a process that ends at any moment
 * loses nothing; what it had in hand is due at once for the next one, which may deliver it a second time.
 */
export class Deliverer implements AsyncDisposable {
	readonly #store: Store;
	readonly #clock: Clock;
	readonly #log: Log;
	readonly #shutdown = new AbortController();
	readonly #queueDependencies: EndpointQueueDependencies;
	/** Those that have something to do or to wait for. */
	readonly #queues = new Map<string, EndpointQueue>();
	readonly #health = new LruCache<string, EndpointHealth>(HEALTH_CACHE_SIZE);
	readonly #cleanup: DeliveryCleanup;
	readonly #periodicTask: PeriodicTask;
	/** Workspaces of which events were stored since the last look. */
	#workspacesWithEvents = new Set<string>();
	#unsubscribe = () => {};
	#draining = false;

	constructor(options: DelivererOptions) {
		const { store, sender, clock, jumpDetector, log, timers = systemTimers, random = Math.random } = options;
		this.#store = store;
		this.#clock = clock;
		this.#log = log;
		const onFenced = () => this.#onFenced();
		this.#cleanup = new DeliveryCleanup({ store, clock, jumpDetector, log, onFenced });
		this.#queueDependencies = {
			store,
			attempts: new AttemptRunner({ store, sender, clock, jumpDetector, log, random, onFenced }),
			slots: slotsWithin(options.atOnce ?? Number.POSITIVE_INFINITY),
			clock,
			jumpDetector,
			timers,
			log,
			signal: this.#shutdown.signal,
			onIdle: (queue) => this.#removeQueue(queue),
			onInactive: () => this.cleanUp(),
		};
		// Each attempt that is under way listens to it.
		setMaxListeners(0, this.#shutdown.signal);
		this.#periodicTask = new PeriodicTask({
			intervalMs: SCAN_INTERVAL_MS,
			run: () => this.#wakeAll(),
			onFailure: (error) => log.error({ err: error }, 'webhook deliveries could not be looked for'),
		});
	}

	start(): void {
		this.#unsubscribe = this.#store.onEvents((events) => {
			const before = this.#workspacesWithEvents.size;
			for (const { stream } of events)
				if (stream.startsWith(ID_PREFIXES.workspace)) this.#workspacesWithEvents.add(stream);
			if (before === 0 && this.#workspacesWithEvents.size > 0)
				this.#queueDependencies.timers.set(EVENT_DEBOUNCE_MS, () => this.#wakeWorkspaces());
		});
		this.#periodicTask.start();
		this.#cleanup.start();
	}

	/**
	 * Something became due at an endpoint.
	 * @param anew whether it was revived or is somewhere else: that it has failed before says nothing any more
	 */
	wake(webhookId: string, { anew: resetHealth = false }: { anew?: boolean } = {}): void {
		const queue = this.#queueOf(webhookId);
		if (resetHealth) queue?.resetHealth();
		else queue?.wake();
	}

	/** An endpoint was disabled or deleted: what is left of its deliveries ends with it. */
	cleanUp(): void {
		this.#cleanup.run().catch((error: unknown) => {
			if (!this.#shutdown.signal.aborted) this.#log.warn({ err: error }, 'deliveries could not be tidied up');
		});
	}

	/**
	 * Ends what waits at a disabled endpoint that is about to be revived.
	 * @throws AppError `unavailable` where it is too much to wait for
	 */
	cancelAll(endpoint: WebhookRecord): Promise<void> {
		return this.#cleanup.cancelAll(endpoint);
	}

	/** Begins no attempt any more, and resolves when those under way have ended: soon, each has its time limit. */
	async drain(): Promise<void> {
		this.#draining = true;
		this.#unsubscribe();
		await Promise.all([...this.#queues.values()].map((queue) => queue.stop()));
	}

	async [Symbol.asyncDispose](): Promise<void> {
		this.#shutdown.abort(new Error('The server is stopping.'));
		await Promise.all([this.#periodicTask[Symbol.asyncDispose](), this.#cleanup[Symbol.asyncDispose](), this.drain()]);
	}

	/** Of many events each workspace is looked at once. */
	#wakeWorkspaces(): void {
		const workspaces = this.#workspacesWithEvents;
		this.#workspacesWithEvents = new Set();
		if (this.#draining) return;
		for (const workspace of workspaces) {
			this.#wakeAll(workspace).catch((error: unknown) => {
				this.#log.error({ err: error, workspace }, 'webhook deliveries could not be looked for');
			});
		}
	}

	/** Those that have something due, and those that have something to wait for and do not wait yet. */
	async #wakeAll(workspace: string | null = null): Promise<void> {
		let woken = 0;
		for (const { id, due_at } of await this.#store.deliveries.webhooksWithPending(workspace)) {
			if (this.#queues.has(id) && !isDue(due_at, this.#clock.now())) continue;
			if (workspace === null) this.#queueOf(id)?.wake();
			else this.#queueOf(id)?.wakeForNew();
			if (++woken % WAKE_BATCH_SIZE === 0) await yieldToEventLoop();
		}
	}

	/** The endpoint's; none where nothing is begun any more. */
	#queueOf(webhookId: string): EndpointQueue | undefined {
		if (this.#draining) return undefined;
		const known = this.#queues.get(webhookId);
		if (known) return known;
		const health = this.#health.get(webhookId) ?? new EndpointHealth();
		this.#health.set(webhookId, health);
		const queue = new EndpointQueue(webhookId, health, this.#queueDependencies);
		this.#queues.set(webhookId, queue);
		return queue;
	}

	#removeQueue(queue: EndpointQueue): void {
		if (this.#queues.get(queue.webhookId) === queue) this.#queues.delete(queue.webhookId);
	}

	/** Another server has the store: what is sent from here could not be stored, and is sent from there. */
	#onFenced(): void {
		if (this.#draining) return;
		this.#log.error('another server has taken over the database: it delivers to webhook endpoints from now on');
		this.#periodicTask.stop();
		this.#cleanup.stop();
		void this.drain();
	}
}

/** Slots for so many attempts at once, divided in the same way whatever their number. */
function slotsWithin(atOnce: number): EndpointQueueDependencies['slots'] {
	const scale = Math.min(1, atOnce / MOST_AT_ONCE);
	const part = (number: number) => Math.max(1, Math.floor(number * scale));
	const slots = ({ permits, maxPerWorkspace, additionalPerWorkspace }: FairSemaphoreOptions) =>
		new FairSemaphore({
			permits: part(permits),
			maxPerWorkspace: part(maxPerWorkspace),
			additionalPerWorkspace: part(additionalPerWorkspace),
		});
	return { healthy: slots(CONCURRENCY_LIMITS.healthy), degraded: slots(CONCURRENCY_LIMITS.degraded) };
}
