import { AppError, type Clock, systemClock } from '../base/index.ts';
import type { Actor, Load } from './actor.ts';
import { Cell, type CellHost } from './cell.ts';
import { type Lane, Letter, MailboxFull } from './mailbox.ts';
import { Recency } from './recency.ts';

/** How the actors of one kind are made and bounded. */
export interface ActorSystemOptions<M, R> {
	load: Load<M, R>;
	/** A failure that no caller waits for: of a told message, or of putting to sleep. For the log. */
	report(id: string, thrown: unknown): void;
	/** Above this many, those not used for longest are put to sleep; exceeded only by actors that are all in use. */
	maxResident?: number;
	/** Unused for this long (ms), an actor is put to sleep. */
	idleMs?: number;
	/** User messages that may wait for one actor, besides the one in hand. */
	mailboxLimit?: number;
	/** Control messages that may wait for one actor. */
	controlLimit?: number;
	/** The answer to a message too many; `MailboxFull` by default. */
	full?: () => AppError;
	/** Milliseconds that disposal waits for what is running. */
	drainMs?: number;
	clock?: Clock;
}

/** How a message is sent. */
export interface SendOptions {
	/** `user` by default. */
	lane?: Lane;
	/**
	 * Milliseconds until the caller gets `unavailable`. A message that still waits is then taken back; one in hand may
	 * take effect all the same.
	 */
	deadlineMs?: number;
}

/** At most so many actors save their memory at once, so that a sweep does not flood the store. */
const MAX_LEAVING = 256;
/** At most so many actors are looked at when one is too many; those in use are passed over. */
const MAX_LOOKED_AT = 64;
const DRAIN_LOOK_MS = 20;
/** Of the time until an idle actor is put to sleep: two peeks within one of so many parts are one use. */
const USES_TOLD_APART = 20;

/**
 * The actors of one kind, at most one per id: made on first use, put to sleep when idle, thrown away and loaded anew
 * after a defect.
 */
export class ActorSystem<M, R> implements AsyncDisposable {
	readonly #cells = new Map<string, Cell<M, R>>();
	readonly #recency = new Recency<Cell<M, R>>();
	readonly #host: CellHost<M, R>;
	readonly #maxResident: number;
	readonly #idleMs: number;
	/** For so long (ms) after a use, a peek is none. */
	readonly #justNowMs: number;
	readonly #full: () => AppError;
	readonly #drainMs: number;
	readonly #clock: Clock;
	readonly #startedAt: number;
	readonly #sweeper: NodeJS.Timeout;
	#leaving = 0;
	#goingDown = false;
	#drained: Promise<void> | undefined = undefined;
	#emptied: () => void = () => {};

