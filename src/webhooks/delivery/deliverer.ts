import { setMaxListeners } from 'node:events';
import { setImmediate as yieldToEventLoop } from 'node:timers/promises';
import { type Clock, type ClockJumpDetector, ID_PREFIXES, type Log, LruCache, PeriodicTask } from '../../base/index.ts';
import type { FenceOf, Store, WebhookRecord } from '../../store/index.ts';
import type { Sender } from '../sender.ts';
import { type AttemptObserver, AttemptRunner } from './attempts.ts';
import { DeliveryCleanup } from './delivery-cleanup.ts';
import { isDue } from './delivery-schedule.ts';
import { EndpointHealth } from './endpoint-health.ts';
import { EndpointQueue, type EndpointQueueDependencies } from './endpoint-queue.ts';
import { FairSemaphore, type FairSemaphoreOptions } from './fair-semaphore.ts';
import { systemTimers, type Timers } from './timers.ts';

/** The parts of the store that deliveries need. */
type DelivererStore = Pick<Store, 'commit' | 'deliveries' | 'events' | 'get' | 'hints' | 'onEvents'>;

/** What the deliverer needs. */
export interface DelivererOptions {
	store: DelivererStore;
	sender: Pick<Sender, 'send'>;
	clock: Clock;
	jumpDetector: Pick<ClockJumpDetector, 'trustedNow'>;
	log: Log;
	timers?: Timers;
	/** From 0 up to 1. */
	random?: () => number;
	/** An upper limit for concurrent attempts, below the default. */
	maxConcurrency?: number;
	onAttempt?: AttemptObserver | undefined;
	/** Absent: the store has one owner. */
	fenceOf?: FenceOf | undefined;
}

/** Concurrent attempts. */
const CONCURRENCY_LIMITS = {
	healthy: { permits: 300, maxPerWorkspace: 200, additionalPerWorkspace: 100 },
	degraded: { permits: 75, maxPerWorkspace: 50, additionalPerWorkspace: 25 },
} as const;
const MAX_CONCURRENCY = CONCURRENCY_LIMITS.healthy.permits + CONCURRENCY_LIMITS.degraded.permits;
/** Endpoints whose health is kept in memory. */
const HEALTH_CACHE_SIZE = 10_000;
/** Endpoints woken in one turn of the event loop. */
const WAKE_BATCH_SIZE = 20;
/**
 * Milliseconds from an event to the query for its endpoints. The response to the request that caused the event goes first, and
 * events that follow at once share one query.
 */
const EVENT_DEBOUNCE_MS = 10;
/** Besides events, timers and requests: a periodic query for endpoints with due deliveries. */
const SCAN_INTERVAL_MS = 60_000;
/** The same in a cluster, where a request at another node may go unnoticed. */
const CLUSTER_SCAN_INTERVAL_MS = 10_000;

/**
 * Delivers events to webhook endpoints. Deliveries and their schedule are in the database: the writer adds a delivery for each
 * endpoint in the transaction of the event, and the outcome of each attempt is a commit. So a process that ends at any moment
 * loses nothing; its running deliveries are due at once for the next process, which may deliver them a second time.
 *
 * In a cluster the owner of an endpoint's shard delivers to it, so that its deliveries stay in order. Outcomes need no fence: what was
 * delivered is stored also by a node that has lost the shard meanwhile.
 */
export class Deliverer implements AsyncDisposable {
	readonly #store: DelivererStore;
	readonly #clock: Clock;
	readonly #log: Log;
	readonly #fenceOf: FenceOf | undefined;
	readonly #shutdown = new AbortController();
	readonly #queueDependencies: EndpointQueueDependencies;
	/** The queues that have something to do or to wait for. */
	readonly #queues = new Map<string, EndpointQueue>();
	readonly #health = new LruCache<string, EndpointHealth>(HEALTH_CACHE_SIZE);
	readonly #cleanup: DeliveryCleanup;
	readonly #periodicTask: PeriodicTask;
	/** Workspaces with events stored since the last query. */
	#workspacesWithEvents = new Set<string>();
	#unsubscribers: Array<() => void> = [];
	#draining = false;

