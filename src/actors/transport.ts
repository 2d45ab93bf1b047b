import type { ActorSystem } from './actor-system.ts';
import type { MailboxLane } from './mailbox.ts';

/** How an ask travels. */
export interface AskOptions {
	/** Milliseconds until the caller gets `unavailable`. */
	deadlineMs: number;
	/** `user` by default. */
	lane?: MailboxLane;
	/** Two asks to one id with the same key are one: the second joins the first while that is under way. */
	idempotencyKey?: string;
}

/** Where a subscription begins: after this position of the stream; undefined is from now on. */
export type SubscriptionStart = string | undefined;

/**
 * The way to an actor, wherever it runs. Messages, answers and events are plain data that survive serialisation. What
 * has ended is not remembered here: that is the store's part (an idempotent answer, the events that were missed).
 */
export interface Transport<M, R, E> {
	ask(id: string, message: M, options: AskOptions): Promise<R>;
	/** What happens to the actor after a position, without gap or repeat, until the signal aborts. */
	subscribe(id: string, after: SubscriptionStart, signal: AbortSignal): AsyncIterable<E>;
	/** Tells something that may be lost without harm; reaches only an actor that is awake. */
	tellIfActive(id: string, message: M): void;
}

/** The way to an actor in the same process. */
export class LocalTransport<M, R, E> implements Transport<M, R, E> {
	readonly #actors: ActorSystem<M, R>;
	readonly #stream: Transport<M, R, E>['subscribe'];
	readonly #inFlight = new Map<string, Promise<R>>();

	/** @param stream the events of an id: stored ones, then live */
	constructor(actors: ActorSystem<M, R>, stream: Transport<M, R, E>['subscribe']) {
		this.#actors = actors;
		this.#stream = stream;
	}

	ask(id: string, message: M, { deadlineMs, lane = 'user', idempotencyKey }: AskOptions): Promise<R> {
		if (idempotencyKey === undefined) return this.#actors.ask(id, message, { lane, deadlineMs });
		const dedupeKey = JSON.stringify([id, idempotencyKey]);
		const first = this.#inFlight.get(dedupeKey);
		if (first !== undefined) return first;
		const result = this.#actors.ask(id, message, { lane, deadlineMs });
		this.#inFlight.set(dedupeKey, result);
		const forget = () => this.#inFlight.delete(dedupeKey);
		result.then(forget, forget);
		return result;
	}

	subscribe(id: string, after: SubscriptionStart, signal: AbortSignal): AsyncIterable<E> {
		return this.#stream(id, after, signal);
	}

	tellIfActive(id: string, message: M): void {
		this.#actors.tellIfActive(id, message);
	}
}
