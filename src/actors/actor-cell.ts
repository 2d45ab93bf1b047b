import { setImmediate as yieldToEventLoop } from 'node:timers/promises';
import { AppError, type LinkedNode, OtherNodeError } from '../base/index.ts';
import type { Actor, LoadActor, SelfRef } from './actor.ts';
import { Envelope, Mailbox, MailboxFullError, type MailboxLane } from './mailbox.ts';

/** The incarnation that a message was sent to has ended. */
export class ActorGoneError extends AppError {
	constructor() {
		super('unavailable', 'The receiver of this message has ended. Try again.', { retry_after: 1 });
	}
}

/** What a cell needs of the system around it. */
export interface ActorCellHost<M, R> {
	readonly load: LoadActor<M, R>;
	/** Messages that may wait in each lane, without the message that is being handled. */
	readonly limits: Readonly<Record<MailboxLane, number>>;
	/** A failure that no caller waits for. */
	reportFailure(id: string, thrown: unknown): void;
	/** A passivation has ended, well or not. */
	onPassivationEnded(): void;
	/** The cell is idle: its actor has no message, or the cell has no actor. */
	onIdle(cell: ActorCell<M, R>): void;
}

/** Messages that one cell handles before it yields to the event loop. */
const MESSAGES_BEFORE_YIELD = 128;

/** What the callers of an abandoned actor get. */
export interface AbandonReasons {
	/** For the message that is being handled: it may take effect. */
	running: AppError;
	/** For messages whose handling has not begun. */
	waiting: AppError;
}

/**
 * The mailbox of one id and, while active, its actor. There is at most one cell per id, and only the run that has set
 * `running` loads, calls or ends the actor, so two incarnations never overlap.
 */
export class ActorCell<M, R> implements LinkedNode<ActorCell<M, R>> {
	readonly id: string;
	readonly mailbox = new Mailbox<M, R>();
	actor: Actor<M, R> | undefined = undefined;
	/** The mailbox's idle/running flag: set from the first message until nothing can be delivered any more. */
	running = false;
	/** The actor is saving its memory and must not be used any more. */
	isPassivating = false;
	/** The neighbours in the order of use. */
	previous: ActorCell<M, R> | undefined = undefined;
	next: ActorCell<M, R> | undefined = undefined;
	/** Milliseconds since the start of the actor system. */
	lastUsedAt = 0;
	readonly #host: ActorCellHost<M, R>;
	#self: Incarnation<M, R> | undefined = undefined;
	#currentEnvelope: Envelope<M, R> | undefined = undefined;
	#abandoned = false;

	constructor(id: string, host: ActorCellHost<M, R>) {
		this.id = id;
		this.#host = host;
	}

	/** Whether the actor may be passivated now. */
	get canPassivateNow(): boolean {
		if (this.running || !this.actor || this.mailbox.size > 0) return false;
		try {
			return this.actor.canPassivate?.() ?? true;
		} catch (thrown) {
			this.#host.reportFailure(this.id, thrown);
			return false;
		}
	}

	/** Whether the actor should be passivated although it is not idle for long. */
	get isFinished(): boolean {
		try {
			return this.actor?.isFinished?.() ?? false;
		} catch (thrown) {
			this.#host.reportFailure(this.id, thrown);
			return false;
		}
	}

