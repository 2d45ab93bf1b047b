import { AppError, type Clock, LinkedList, systemClock } from '../base/index.ts';
import type { Actor, LoadActor } from './actor.ts';
import { type AbandonReasons, ActorCell, type ActorCellHost } from './actor-cell.ts';
import { Envelope, MailboxFullError, type MailboxLane } from './mailbox.ts';

/** How the actors of one kind are loaded and bounded. */
export interface ActorSystemOptions<M, R> {
	load: LoadActor<M, R>;
	/** A failure that no caller waits for: of a `tell`, or of a passivation. For the log. */
	reportFailure(id: string, thrown: unknown): void;
	/** Above this number, the least recently used actors are passivated. It is exceeded only while all are in use. */
	maxResident?: number;
	/** An actor that is idle for this long (ms) is passivated. */
	idleMs?: number;
	/** User messages that may wait for an actor, without the message that is being handled. */
	mailboxLimit?: number;
	/** Control messages that may wait for one actor. */
	controlLimit?: number;
	/** The error for a message above the limit; `MailboxFullError` by default. */
	mailboxFullError?: () => AppError;
	/** Milliseconds that disposal waits for running work. */
	drainTimeoutMs?: number;
	clock?: Clock;
}

/** How a message is sent. */
export interface SendOptions {
	/** `user` by default. */
	lane?: MailboxLane;
	/**
	 * Milliseconds until the caller gets `unavailable`. A waiting message is then removed. A message that is being
	 * handled may still take effect.
	 */
	deadlineMs?: number;
}

/** Actors that are passivated at once, so that a sweep does not flood the store. */
const MAX_CONCURRENT_PASSIVATIONS = 256;
/** Actors that are checked when one is too many; those in use are skipped. */
const MAX_EVICTION_SCAN = 64;
const DRAIN_POLL_MS = 20;
/** Parts of `idleMs`: two reads of an actor within one part count as one use. */
const USAGE_RESOLUTION = 20;

/**
 * The actors of one kind, at most one per id: loaded on first use, passivated when idle, discarded and loaded again after a
 * defect.
 */
export class ActorSystem<M, R> implements AsyncDisposable {
	readonly #cells = new Map<string, ActorCell<M, R>>();
	/** The least recently used cell comes first. */
	readonly #recency = new LinkedList<ActorCell<M, R>>();
	readonly #host: ActorCellHost<M, R>;
	readonly #maxResident: number;
	readonly #idleMs: number;
	/** A read within this time (ms) after a use does not count as a use. */
	readonly #usageResolutionMs: number;
	readonly #mailboxFullError: () => AppError;
	readonly #drainTimeoutMs: number;
	readonly #clock: Clock;
	readonly #startedAt: number;
	readonly #sweeper: NodeJS.Timeout;
	#passivating = 0;
	#isDraining = false;
	#drainPromise: Promise<void> | undefined = undefined;
	#onEmpty: () => void = () => {};