	constructor(options: ActorSystemOptions<M, R>) {
		this.#maxResident = options.maxResident ?? 100_000;
		this.#idleMs = options.idleMs ?? 10 * 60_000;
		this.#justNowMs = this.#idleMs / USES_TOLD_APART;
		this.#full = options.full ?? (() => new MailboxFull());
		this.#drainMs = options.drainMs ?? 30_000;
		this.#clock = options.clock ?? systemClock;
		this.#startedAt = this.#clock.now();
		this.#host = {
			load: options.load,
			limits: { user: options.mailboxLimit ?? 16, control: options.controlLimit ?? 1_024 },
			report: (id, thrown) => options.report(id, thrown),
			left: () => {
				this.#leaving--;
			},
			rested: (cell) => this.#rested(cell),
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
			const letter = new Letter<M, R>(message, options?.lane ?? 'user', undefined, resolve, reject);
			const cell = this.#post(id, letter);
			const deadlineMs = options?.deadlineMs;
			if (deadlineMs === undefined) return;
			letter.timer = setTimeout(() => {
				cell.mailbox.withdraw(letter);
				letter.fail(new AppError('unavailable', 'The answer took too long. Try again.', { retry_after: 1 }));
			}, deadlineMs);
		});
	}

	/**
	 * Sends a message without waiting for an answer. A failure of its handler is reported.
	 * @throws the `full` error, or `unavailable` while draining
	 */
	tell(id: string, message: M, options?: Pick<SendOptions, 'lane'>): void {
		this.#post(id, this.#unanswered(id, message, options?.lane ?? 'user'));
	}

	/**
	 * Sends a control message only to an actor that is awake (or being loaded); one that sleeps will read what is stored
	 * anyway. False where it was not sent.
	 */
	hint(id: string, message: M): boolean {
		const cell = this.#cells.get(id);
		if (!cell?.hasRoom('control')) return false;
		cell.post(this.#unanswered(id, message, 'control'));
		return true;
	}

	/**
	 * The actor where it is awake, for reading what it has ready; counts as a use, unless the last one was just now: then
	 * nothing is written, which among very many actors costs more than all else here.
	 */
	peek(id: string): Actor<M, R> | undefined {
		const cell = this.#cells.get(id);
		if (!cell || cell.leaving) return undefined;
		const now = this.#now();
		if (now - cell.usedAt >= this.#justNowMs) this.#recency.touch(cell, now);
		return cell.actor;
	}

	/** Puts to sleep what was not used for `idleMs`. A timer calls it; so may whoever wants memory back now. */
	sweep(): void {
		const now = this.#now();
		for (let left = this.#cells.size; left > 0 && this.#leaving < MAX_LEAVING; left--) {
			const cell = this.#recency.oldest;
			if (!cell || now - cell.usedAt < this.#idleMs) return;
			if (!this.#passivate(cell)) this.#recency.touch(cell, now);
		}
	}

	/**
	 * Takes no new work, answers `unavailable` to waiting user messages (nothing of them has begun), lets run what runs,
	 * and puts every actor to sleep as soon as it may. What is not done after the deadline is abandoned. The messages that
	 * actors post to themselves, and control messages to actors that are awake, go on meanwhile.
	 */
	drain(deadlineMs: number = this.#drainMs): Promise<void> {
		this.#goingDown = true;
		this.#drained ??= this.#drain(deadlineMs);
		return this.#drained;
	}

	[Symbol.asyncDispose](): Promise<void> {
		return this.drain();
	}

	/** Milliseconds since the start: for weeks a small number, which lies in the cell itself and not beside it. */
	#now(): number {
		return this.#clock.now() - this.#startedAt;
	}

	#unanswered(id: string, message: M, lane: Lane): Letter<M, R> {
		return new Letter<M, R>(
			message,
			lane,
			undefined,
			() => {},
			(thrown) => this.#host.report(id, thrown),
		);
	}

	#post(id: string, letter: Letter<M, R>): Cell<M, R> {
		let cell = this.#cells.get(id);
		if (this.#goingDown && (!cell || letter.lane === 'user')) throw shuttingDown();
		const now = this.#now();
		if (cell) {
			if (!cell.hasRoom(letter.lane)) throw this.#full();
			this.#recency.touch(cell, now);
		} else {
			cell = new Cell<M, R>(id, this.#host);
			this.#cells.set(id, cell);
			this.#recency.add(cell, now);
			this.#makeRoom(now);
		}
		cell.post(letter);
		return cell;
	}

	#makeRoom(now: number): void {
		for (let looked = 0; looked < MAX_LOOKED_AT; looked++) {
			if (this.#cells.size - this.#leaving <= this.#maxResident || this.#leaving >= MAX_LEAVING) return;
			const cell = this.#recency.oldest;
			// Passed over, it is in use: it goes to the other end, so that the next search does not meet it again.
			if (cell && !this.#passivate(cell)) this.#recency.touch(cell, now);
		}
	}

	/** Puts an actor to sleep where it may; false where it may not. */
	#passivate(cell: Cell<M, R>): boolean {
		if (!cell.quiet) return false;
		this.#leaving++;
		this.#recency.touch(cell, cell.usedAt);
		cell.passivate();
		return true;
	}

	/** A cell has nothing to do: it goes if it is empty or its actor is over, or if all are to go. */
	#rested(cell: Cell<M, R>): void {
		if (!cell.actor) {
			this.#remove(cell);
		} else if (this.#goingDown || cell.over) {
			this.#passivate(cell);
		} else {
			this.#makeRoom(this.#now());
		}
	}

	#remove(cell: Cell<M, R>): void {
		this.#cells.delete(cell.id);
		this.#recency.remove(cell);
		if (this.#cells.size === 0) this.#emptied();
	}

	async #drain(deadlineMs: number): Promise<void> {
		clearInterval(this.#sweeper);
		if (this.#cells.size === 0) return;
		const emptied = new Promise<void>((resolve) => {
			this.#emptied = resolve;
		});
		for (const cell of this.#cells.values()) {
			for (const letter of cell.mailbox.takeAll(({ lane }) => lane === 'user')) letter.fail(shuttingDown());
		}
		// An actor may become free to go without any message, so all are looked at again and again.
		const look = () => {
			for (const cell of [...this.#cells.values()]) this.#passivate(cell);
		};
		look();
		const looking = setInterval(look, DRAIN_LOOK_MS);
		const deadline = setTimeout(() => this.#abandonAll(), deadlineMs);
		await emptied;
		clearInterval(looking);
		clearTimeout(deadline);
	}

	#abandonAll(): void {
		for (const cell of [...this.#cells.values()]) {
			cell.abandon(shuttingDown());
			this.#remove(cell);
		}
	}
}

function shuttingDown(): AppError {
	return new AppError('unavailable', 'The server is shutting down.', { retry_after: 5 });
}