	/** Whether one more message may wait. The next message, if the actor accepts it, does not count as waiting. */
	hasCapacity(lane: MailboxLane): boolean {
		const queuedCount = this.mailbox.queuedIn(lane);
		const limit = this.#host.limits[lane];
		if (lane === 'control' || queuedCount !== limit) return queuedCount < limit;
		if (this.#currentEnvelope?.lane === 'user') return false;
		try {
			return this.actor?.acceptsUserMessages?.() ?? true;
		} catch {
			// The run that delivers the message gets the same error and handles it.
			return true;
		}
	}

	post(envelope: Envelope<M, R>): void {
		this.mailbox.push(envelope);
		if (this.running) return;
		this.running = true;
		// Not in the caller's stack: actors that send messages to each other would nest without a bound.
		queueMicrotask(() => void this.#run());
	}

	/** Posts from an incarnation to itself; false where it has ended. */
	postFrom(self: Incarnation<M, R>, envelope: Envelope<M, R>): boolean {
		if (this.#self !== self) return false;
		if (!this.hasCapacity('control')) throw new MailboxFullError();
		this.post(envelope);
		return true;
	}

	/** The same without a result; a failure is reported, because no caller waits. */
	tellFrom(self: Incarnation<M, R>, message: M): boolean {
		const onFailure = (thrown: unknown) => {
			if (!(thrown instanceof ActorGoneError)) this.#host.reportFailure(this.id, thrown);
		};
		return this.postFrom(self, new Envelope<M, R>(message, 'control', self, () => {}, onFailure));
	}

	isIncarnation(self: Incarnation<M, R>): boolean {
		return this.#self === self;
	}

	async #run(): Promise<void> {
		for (let handledMessages = 1; !this.#abandoned; handledMessages++) {
			if (!this.actor) {
				if (this.mailbox.size === 0) break;
				await this.#activate();
				continue;
			}
			const envelope = this.#nextEnvelope(this.actor);
			if (!envelope) {
				if (this.actor) break;
				continue;
			}
			this.#currentEnvelope = envelope;
			try {
				const result = this.actor.handle(envelope.message);
				envelope.resolve(isPromise(result) ? await result : result);
			} catch (thrown) {
				if (!(thrown instanceof AppError) || thrown instanceof OtherNodeError) this.#discard();
				envelope.reject(thrown);
			}
			this.#currentEnvelope = undefined;
			if (handledMessages % MESSAGES_BEFORE_YIELD === 0) await yieldToEventLoop();
		}
		this.#becomeIdle();
	}

	/** Loads the actor. If that fails, all messages that wait are rejected with its error. */
	async #activate(): Promise<void> {
		const self = new Incarnation<M, R>(this);
		this.#self = self;
		try {
			const actor = await this.#host.load(this.id, self);
			if (this.#abandoned) actor.discard?.();
			else this.actor = actor;
		} catch (thrown) {
			this.#endIncarnation();
			for (const envelope of this.mailbox.removeWhere(() => true)) envelope.reject(thrown);
		}
	}

	/** The next message that may be delivered: control first, then user if the actor accepts them now. */
	#nextEnvelope(actor: Actor<M, R>): Envelope<M, R> | undefined {
		const control = this.mailbox.shift('control');
		if (control || this.mailbox.size === 0) return control;
		try {
			if (actor.acceptsUserMessages?.() === false) return undefined;
		} catch (thrown) {
			this.#discard();
			this.mailbox.shift('user')?.reject(thrown);
			return undefined;
		}
		return this.mailbox.shift('user');
	}

	/** Saves and drops the actor; call it only while `canPassivateNow`. Messages that come meanwhile activate a new incarnation. */
	passivate(): void {
		this.running = true;
		this.isPassivating = true;
		let saved: void | Promise<void>;
		try {
			saved = this.actor?.passivate?.();
		} catch (thrown) {
			this.#onPassivationFailed(thrown);
			return;
		}
		if (isPromise(saved)) {
			saved.then(
				() => this.#onPassivated(),
				(thrown: unknown) => this.#onPassivationFailed(thrown),
			);
		} else {
			this.#onPassivated();
		}
	}

	#onPassivated(): void {
		if (this.#abandoned) return;
		this.actor = undefined;
		this.#endIncarnation();
		this.isPassivating = false;
		this.#host.onPassivationEnded();
		if (this.mailbox.size > 0) void this.#run();
		else this.#becomeIdle();
	}

	#onPassivationFailed(thrown: unknown): void {
		this.#host.reportFailure(this.id, thrown);
		this.#discard();
		this.#onPassivated();
	}

	/** Forced end: messages that wait or run are rejected with `thrown`, and later reports of the actor are dropped. */
	abandon({ running, waiting }: AbandonReasons): void {
		this.#abandoned = true;
		this.running = true;
		this.#discard();
		this.#currentEnvelope?.reject(running);
		for (const envelope of this.mailbox.removeWhere(() => true)) envelope.reject(waiting);
	}

	#becomeIdle(): void {
		if (this.#abandoned) return;
		this.running = false;
		this.#host.onIdle(this);
	}

	#discard(): void {
		const { actor } = this;
		this.actor = undefined;
		this.#endIncarnation();
		try {
			actor?.discard?.();
		} catch (thrown) {
			this.#host.reportFailure(this.id, thrown);
		}
	}

	#endIncarnation(): void {
		const self = this.#self;
		if (!self) return;
		this.#self = undefined;
		for (const envelope of this.mailbox.removeWhere((queued) => queued.sender === self))
			envelope.reject(new ActorGoneError());
	}
}

/** An actor from its load to its end. */
class Incarnation<M, R> implements SelfRef<M, R> {
	readonly #cell: ActorCell<M, R>;

	constructor(cell: ActorCell<M, R>) {
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

	async waitForCapacity(): Promise<void> {
		while (this.alive && !this.#cell.hasCapacity('control')) await this.#cell.mailbox.waitForRemoval('control');
	}

	ask(message: M): Promise<R> {
		return new Promise<R>((resolve, reject) => {
			if (!this.#cell.postFrom(this, new Envelope(message, 'control', this, resolve, reject)))
				reject(new ActorGoneError());
		});
	}
}

function isPromise<T>(value: T | Promise<T>): value is Promise<T> {
	return typeof value === 'object' && value !== null && typeof (value as { then?: unknown }).then === 'function';
}