	constructor(options: DelivererOptions) {
		const { store, sender, clock, jumpDetector, log, timers = systemTimers, random = Math.random } = options;
		const { fenceOf } = options;
		this.#store = store;
		this.#clock = clock;
		this.#log = log;
		this.#fenceOf = fenceOf;
		const onFenced = () => this.#onFenced();
		this.#cleanup = new DeliveryCleanup({ store, clock, jumpDetector, log, onFenced, fenceOf });
		this.#queueDependencies = {
			store,
			attempts: new AttemptRunner({
				...{ store, sender, clock, log, random, onFenced, fenceOf },
				onAttempt: options.onAttempt,
			}),
			slots: slotsWithin(options.maxConcurrency ?? Number.POSITIVE_INFINITY),
			clock,
			timers,
			log,
			signal: this.#shutdown.signal,
			mayDeliver: (webhookId) => fenceOf?.(webhookId) !== null,
			onIdle: (queue) => this.#removeQueue(queue),
			onInactive: () => this.cleanUp(),
		};
		// Each running attempt listens to it.
		setMaxListeners(0, this.#shutdown.signal);
		this.#periodicTask = new PeriodicTask({
			intervalMs: fenceOf === undefined ? SCAN_INTERVAL_MS : CLUSTER_SCAN_INTERVAL_MS,
			run: () => this.#wakeAll(),
			onFailure: (error) => log.error({ err: error }, 'webhook deliveries could not be looked for'),
		});
	}

	start(): void {
		const { hints } = this.#store;
		const unsubscribe = this.#store.onEvents((events) => {
			const before = this.#workspacesWithEvents.size;
			for (const { stream } of events)
				if (stream.startsWith(ID_PREFIXES.workspace)) this.#workspacesWithEvents.add(stream);
			if (before === 0 && this.#workspacesWithEvents.size > 0)
				this.#queueDependencies.timers.set(EVENT_DEBOUNCE_MS, () => this.#wakeWorkspaces());
		});
		this.#unsubscribers = [
			unsubscribe,
			...(hints === undefined
				? []
				: [
						hints.subscribe('webhooks', (ids) => {
							for (const id of ids) this.#queueOf(id)?.wake();
						}),
						hints.subscribe('reset_webhooks', (ids) => {
							for (const id of ids) this.#queueOf(id)?.resetHealth();
						}),
					]),
		];
		this.#periodicTask.start();
		this.#cleanup.start();
	}

	/**
	 * Called when something became due at an endpoint.
	 * @param resetHealth the endpoint was enabled again or has another URL, so its earlier failures no longer count
	 */
	wake(webhookId: string, { resetHealth = false }: { resetHealth?: boolean } = {}): void {
		if (this.#fenceOf?.(webhookId) === null) {
			this.#store.hints?.publish(resetHealth ? 'reset_webhooks' : 'webhooks', [webhookId]);
			return;
		}
		const queue = this.#queueOf(webhookId);
		if (resetHealth) queue?.resetHealth();
		else queue?.wake();
	}

	/** Called when this node has got further endpoints. */
	resume(): void {
		this.#periodicTask.runAfterwards().catch((error: unknown) => {
			if (!this.#shutdown.signal.aborted) this.#log.error({ err: error }, 'webhook deliveries could not be looked for');
		});
	}

	/**
	 * Starts no more attempts at these endpoints, which another node gets, and resolves when the running ones have ended. Each has a
	 * time limit; an attempt that the caller does not wait for may be made a second time.
	 */
	async release(isLost: (webhookId: string) => boolean): Promise<void> {
		const lost = [...this.#queues.values()].filter(({ webhookId }) => isLost(webhookId));
		// What is known of their health is old when they come back.
		for (const { webhookId } of lost) this.#health.delete(webhookId);
		await Promise.all(lost.map((queue) => queue.stop()));
	}

	/** Called when an endpoint was disabled or deleted: cancels or erases its deliveries. */
	cleanUp(): void {
		this.#cleanup.run().catch((error: unknown) => {
			if (!this.#shutdown.signal.aborted) this.#log.warn({ err: error }, 'deliveries could not be cleaned up');
		});
	}

	/**
	 * Cancels the pending deliveries of a disabled endpoint before it is enabled.
	 * @throws AppError `unavailable` when there are too many to wait for
	 */
	cancelAll(endpoint: WebhookRecord): Promise<void> {
		return this.#cleanup.cancelAll(endpoint);
	}

	/** Starts no more attempts, and resolves when the running ones have ended. Each has a time limit. */
	async drain(): Promise<void> {
		this.#draining = true;
		for (const unsubscribe of this.#unsubscribers) unsubscribe();
		await Promise.all([...this.#queues.values()].map((queue) => queue.stop()));
	}

	async [Symbol.asyncDispose](): Promise<void> {
		this.#shutdown.abort(new Error('The server is stopping.'));
		await Promise.all([this.#periodicTask[Symbol.asyncDispose](), this.#cleanup[Symbol.asyncDispose](), this.drain()]);
	}

	/** Queries each workspace once, however many events it has. */
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

	/** Wakes endpoints with due deliveries, and endpoints with later ones that have no queue yet. */
	async #wakeAll(workspace: string | null = null): Promise<void> {
		let woken = 0;
		for (const { id, due_at } of await this.#store.deliveries.webhooksWithPending(workspace)) {
			if (this.#queues.has(id) && !isDue(due_at, this.#clock.now())) continue;
			if (workspace === null) this.#queueOf(id)?.wake();
			else this.#queueOf(id)?.wakeForNew();
			if (++woken % WAKE_BATCH_SIZE === 0) await yieldToEventLoop();
		}
	}

	/** The endpoint's queue; undefined while draining, and where another node delivers. */
	#queueOf(webhookId: string): EndpointQueue | undefined {
		if (this.#draining || this.#fenceOf?.(webhookId) === null) return undefined;
		const known = this.#queues.get(webhookId);
		if (known) return known;
		const health = this.#health.get(webhookId) ?? new EndpointHealth();
		this.#health.set(webhookId, health);
		const queue = new EndpointQueue(webhookId, health, this.#queueDependencies);
		this.#queues.set(webhookId, queue);
		return queue;
	}

	#removeQueue(queue: EndpointQueue): void {
		if (this.#queues.get(queue.webhookId) !== queue) return;
		this.#queues.delete(queue.webhookId);
		// It was stopped when its endpoint went to another node, and has come back while an attempt ran.
		if (queue.isStopped) this.#queueOf(queue.webhookId)?.wake();
	}

	/** Another server owns the store. Outcomes could not be stored here, and the other server delivers. */
	#onFenced(): void {
		if (this.#draining) return;
		this.#log.error('another server has taken over the database: it delivers to webhook endpoints from now on');
		this.#periodicTask.stop();
		this.#cleanup.stop();
		void this.drain();
	}
}

/** Slots for this many concurrent attempts, divided in the same proportion for any number. */
function slotsWithin(maxConcurrency: number): EndpointQueueDependencies['slots'] {
	const scale = Math.min(1, maxConcurrency / MAX_CONCURRENCY);
	const part = (number: number) => Math.max(1, Math.floor(number * scale));
	const slots = ({ permits, maxPerWorkspace, additionalPerWorkspace }: FairSemaphoreOptions) =>
		new FairSemaphore({
			permits: part(permits),
			maxPerWorkspace: part(maxPerWorkspace),
			additionalPerWorkspace: part(additionalPerWorkspace),
		});
	return { healthy: slots(CONCURRENCY_LIMITS.healthy), degraded: slots(CONCURRENCY_LIMITS.degraded) };
}
