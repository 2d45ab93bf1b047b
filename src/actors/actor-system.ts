import { AppError, type Clock, systemClock } from '../base/index.ts';
import type { Actor, LoadActor } from './actor.ts';
import { ActorCell, type ActorCellHost } from './actor-cell.ts';
import { LruList } from './lru-list.ts';
import { Envelope, MailboxFullError, type MailboxLane } from './mailbox.ts';

/** How the actors of one kind are made and bounded. */
export interface ActorSystemOptions<M, R> {
	load: LoadActor<M, R>;
	/** A failure that no caller waits for: of a told message, or of putting to sleep. For the log. */
	reportFailure(id: string, thrown: unknown): void;
	/** Above this many, those not used for longest are put to sleep; exceeded only by actors that are all in use. */
	maxResident?: number;
	/** Unused for this long (ms), an actor is put to sleep. */
	idleMs?: number;
	/** User messages that may wait for one actor, besides the one in hand. */
	mailboxLimit?: number;
	/** Control messages that may wait for one actor. */
	controlLimit?: number;
	/** The answer to a message too many; `MailboxFullError` by default. */
	mailboxFullError?: () => AppError;
	/** Milliseconds that disposal waits for what is running. */
	drainTimeoutMs?: number;
	clock?: Clock;
}

/** How a message is sent. */
export interface SendOptions {
	/** `user` by default. */
	lane?: MailboxLane;
	/**
	 * Milliseconds until the caller gets `unavailable`. A message that still waits is then taken back; one in hand may
	 * take effect all the same.
	 */
	deadlineMs?: number;
}

/** At most so many actors save their memory at once, so that a sweep does not flood the store. */
const MAX_CONCURRENT_PASSIVATIONS = 256;
/** At most so many actors are looked at when one is too many; those in use are passed over. */
const MAX_EVICTION_SCAN = 64;
const DRAIN_POLL_MS = 20;
/** Of the time until an idle actor is put to sleep: two peeks within one of so many parts are one use. */
const USAGE_RESOLUTION = 20;

/**
 * The actors of one kind, at most one per id: made on first use, put to sleep when idle, thrown away and loaded anew
 * after a defect.
 */
export class ActorSystem<M, R> implements AsyncDisposable {
	readonly #cells = new Map<string, ActorCell<M, R>>();
	readonly #recency = new LruList<ActorCell<M, R>>();
	readonly #host: ActorCellHost<M, R>;
	readonly #maxResident: number;
	readonly #idleMs: number;
	/** For so long (ms) after a use, a peek is none. */
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

	/**
	 * Sends a message and waits for its answer. Rejects with what the handler threw, with the `full` error, or with
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
				envelope.reject(new AppError('unavailable', 'The answer took too long. Try again.', { retry_after: 1 }));
			}, deadlineMs);
		});
	}

	/**
	 * Sends a message without waiting for an answer. A failure of its handler is reported.
	 * @throws the `full` error, or `unavailable` while draining
	 */
	tell(id: string, message: M, options?: Pick<SendOptions, 'lane'>): void {
		this.#post(id, this.#oneWayEnvelope(id, message, options?.lane ?? 'user'));
	}

	/**
	 * Sends a control message only to an actor that is awake (or being loaded); one that sleeps will read what is stored
	 * anyway. False where it was not sent.
	 */
	tellIfActive(id: string, message: M): boolean {
		const cell = this.#cells.get(id);
		if (!cell?.hasCapacity('control')) return false;
		cell.post(this.#oneWayEnvelope(id, message, 'control'));
		return true;
	}

	/**
	 * The actor where it is awake, for reading what it has ready; counts as a use, unless the last one was just now: then
	 * nothing is written, which among very many actors costs more than all else here.
	 */
	activeActor(id: string): Actor<M, R> | undefined {
		const cell = this.#cells.get(id);
		if (!cell || cell.isPassivating) return undefined;
		const now = this.#now();
		if (now - cell.lastUsedAt >= this.#usageResolutionMs) this.#recency.moveToNewest(cell, now);
		return cell.actor;
	}

	/** Puts to sleep what was not used for `idleMs`. A timer calls it; so may whoever wants memory back now. */
	sweep(): void {
		const now = this.#now();
		for (
			let remaining = this.#cells.size;
			remaining > 0 && this.#passivating < MAX_CONCURRENT_PASSIVATIONS;
			remaining--
		) {
			const cell = this.#recency.oldest;
			if (!cell || now - cell.lastUsedAt < this.#idleMs) return;
			if (!this.#passivate(cell)) this.#recency.moveToNewest(cell, now);
		}
	}

	/**
	 * Takes no new work, answers `unavailable` to waiting user messages (nothing of them has begun), lets run what runs,
	 * and puts every actor to sleep as soon as it may. What is not done after the deadline is abandoned. The messages that
	 * actors post to themselves, and control messages to actors that are awake, go on meanwhile.
	 */
	drain(deadlineMs: number = this.#drainTimeoutMs): Promise<void> {
		this.#isDraining = true;
		this.#drainPromise ??= this.#drain(deadlineMs);
		return this.#drainPromise;
	}

	[Symbol.asyncDispose](): Promise<void> {
		return this.drain();
	}

	/** Milliseconds since the start: for weeks a small number, which lies in the cell itself and not beside it. */
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
			this.#recency.moveToNewest(cell, now);
		} else {
			cell = new ActorCell<M, R>(id, this.#host);
			this.#cells.set(id, cell);
			this.#recency.add(cell, now);
			this.#evictIdle(now);
		}
		cell.post(envelope);
		return cell;
	}

	#evictIdle(now: number): void {
		for (let scanned = 0; scanned < MAX_EVICTION_SCAN; scanned++) {
			if (this.#cells.size - this.#passivating <= this.#maxResident || this.#passivating >= MAX_CONCURRENT_PASSIVATIONS)
				return;
			const cell = this.#recency.oldest;
			// Passed over, it is in use: it goes to the other end, so that the next search does not meet it again.
			if (cell && !this.#passivate(cell)) this.#recency.moveToNewest(cell, now);
		}
	}

	/** Puts an actor to sleep where it may; false where it may not. */
	#passivate(cell: ActorCell<M, R>): boolean {
		if (!cell.canPassivateNow) return false;
		this.#passivating++;
		this.#recency.moveToNewest(cell, cell.lastUsedAt);
		cell.passivate();
		return true;
	}

	/** A cell has nothing to do: it goes if it is empty or its actor is over, or if all are to go. */
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
		// An actor may become free to go without any message, so all are looked at again and again.
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
		for (const cell of [...this.#cells.values()]) {
			cell.abandon(shuttingDownError());
			this.#remove(cell);
		}
	}
}

function shuttingDownError(): AppError {
	return new AppError('unavailable', 'The server is shutting down.', { retry_after: 5 });
}
