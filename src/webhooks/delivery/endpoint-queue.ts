import { type Clock, deferred, type Log } from '../../base/index.ts';
import type { DeliveryRecord, Store } from '../../store/index.ts';
import type { Attempt } from '../sender.ts';
import type { AttemptOutcome, AttemptRunner } from './attempts.ts';
import type { EndpointHealth, HealthStatus } from './endpoint-health.ts';
import type { FairSemaphore, PermitWaiter } from './fair-semaphore.ts';
import { type InFlight, isFirstAttempt, nextToStart, orderingKey, ReadAhead } from './read-ahead.ts';
import { Timer, type Timers } from './timers.ts';

/** The longest timer (ms). The clock may be set meanwhile, so longer waits are checked after this time. */
const MAX_TIMER_MS = 3_600_000;
/** The pause (ms) after the database could not be read or written: doubled each time, up to the maximum. */
const STORE_RETRY_BACKOFF_MS = { initial: 1_000, max: 60_000 } as const;

/** What the queues of all endpoints share. */
export interface EndpointQueueDependencies {
	store: Pick<Store, 'deliveries'>;
	attempts: Pick<AttemptRunner, 'run' | 'recordOutcome'>;
	slots: Record<HealthStatus, FairSemaphore>;
	clock: Clock;
	timers: Timers;
	log: Log;
	signal: AbortSignal;
	/** Whether this node delivers to the endpoint. */
	mayDeliver(webhookId: string): boolean;
	/** Called when a queue has nothing to do and nothing to wait for. */
	onIdle(queue: EndpointQueue): void;
	/** Called when the endpoint of pending deliveries is found to be disabled or deleted. */
	onInactive(): void;
}

/** A delivery that was started, until its outcome is stored or can no longer be stored. */
interface InFlightDelivery extends InFlight {
	done: Promise<void>;
}

/**
 * Why no delivery is started. `inactive`: the endpoint is disabled or deleted, until the next wake. `store_failure`: the
 * database failed, until a pause is over. `stopped`: the server stops, or another node delivers to the endpoint.
 */
type PauseReason = 'inactive' | 'store_failure' | 'stopped';

/**
 * The deliveries of one endpoint. First attempts start in the order of their events, retries when they are due. Deliveries
 * with the same ordering key (one conversation, or else one type) run one after the other: the next one starts when the outcome
 * of the previous one is stored.
 *
 * One run of `#advanceUntilIdle` at a time starts deliveries. Each change (a delivery is due or has ended, a slot is free) is
 * recorded first and followed by a call of `advance`. A call during a run requests another round, so no change is missed.
 */
export class EndpointQueue implements PermitWaiter {
	readonly webhookId: string;
	readonly #dependencies: EndpointQueueDependencies;
	readonly #health: EndpointHealth;
	readonly #readAhead: ReadAhead;
	/** Started deliveries by id. */
	readonly #inFlight = new Map<string, InFlightDelivery>();
	#pauseReason: PauseReason | null = null;
	#isAdvancing = false;
	/** Whether `advance` was called since the current or last round began. */
	#advanceRequested = false;
	/** Fires at `dueAt` (ms since the epoch), no later than the first retry that is not due yet. */
	readonly #dueTimer: Timer;
	#dueAt = Number.POSITIVE_INFINITY;
	/** Set while first attempts wait after a failed probe. */
	readonly #probeTimer: Timer;
	/** Failures of the database in a row, and the current pause after the last one. */
	#storeFailures = 0;
	#storeRetry: { elapsed: Promise<void>; end(): void } | undefined;

	constructor(webhookId: string, health: EndpointHealth, dependencies: EndpointQueueDependencies) {
		this.webhookId = webhookId;
		this.#health = health;
		this.#dependencies = dependencies;
		this.#readAhead = new ReadAhead(dependencies.store.deliveries, webhookId);
		this.#dueTimer = new Timer(dependencies.timers);
		this.#probeTimer = new Timer(dependencies.timers);
	}

	/** Whether it starts nothing more. */
	get isStopped(): boolean {
		return this.#pauseReason === 'stopped';
	}

