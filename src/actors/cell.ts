import { setImmediate as nextTurn } from 'node:timers/promises';
import { AppError } from '../base/index.ts';
import type { Actor, Load, SelfRef } from './actor.ts';
import { type Lane, Letter, Mailbox, MailboxFull } from './mailbox.ts';

/** The incarnation that a message was meant for is gone. */
export class ActorGone extends AppError {
	constructor() {
		super('unavailable', 'What this message was meant for has ended. Try again.', { retry_after: 1 });
	}
}

/** What a cell needs of the system around it. */
export interface CellHost<M, R> {
	readonly load: Load<M, R>;
	/** Messages that may wait per lane; of user messages besides the one in hand. */
	readonly limits: Readonly<Record<Lane, number>>;
	/** A failure that no caller waits for. */
	report(id: string, thrown: unknown): void;
	/** An attempt to put the actor to sleep is over. */
	left(): void;
	/** The cell has nothing to do now: its actor is idle, or it has none. */
	rested(cell: Cell<M, R>): void;
}

/** Messages that one cell handles before other work of the process gets a turn. */
const MESSAGES_PER_TURN = 128;

/**
 * The place of one id: its mailbox and, while awake, its actor. There is at most one cell per id, and whoever has set
 * `running` is the only one to load, call or end the actor, so two incarnations never overlap.
 */
export class Cell<M, R> {
	readonly id: string;
	readonly mailbox = new Mailbox<M, R>();
	actor: Actor<M, R> | undefined = undefined;
	/** The mailbox's idle/running flag: set from the first message until nothing can be delivered any more. */
	running = false;
	/** The actor is saving its memory and must not be used any more. */
	leaving = false;
	/** Places in the order of use, kept by `Recency`. */
	newer: Cell<M, R> | undefined = undefined;
	older: Cell<M, R> | undefined = undefined;
	usedAt = 0;
	readonly #host: CellHost<M, R>;
	#self: Incarnation<M, R> | undefined = undefined;
	#current: Letter<M, R> | undefined = undefined;
	#abandoned = false;

	constructor(id: string, host: CellHost<M, R>) {
		this.id = id;
		this.#host = host;
	}

	/** Whether the actor may be put to sleep now. */
	get quiet(): boolean {
		if (this.running || !this.actor || this.mailbox.size > 0) return false;
		try {
			return this.actor.canPassivate?.() ?? true;
		} catch (thrown) {
			this.#host.report(this.id, thrown);
			return false;
		}
	}

	/** Whether the actor is not worth its place any more. */
	get over(): boolean {
		try {
			return this.actor?.isOver?.() ?? false;
		} catch (thrown) {
			this.#host.report(this.id, thrown);
			return false;
		}
	}

