import { AppError, type Deferred, deferred } from '../base/index.ts';

/** Control messages (stop, reports of work beside the actor) go before user messages. */
export type Lane = 'control' | 'user';

/** More messages wait than the mailbox may hold. */
export class MailboxFull extends AppError {
	constructor() {
		super('unavailable', 'Too many messages wait here. Try again.', { retry_after: 1 });
	}
}

/** A message on its way, with the one to answer. Settling it twice is harmless: the first time counts. */
export class Letter<M, R> {
	previous: Letter<M, R> | undefined = undefined;
	next: Letter<M, R> | undefined = undefined;
	waiting = false;
	/** Ends the wait of the caller; cleared by the answer. */
	timer: NodeJS.Timeout | undefined = undefined;
	readonly message: M;
	readonly lane: Lane;
	/** The incarnation that posted it to itself; such a letter dies with it. */
	readonly from: object | undefined;
	readonly #resolve: (answer: R) => void;
	readonly #reject: (thrown: unknown) => void;

	constructor(
		message: M,
		lane: Lane,
		from: object | undefined,
		resolve: (answer: R) => void,
		reject: (thrown: unknown) => void,
	) {
		this.message = message;
		this.lane = lane;
		this.from = from;
		this.#resolve = resolve;
		this.#reject = reject;
	}

	answer(answer: R): void {
		clearTimeout(this.timer);
		this.#resolve(answer);
	}

	fail(thrown: unknown): void {
		clearTimeout(this.timer);
		this.#reject(thrown);
	}
}

/** First in, first out, with removal from the middle; linked through the letters, so an empty one costs four fields. */
class Queue<M, R> {
	#head: Letter<M, R> | undefined = undefined;
	#tail: Letter<M, R> | undefined = undefined;
	size = 0;
	#removed: Deferred<void> | undefined = undefined;

	/** Resolves when the next letter is removed. */
	get removal(): Promise<void> {
		this.#removed ??= deferred();
		return this.#removed.promise;
	}

	push(letter: Letter<M, R>): void {
		letter.previous = this.#tail;
		if (this.#tail) this.#tail.next = letter;
		else this.#head = letter;
		this.#tail = letter;
		letter.waiting = true;
		this.size++;
	}

	shift(): Letter<M, R> | undefined {
		const letter = this.#head;
		if (letter) this.remove(letter);
		return letter;
	}

	remove(letter: Letter<M, R>): void {
		if (letter.previous) letter.previous.next = letter.next;
		else this.#head = letter.next;
		if (letter.next) letter.next.previous = letter.previous;
		else this.#tail = letter.previous;
		letter.previous = undefined;
		letter.next = undefined;
		letter.waiting = false;
		this.size--;
		this.#removed?.resolve();
		this.#removed = undefined;
	}

	takeAll(which: (letter: Letter<M, R>) => boolean): Letter<M, R>[] {
		const taken: Letter<M, R>[] = [];
		let letter = this.#head;
		while (letter) {
			const { next } = letter;
			if (which(letter)) {
				this.remove(letter);
				taken.push(letter);
			}
			letter = next;
		}
		return taken;
	}
}

/** What waits for one actor: two bounded lanes. */
export class Mailbox<M, R> {
	readonly #control = new Queue<M, R>();
	readonly #user = new Queue<M, R>();

	/** How many messages wait. */
	get size(): number {
		return this.#control.size + this.#user.size;
	}

	/** How many messages wait in one lane. */
	waitingIn(lane: Lane): number {
		return lane === 'control' ? this.#control.size : this.#user.size;
	}

	/** Resolves when a message leaves a lane, whether it was taken or withdrawn. */
	roomIn(lane: Lane): Promise<void> {
		return (lane === 'control' ? this.#control : this.#user).removal;
	}

	push(letter: Letter<M, R>): void {
		(letter.lane === 'control' ? this.#control : this.#user).push(letter);
	}

	/** The next message of one lane. */
	take(lane: Lane): Letter<M, R> | undefined {
		return (lane === 'control' ? this.#control : this.#user).shift();
	}

	/** Takes back a message that still waits. */
	withdraw(letter: Letter<M, R>): void {
		if (letter.waiting) (letter.lane === 'control' ? this.#control : this.#user).remove(letter);
	}

	/** Removes all messages that match, control first, each lane in order. */
	takeAll(which: (letter: Letter<M, R>) => boolean): Letter<M, R>[] {
		return [...this.#control.takeAll(which), ...this.#user.takeAll(which)];
	}
}