	/** Called when something may be due. */
	wake(): void {
		if (this.#pauseReason === 'inactive') this.#pauseReason = null;
		this.#readAhead.invalidate();
		this.advance();
	}

	/** Called when only a first attempt may be due: during a pause after a failed probe it waits. */
	wakeForNew(): void {
		if (this.#probeTimer.isSet && this.#pauseReason === null) this.#readAhead.invalidate();
		else this.wake();
	}

	/** Called when the endpoint was enabled again or has another URL. */
	resetHealth(): void {
		this.#health.reset();
		this.#probeTimer.cancel();
		this.wake();
	}

	/** Starts what can be started. */
	advance(): void {
		this.#advanceRequested = true;
		if (this.#isAdvancing) return;
		if (!this.#dependencies.mayDeliver(this.webhookId)) this.#pauseReason = 'stopped';
		if (this.#pauseReason !== null) {
			this.#releaseIfIdle();
			return;
		}
		this.#isAdvancing = true;
		this.#advanceUntilIdle()
			.catch((error: unknown) => {
				void this.#pauseAfterStoreFailure(error, 'deliveries could not be read');
			})
			.finally(() => {
				this.#isAdvancing = false;
				if (this.#advanceRequested) this.advance();
				else this.#releaseIfIdle();
			});
	}

	/** Starts nothing more, and resolves when the running deliveries have ended. */
	async stop(): Promise<void> {
		this.#pauseReason = 'stopped';
		this.#storeRetry?.end();
		const running = [...this.#inFlight.values()].map(({ done }) => done);
		this.#releaseIfIdle();
		await Promise.all(running);
	}

	/** Runs one round for each request. A round is synchronous until it reads, so that an offered slot is taken at once. */
	async #advanceUntilIdle(): Promise<void> {
		const { store } = this.#dependencies;
		while (this.#advanceRequested && this.#pauseReason === null) {
			this.#advanceRequested = false;
			if (!this.#health.isKnown) this.#health.restore((await store.deliveries.failingSince(this.webhookId)) !== null);
			if (!this.#startReady() || !this.#readAhead.needsMore(this.#mayStartFirstAttempt())) continue;
			this.#wakeAt(await this.#readAhead.read(this.#inFlight, this.#dependencies.clock.now()));
			if (!this.#startReady() || !this.#mayStartFirstAttempt()) continue;
			await this.#readAhead.readOtherKeys(this.#inFlight, this.#busyKeys(), this.#dependencies.clock.now());
			this.#startReady();
		}
	}

	/** Starts as many read-ahead deliveries as there are slots for. Returns whether there are slots for more. */
	#startReady(): boolean {
		while (this.#pauseReason === null) {
			const { status, concurrencyLimit } = this.#health;
			if (this.#inFlight.size >= concurrencyLimit) return false;
			const next = nextToStart(this.#readAhead, {
				busyKeys: this.#busyKeys(),
				allowFirstAttempts: this.#mayStartFirstAttempt(),
			});
			if (next === undefined) return true;
			const slots = this.#dependencies.slots[status];
			if (!slots.tryAcquire(this, next.workspace_id)) return false;
			this.#readAhead.remove(next);
			this.#inFlight.set(next.id, { delivery: next, changed: false, done: this.#deliver(next, slots) });
		}
		return false;
	}

	#busyKeys(): Set<string> {
		return new Set([...this.#inFlight.values()].map(({ delivery }) => orderingKey(delivery)));
	}

	#mayStartFirstAttempt(): boolean {
		if (!this.#health.isProbing) return true;
		return !this.#probeTimer.isSet && ![...this.#inFlight.values()].some(({ delivery }) => isFirstAttempt(delivery));
	}

	async #deliver(delivery: DeliveryRecord, slots: FairSemaphore): Promise<void> {
		const due = await this.#attempt(delivery, slots);
		if (this.#inFlight.get(delivery.id)?.changed) this.#readAhead.invalidate();
		this.#inFlight.delete(delivery.id);
		this.#wakeAt(due);
		this.advance();
	}

	/** @returns when it is due again (ms since the epoch); null when this process knows of no time */
	async #attempt(delivery: DeliveryRecord, slots: FairSemaphore): Promise<number | null> {
		const { attempts, signal, onInactive } = this.#dependencies;
		const failuresAtStart = this.#health.failures;
		let outcome: AttemptOutcome;
		try {
			outcome = await attempts.run(delivery.id, signal);
		} catch (error) {
			if (!signal.aborted) void this.#pauseAfterStoreFailure(error, 'a delivery could not be started');
			return null;
		} finally {
			// The outcome needs only the disk, so the network slot is free for others.
			slots.release(this);
		}
		if (outcome.kind === 'none') return outcome.due;
		if (outcome.kind === 'inactive') {
			if (this.#pauseReason !== 'stopped') this.#pauseReason = 'inactive';
			onInactive();
			return null;
		}
		if (outcome.kind === 'attempt') this.#recordHealth(outcome.attempt, failuresAtStart, delivery);
		return this.#recordOutcome(outcome);
	}

	#recordHealth(attempt: Attempt, failuresAtStart: number, delivery: DeliveryRecord): void {
		this.#health.record(attempt, failuresAtStart);
		if (!this.#health.isProbing) this.#probeTimer.cancel();
		else if (isFirstAttempt(delivery)) this.#probeTimer.set(this.#health.probeDelayMs, () => this.advance());
	}

	/** Stores the outcome and retries until it can be stored: a full disk must not cause a second delivery. */
	async #recordOutcome(outcome: AttemptOutcome & { kind: 'attempt' | 'expired' }): Promise<number | null> {
		for (;;) {
			try {
				const due = await this.#dependencies.attempts.recordOutcome(outcome);
				this.#storeFailures = 0;
				return due;
			} catch (error) {
				if (this.#pauseReason === 'stopped') return null;
				await this.#pauseAfterStoreFailure(error, 'the outcome of a delivery could not be stored');
			}
		}
	}

	/** The database failed: nothing is started or retried until a pause is over, which all callers share. */
	#pauseAfterStoreFailure(err: unknown, message: string): Promise<void> {
		const { timers, log } = this.#dependencies;
		log.error({ err, webhook: this.webhookId }, message);
		if (this.#storeRetry || this.#pauseReason === 'stopped') return this.#storeRetry?.elapsed ?? Promise.resolve();
		this.#pauseReason ??= 'store_failure';
		const { promise, resolve } = deferred<void>();
		const timer = new Timer(timers);
		const end = () => {
			timer.cancel();
			this.#storeRetry = undefined;
			if (this.#pauseReason === 'store_failure') this.#pauseReason = null;
			this.#readAhead.invalidate();
			resolve();
			this.advance();
		};
		timer.set(Math.min(STORE_RETRY_BACKOFF_MS.initial * 2 ** this.#storeFailures++, STORE_RETRY_BACKOFF_MS.max), end);
		this.#storeRetry = { elapsed: promise, end };
		return promise;
	}

	/** Sets the timer for something due at this time (ms since the epoch). */
	#wakeAt(due: number | null): void {
		if (due === null || due >= this.#dueAt || this.#pauseReason === 'stopped') return;
		this.#dueAt = due;
		const ms = Math.min(Math.max(due - this.#dependencies.clock.now(), 1), MAX_TIMER_MS);
		this.#dueTimer.set(ms, () => {
			this.#dueAt = Number.POSITIVE_INFINITY;
			this.#readAhead.onRetryDue();
			this.advance();
		});
	}

	/** Gives the queue up when it has nothing to wait for. */
	#releaseIfIdle(): void {
		const waits = this.#pauseReason === null && (!this.#readAhead.isEmpty || this.#dueTimer.isSet);
		if (waits || this.#pauseReason === 'store_failure') return;
		this.#dueTimer.cancel();
		this.#dueAt = Number.POSITIVE_INFINITY;
		for (const slots of Object.values(this.#dependencies.slots)) slots.cancelWait(this);
		if (this.#inFlight.size > 0) return;
		this.#probeTimer.cancel();
		this.#dependencies.onIdle(this);
	}
}
