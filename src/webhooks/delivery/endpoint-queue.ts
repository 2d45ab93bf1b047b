import { type Clock, type ClockJumpDetector, deferred, type Log } from '../../base/index.ts';
import type { DeliveryRecord, Store } from '../../store/index.ts';
import type { Attempt } from '../sender.ts';
import type { AttemptOutcome, AttemptRunner } from './attempts.ts';
import type { EndpointHealth, HealthStatus } from './endpoint-health.ts';
import type { FairSemaphore, PermitWaiter } from './fair-semaphore.ts';
import { type InFlight, isFirstAttempt, nextToStart, orderingKey, ReadAhead } from './read-ahead.ts';
import { Timer, type Timers } from './timers.ts';
import { mustAwaitClock } from './transitions.ts';

/** The clock may be set meanwhile: after so many milliseconds is looked whether the time has come. */
const MAX_TIMER_MS = 3_600_000;
/** While the clock is in doubt, what its time is over for is looked at so often (ms). */
const CLOCK_RECHECK_INTERVAL_MS = 60_000;
/** Milliseconds after which is looked again where the database cannot be read or written; doubled each time, up to the longest. */
const STORE_RETRY_BACKOFF_MS = { initial: 1_000, max: 60_000 } as const;

/** What all lanes share. */
export interface EndpointQueueDependencies {
	store: Pick<Store, 'deliveries'>;
	attempts: Pick<AttemptRunner, 'run' | 'recordOutcome'>;
	slots: Record<HealthStatus, FairSemaphore>;
	clock: Clock;
	jumpDetector: Pick<ClockJumpDetector, 'isSuspect'>;
	timers: Timers;
	log: Log;
	signal: AbortSignal;
	/** Is told when a lane has nothing to do and nothing to wait for. */
	onIdle(queue: EndpointQueue): void;
	/** Is told when an endpoint is found to be disabled or gone while deliveries wait. */
	onInactive(): void;
}

/** A delivery in hand, until its end is stored or can be stored no more. */
interface InFlightDelivery extends InFlight {
	done: Promise<void>;
}

/**
 * Why nothing is begun: the endpoint was found to be disabled or gone, until somebody wakes it; the database cannot be used,
 * until a pause is over; or the server stops.
 */
type PauseReason = 'halted' | 'troubled' | 'stopped';

/**
 * The deliveries of one endpoint. They begin in the order of their events, those that were tried before when they are due; of
 * those about one conversation (or else of one type) the next one begins when the end of the one before is stored.
 *
 * One look at a time finds what can be begun. Whoever changes what that may be (something is due, ended, free again) notes the
 * change first and calls `proceed` then. A look that is under way ends its round, and as it began before the call it is followed
 * by another one: so no change is missed.
 */
export class EndpointQueue implements PermitWaiter {
	readonly webhookId: string;
	readonly #dependencies: EndpointQueueDependencies;
	readonly #health: EndpointHealth;
	readonly #readAhead: ReadAhead;
	/** By id. */
	readonly #inFlight = new Map<string, InFlightDelivery>();
	#pauseReason: PauseReason | null = null;
	#isAdvancing = false;
	/** Whether `proceed` was called since the look under way, or the last one, began its round. */
	#advanceRequested = false;
	/** Rings when a retry is due, at `dueAt` (ms since the epoch): never later than the first one that is not due yet. */
	readonly #dueTimer: Timer;
	#dueAt = Number.POSITIVE_INFINITY;
	/** Is set while what is new waits after a probe that has failed. */
	readonly #probeTimer: Timer;
	/** How often the database has failed us in a row; the pause after the last time, while it lasts. */
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