	constructor(options: ActorSystemOptions<M, R>) {
		this.#maxResident = options.maxResident ?? 100_000;
		this.#idleMs = options.idleMs ?? 10 * 60_000;
		this.#usageResolutionMs = this.#idleMs / USAGE_RESOLUTION;
		this.#mailboxFullError = options.mailboxFullError ?? (() => new MailboxFullError());
		this.#drainTimeoutMs = options.drainTimeoutMs ?? 30_000;
		this.#clock = options.clock ?? systemClock;
		this.#startedAt = this.#clock.now();
		this.#host = {
			load: options.load,
			limits: { user: options.mailboxLimit ?? 16, control: options.controlLimit ?? 1_024 },
			reportFailure: (id, thrown) => options.reportFailure(id, thrown),
			onPassivationEnded: () => {
				this.#passivating--;
			},
			onIdle: (cell) => this.#onCellIdle(cell),
		};
		this.#sweeper = setInterval(() => this.sweep(), Math.min(1_000, Math.max(10, this.#idleMs / 10)));
		this.#sweeper.unref();
	}

	/** How many actors are in memory, those being loaded or saved included. */
	get residents(): number {
		return this.#cells.size;
	}

	/** Messages that wait in all mailboxes. */
	get waiting(): number {
		let waiting = 0;
		for (const { mailbox } of this.#cells.values()) waiting += mailbox.size;
		return waiting;
	}

	/**
	 * Sends a message and waits for its result. Rejects with the handler's error, with `mailboxFullError`, or with
	 * `unavailable` after the deadline and while draining. A handler must not await an ask to its own actor.
	 */
	ask(id: string, message: M, options?: SendOptions): Promise<R> {
		return new Promise<R>((resolve, reject) => {
			const envelope = new Envelope<M, R>(message, options?.lane ?? 'user', undefined, resolve, reject);
			const cell = this.#post(id, envelope);
			const deadlineMs = options?.deadlineMs;
			if (deadlineMs === undefined) return;
			envelope.deadlineTimer = setTimeout(() => {
				cell.mailbox.remove(envelope);
				envelope.reject(new AppError('unavailable', 'The request took too long. Try again.', { retry_after: 1 }));
			}, deadlineMs);
		});
	}

	/**
	 * Sends a message without waiting for its result. A failure of its handler is reported.
	 * @throws `mailboxFullError`, or `unavailable` while draining
	 */
	tell(id: string, message: M, options?: Pick<SendOptions, 'lane'>): void {
		this.#post(id, this.#oneWayEnvelope(id, message, options?.lane ?? 'user'));
	}

	/**
	 * The actor if it is active, for reading its state. Counts as a use, unless the last use was just now: then nothing is
	 * written, because a write costs most here among very many actors.
	 */
	activeActor(id: string): Actor<M, R> | undefined {
		const cell = this.#cells.get(id);
		if (!cell || cell.isPassivating) return undefined;
		const now = this.#now();
		if (now - cell.lastUsedAt >= this.#usageResolutionMs) this.#markUsed(cell, now);
		return cell.actor;
	}

	/** Passivates the actors that were not used for `idleMs`. A timer calls it; callers may do so to free memory. */
	sweep(): void {
		const now = this.#now();
		for (
			let remaining = this.#cells.size;
			remaining > 0 && this.#passivating < MAX_CONCURRENT_PASSIVATIONS;
			remaining--
		) {
			const cell = this.#recency.first;
			if (!cell || now - cell.lastUsedAt < this.#idleMs) return;
			if (!this.#passivate(cell)) this.#markUsed(cell, now);
		}
	}

	/**
	 * Takes no new work, rejects waiting user messages with `unavailable` (their handling has not begun), lets running work
	 * end, and passivates every actor as soon as it may. After the deadline the rest is abandoned. Messages that actors post
	 * to themselves, and control messages to active actors, are handled meanwhile.
	 */
	drain(deadlineMs: number = this.#drainTimeoutMs): Promise<void> {
		this.#isDraining = true;
		this.#drainPromise ??= this.#drain(deadlineMs);
		return this.#drainPromise;
	}

	/** Ends the actors of these ids at once, without saving. Their callers get the reasons. */
	abandonWhere(isAbandoned: (id: string) => boolean, reasonsFor: (id: string) => AbandonReasons): void {
		for (const cell of [...this.#cells.values()]) if (isAbandoned(cell.id)) this.#abandon(cell, reasonsFor(cell.id));
	}

	/** The ids of the actors that work, or have messages that wait. */
	*busyIds(): IterableIterator<string> {
		for (const cell of this.#cells.values()) if (!cell.canPassivateNow) yield cell.id;
	}

	[Symbol.asyncDispose](): Promise<void> {
		return this.drain();
	}

	/** Milliseconds since the start: for weeks a small integer, which V8 stores in the cell without a heap number. */
	#now(): number {
		return this.#clock.now() - this.#startedAt;
	}

	#oneWayEnvelope(id: string, message: M, lane: MailboxLane): Envelope<M, R> {
		return new Envelope<M, R>(
			message,
			lane,
			undefined,
			() => {},
			(thrown) => this.#host.reportFailure(id, thrown),
		);
	}

	#post(id: string, envelope: Envelope<M, R>): ActorCell<M, R> {
		let cell = this.#cells.get(id);
		if (this.#isDraining && (!cell || envelope.lane === 'user')) throw shuttingDownError();
		const now = this.#now();
		if (cell) {
			if (!cell.hasCapacity(envelope.lane)) throw this.#mailboxFullError();
			this.#markUsed(cell, now);
		} else {
			cell = new ActorCell<M, R>(id, this.#host);
			this.#cells.set(id, cell);
			cell.lastUsedAt = now;
			this.#recency.append(cell);
			this.#evictIdle(now);
		}
		cell.post(envelope);
		return cell;
	}

	#markUsed(cell: ActorCell<M, R>, now: number): void {
		cell.lastUsedAt = now;
		this.#recency.moveToEnd(cell);
	}

	#evictIdle(now: number): void {
		for (let scanned = 0; scanned < MAX_EVICTION_SCAN; scanned++) {
			if (this.#cells.size - this.#passivating <= this.#maxResident || this.#passivating >= MAX_CONCURRENT_PASSIVATIONS)
				return;
			const cell = this.#recency.first;
			// It is in use: it moves to the other end, so that the next scan does not find it again.
			if (cell && !this.#passivate(cell)) this.#markUsed(cell, now);
		}
	}

	/** Passivates an actor if it may; otherwise returns false. */
	#passivate(cell: ActorCell<M, R>): boolean {
		if (!cell.canPassivateNow) return false;
		this.#passivating++;
		this.#recency.moveToEnd(cell);
		cell.passivate();
		return true;
	}

	/** A cell is idle: it is removed if it has no actor; its actor is passivated if it is finished or the system drains. */
	#onCellIdle(cell: ActorCell<M, R>): void {
		if (!cell.actor) {
			this.#remove(cell);
		} else if (this.#isDraining || cell.isFinished) {
			this.#passivate(cell);
		} else {
			this.#evictIdle(this.#now());
		}
	}

	#remove(cell: ActorCell<M, R>): void {
		this.#cells.delete(cell.id);
		this.#recency.remove(cell);
		if (this.#cells.size === 0) this.#onEmpty();
	}

	async #drain(deadlineMs: number): Promise<void> {
		clearInterval(this.#sweeper);
		if (this.#cells.size === 0) return;
		const empty = new Promise<void>((resolve) => {
			this.#onEmpty = resolve;
		});
		for (const cell of this.#cells.values()) {
			for (const envelope of cell.mailbox.removeWhere(({ lane }) => lane === 'user'))
				envelope.reject(shuttingDownError());
		}
		// An actor may become ready for passivation without any message, so all are polled.
		const passivateIdle = () => {
			for (const cell of [...this.#cells.values()]) this.#passivate(cell);
		};
		passivateIdle();
		const pollTimer = setInterval(passivateIdle, DRAIN_POLL_MS);
		const deadline = setTimeout(() => this.#abandonAll(), deadlineMs);
		await empty;
		clearInterval(pollTimer);
		clearTimeout(deadline);
	}

	#abandonAll(): void {
		const reason = shuttingDownError();
		this.abandonWhere(
			() => true,
			() => ({ running: reason, waiting: reason }),
		);
	}

	#abandon(cell: ActorCell<M, R>, reasons: AbandonReasons): void {
		if (cell.isPassivating) this.#passivating--;
		cell.abandon(reasons);
		this.#remove(cell);
	}
}

function shuttingDownError(): AppError {
	return new AppError('unavailable', 'The server is shutting down.', { retry_after: 5 });
}
