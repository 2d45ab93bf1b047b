import { AppError, type Deferred, deferred, LinkedList, type LinkedNode } from '../base/index.ts';

/** Control messages are delivered before user messages. */
export type MailboxLane = 'control' | 'user';

/** The lane is at its limit. */
export class MailboxFullError extends AppError {
	constructor() {
		super('unavailable', 'Too many messages wait here. Try again.', { retry_after: 1 });
	}
}

/** A message with its caller's promise. Settling the promise twice is harmless: the first time counts. */
export class Envelope<M, R> implements LinkedNode<Envelope<M, R>> {
	previous: Envelope<M, R> | undefined = undefined;
	next: Envelope<M, R> | undefined = undefined;
	isQueued = false;
	/** Ends the wait of the caller; cleared by the result. */
	deadlineTimer: NodeJS.Timeout | undefined = undefined;
	readonly message: M;
	readonly lane: MailboxLane;
	/** The incarnation that posted it to itself; the envelope is dropped with it. */
	readonly sender: object | undefined;
	readonly #resolve: (answer: R) => void;
	readonly #reject: (thrown: unknown) => void;

	constructor(
		message: M,
		lane: MailboxLane,
		sender: object | undefined,
		resolve: (answer: R) => void,
		reject: (thrown: unknown) => void,
	) {
		this.message = message;
		this.lane = lane;
		this.sender = sender;
		this.#resolve = resolve;
		this.#reject = reject;
	}

	resolve(result: R): void {
		clearTimeout(this.deadlineTimer);
		this.#resolve(result);
	}

	reject(thrown: unknown): void {
		clearTimeout(this.deadlineTimer);
		this.#reject(thrown);
	}
}

/** First in, first out, with removal from the middle. An empty queue costs two small objects, also in the mailbox of an idle actor. */
class Queue<M, R> {
	readonly #envelopes = new LinkedList<Envelope<M, R>>();
	size = 0;
	#removal: Deferred<void> | undefined = undefined;

	/** Resolves when the next envelope is removed. */
	get nextRemoval(): Promise<void> {
		this.#removal ??= deferred();
		return this.#removal.promise;
	}

	push(envelope: Envelope<M, R>): void {
		this.#envelopes.append(envelope);
		envelope.isQueued = true;
		this.size++;
	}

	shift(): Envelope<M, R> | undefined {
		const envelope = this.#envelopes.first;
		if (envelope) this.remove(envelope);
		return envelope;
	}

	remove(envelope: Envelope<M, R>): void {
		this.#envelopes.remove(envelope);
		envelope.isQueued = false;
		this.size--;
		this.#removal?.resolve();
		this.#removal = undefined;
	}

	removeWhere(predicate: (envelope: Envelope<M, R>) => boolean): Envelope<M, R>[] {
		const removed: Envelope<M, R>[] = [];
		let envelope = this.#envelopes.first;
		while (envelope) {
			const { next } = envelope;
			if (predicate(envelope)) {
				this.remove(envelope);
				removed.push(envelope);
			}
			envelope = next;
		}
		return removed;
	}
}

/** The messages that wait for one actor, in two lanes. */
export class Mailbox<M, R> {
	readonly #control = new Queue<M, R>();
	readonly #user = new Queue<M, R>();

	/** How many messages wait. */
	get size(): number {
		return this.#control.size + this.#user.size;
	}

	/** How many messages wait in one lane. */
	queuedIn(lane: MailboxLane): number {
		return lane === 'control' ? this.#control.size : this.#user.size;
	}

	/** Resolves when a message leaves a lane, whether it was delivered or removed. */
	waitForRemoval(lane: MailboxLane): Promise<void> {
		return (lane === 'control' ? this.#control : this.#user).nextRemoval;
	}

	push(envelope: Envelope<M, R>): void {
		(envelope.lane === 'control' ? this.#control : this.#user).push(envelope);
	}

	/** The next message of one lane. */
	shift(lane: MailboxLane): Envelope<M, R> | undefined {
		return (lane === 'control' ? this.#control : this.#user).shift();
	}

	/** Removes a message that still waits. */
	remove(envelope: Envelope<M, R>): void {
		if (envelope.isQueued) (envelope.lane === 'control' ? this.#control : this.#user).remove(envelope);
	}

	/** Removes all messages that match, control first, each lane in order. */
	removeWhere(predicate: (envelope: Envelope<M, R>) => boolean): Envelope<M, R>[] {
		return [...this.#control.removeWhere(predicate), ...this.#user.removeWhere(predicate)];
	}
}