	/** Something may be due. */
	wake(): void {
		if (this.#pauseReason === 'halted') this.#pauseReason = null;
		this.#readAhead.invalidate();
		this.advance();
	}

	/** Something new may be due, and nothing else: during a pause it waits. */
	wakeForNew(): void {
		if (this.#probeTimer.isSet && this.#pauseReason === null) this.#readAhead.invalidate();
		else this.wake();
	}

	/** The endpoint is revived, or somewhere else. */
	resetHealth(): void {
		this.#health.reset();
		this.#probeTimer.cancel();
		this.wake();
	}

	/** Begins what can be begun. */
	advance(): void {
		this.#advanceRequested = true;
		if (this.#isAdvancing) return;
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

	/** Begins nothing any more, and resolves when what is under way has ended. */
	async stop(): Promise<void> {
		this.#pauseReason = 'stopped';
		this.#storeRetry?.end();
		const running = [...this.#inFlight.values()].map(({ done }) => done);
		this.#releaseIfIdle();
		await Promise.all(running);
	}

	/** One round each time that it was asked. It is synchronous until it reads: a slot that it was told of is taken at once. */
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

	/** Begins of what was read ahead as much as there is room for; whether there would be room for more. */
	#startReady(): boolean {
		const [now, isTimeSuspect] = [this.#dependencies.clock.now(), this.#dependencies.jumpDetector.isSuspect()];
		const isBlocked = (delivery: DeliveryRecord) => {
			if (!mustAwaitClock(delivery, now, isTimeSuspect)) return false;
			this.#wakeAt(now + CLOCK_RECHECK_INTERVAL_MS);
			return true;
		};
		while (this.#pauseReason === null) {
			const { status, concurrencyLimit } = this.#health;
			if (this.#inFlight.size >= concurrencyLimit) return false;
			const next = nextToStart(this.#readAhead, {
				busyKeys: this.#busyKeys(),
				allowFirstAttempts: this.#mayStartFirstAttempt(),
				isBlocked,
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

	/** @returns when it is due again (ms since the epoch); null: not, as far as this process knows */
	async #attempt(delivery: DeliveryRecord, slots: FairSemaphore): Promise<number | null> {
		const { attempts, signal, onInactive } = this.#dependencies;
		const failuresAtStart = this.#health.failures;
		let outcome: AttemptOutcome;
		try {
			outcome = await attempts.run(delivery.id, signal);
		} catch (error) {
			if (!signal.aborted) void this.#pauseAfterStoreFailure(error, 'a delivery could not be begun');
			return null;
		} finally {
			// What remains to be done needs the disk, and keeps nobody from the network.
			slots.release(this);
		}
		if (outcome.kind === 'none') return outcome.due;
		if (outcome.kind === 'inactive') {
			if (this.#pauseReason !== 'stopped') this.#pauseReason = 'halted';
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

	/** Stores what came of it, when it can be: it is not sent a second time because the disk was full. */
	async #recordOutcome(outcome: AttemptOutcome & { kind: 'attempt' | 'lapse' }): Promise<number | null> {
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

	/** The database cannot be used: nothing is begun, and nothing tried again, until a pause is over that all share who need it. */
	#pauseAfterStoreFailure(err: unknown, message: string): Promise<void> {
		const { timers, log } = this.#dependencies;
		log.error({ err, webhook: this.webhookId }, message);
		if (this.#storeRetry || this.#pauseReason === 'stopped') return this.#storeRetry?.elapsed ?? Promise.resolve();
		this.#pauseReason ??= 'troubled';
		const { promise, resolve } = deferred<void>();
		const timer = new Timer(timers);
		const end = () => {
			timer.cancel();
			this.#storeRetry = undefined;
			if (this.#pauseReason === 'troubled') this.#pauseReason = null;
			this.#readAhead.invalidate();
			resolve();
			this.advance();
		};
		timer.set(Math.min(STORE_RETRY_BACKOFF_MS.initial * 2 ** this.#storeFailures++, STORE_RETRY_BACKOFF_MS.max), end);
		this.#storeRetry = { elapsed: promise, end };
		return promise;
	}

	/** Something is due at a time (ms since the epoch). */
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

	/** Where it waits for nothing any more it is not needed. */
	#releaseIfIdle(): void {
		const waits = this.#pauseReason === null && (!this.#readAhead.isEmpty || this.#dueTimer.isSet);
		if (waits || this.#pauseReason === 'troubled') return;
		this.#dueTimer.cancel();
		this.#dueAt = Number.POSITIVE_INFINITY;
		for (const slots of Object.values(this.#dependencies.slots)) slots.cancelWait(this);
		if (this.#inFlight.size > 0) return;
		this.#probeTimer.cancel();
		this.#dependencies.onIdle(this);
	}
}