	/** Whether one more message may wait. The next in turn, where the actor would take it, counts as in hand already. */
	hasRoom(lane: Lane): boolean {
		const waiting = this.mailbox.waitingIn(lane);
		const limit = this.#host.limits[lane];
		if (lane === 'control' || waiting !== limit) return waiting < limit;
		if (this.#current?.lane === 'user') return false;
		try {
			return this.actor?.takesUserMessages?.() ?? true;
		} catch {
			// The run that delivers the message meets the same defect and deals with it.
			return true;
		}
	}

	post(letter: Letter<M, R>): void {
		this.mailbox.push(letter);
		if (this.running) return;
		this.running = true;
		// Not in the caller's own stack: actors that message each other would nest without a bound.
		queueMicrotask(() => void this.#run());
	}

	/** Posts from an incarnation to itself; false where it is not the living one. */
	postFrom(self: Incarnation<M, R>, letter: Letter<M, R>): boolean {
		if (this.#self !== self) return false;
		if (!this.hasRoom('control')) throw new MailboxFull();
		this.post(letter);
		return true;
	}

	/** The same without an answer; a failure is reported, as nobody waits for it. */
	tellFrom(self: Incarnation<M, R>, message: M): boolean {
		const failed = (thrown: unknown) => {
			if (!(thrown instanceof ActorGone)) this.#host.report(this.id, thrown);
		};
		return this.postFrom(self, new Letter<M, R>(message, 'control', self, () => {}, failed));
	}

	isIncarnation(self: Incarnation<M, R>): boolean {
		return this.#self === self;
	}

	async #run(): Promise<void> {
		for (let handled = 1; !this.#abandoned; handled++) {
			if (!this.actor) {
				if (this.mailbox.size === 0) break;
				await this.#activate();
				continue;
			}
			const letter = this.#next(this.actor);
			if (!letter) {
				if (this.actor) break;
				continue;
			}
			this.#current = letter;
			try {
				const answer = this.actor.handle(letter.message);
				letter.answer(isPromise(answer) ? await answer : answer);
			} catch (thrown) {
				if (!(thrown instanceof AppError)) this.#discard();
				letter.fail(thrown);
			}
			this.#current = undefined;
			if (handled % MESSAGES_PER_TURN === 0) await nextTurn();
		}
		this.#rest();
	}

	/** Loads the actor, or fails everything that waits for it: one failed load is the answer to all who share it. */
	async #activate(): Promise<void> {
		const self = new Incarnation<M, R>(this);
		this.#self = self;
		try {
			const actor = await this.#host.load(this.id, self);
			if (this.#abandoned) actor.discard?.();
			else this.actor = actor;
		} catch (thrown) {
			this.#endIncarnation();
			for (const letter of this.mailbox.takeAll(() => true)) letter.fail(thrown);
		}
	}

	/** The next message that may be delivered: control first, then user where the actor takes them now. */
	#next(actor: Actor<M, R>): Letter<M, R> | undefined {
		const control = this.mailbox.take('control');
		if (control || this.mailbox.size === 0) return control;
		try {
			if (actor.takesUserMessages?.() === false) return undefined;
		} catch (thrown) {
			this.#discard();
			this.mailbox.take('user')?.fail(thrown);
			return undefined;
		}
		return this.mailbox.take('user');
	}

	/** Saves and forgets the actor; to be called where `quiet`. Messages that come meanwhile wake a new incarnation. */
	passivate(): void {
		this.running = true;
		this.leaving = true;
		let saved: void | Promise<void>;
		try {
			saved = this.actor?.passivate?.();
		} catch (thrown) {
			this.#notSaved(thrown);
			return;
		}
		if (isPromise(saved)) {
			saved.then(
				() => this.#asleep(),
				(thrown: unknown) => this.#notSaved(thrown),
			);
		} else {
			this.#asleep();
		}
	}

	#asleep(): void {
		if (this.#abandoned) return;
		this.actor = undefined;
		this.#endIncarnation();
		this.leaving = false;
		this.#host.left();
		if (this.mailbox.size > 0) void this.#run();
		else this.#rest();
	}

	#notSaved(thrown: unknown): void {
		this.#host.report(this.id, thrown);
		this.#discard();
		this.#asleep();
	}

	/** Forced end: what waits or runs is answered with `thrown`, and nothing of the actor is heard any more. */
	abandon(thrown: unknown): void {
		this.#abandoned = true;
		this.running = true;
		this.#discard();
		this.#current?.fail(thrown);
		for (const letter of this.mailbox.takeAll(() => true)) letter.fail(thrown);
	}

	#rest(): void {
		if (this.#abandoned) return;
		this.running = false;
		this.#host.rested(this);
	}

	#discard(): void {
		const { actor } = this;
		this.actor = undefined;
		this.#endIncarnation();
		try {
			actor?.discard?.();
		} catch (thrown) {
			this.#host.report(this.id, thrown);
		}
	}

	#endIncarnation(): void {
		const self = this.#self;
		if (!self) return;
		this.#self = undefined;
		for (const letter of this.mailbox.takeAll((waiting) => waiting.from === self)) letter.fail(new ActorGone());
	}
}

/** An actor between its load and its end. */
class Incarnation<M, R> implements SelfRef<M, R> {
	readonly #cell: Cell<M, R>;

	constructor(cell: Cell<M, R>) {
		this.#cell = cell;
	}

	get id(): string {
		return this.#cell.id;
	}

	get alive(): boolean {
		return this.#cell.isIncarnation(this);
	}

	tell(message: M): boolean {
		return this.#cell.tellFrom(this, message);
	}

	async room(): Promise<void> {
		while (this.alive && !this.#cell.hasRoom('control')) await this.#cell.mailbox.roomIn('control');
	}

	ask(message: M): Promise<R> {
		return new Promise<R>((resolve, reject) => {
			if (!this.#cell.postFrom(this, new Letter(message, 'control', this, resolve, reject))) reject(new ActorGone());
		});
	}
}

function isPromise<T>(value: T | Promise<T>): value is Promise<T> {
	return typeof value === 'object' && value !== null && typeof (value as { then?: unknown }).then === 'function';
}
