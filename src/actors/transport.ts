import type { PullSource } from '../base/index.ts';
import type { ActorSystem } from './actor-system.ts';
import type { MailboxLane } from './mailbox.ts';

/** How a message is sent. */
export interface AskOptions {
	/** Milliseconds until the caller gets `unavailable`. */
	deadlineMs: number;
	/** `user` by default. */
	lane?: MailboxLane;
}

/** Where a subscription starts: after this position of the stream; undefined: from now on. */
export type SubscriptionStart = string | undefined;

/**
 * Sends messages to an actor, wherever it runs. Messages, results and events are plain data that survive serialisation.
 * It keeps nothing about calls that have ended: the store has idempotent responses and missed events.
 */
export interface Transport<M, R, E> {
	ask(id: string, message: M, options: AskOptions): Promise<R>;
	/** The events of the actor after a position, without gap or repeat. */
	subscribe(id: string, after: SubscriptionStart): PullSource<E>;
}

/** Sends messages to an actor in the same process. */
export class LocalTransport<M, R, E> implements Transport<M, R, E> {
	readonly #actors: ActorSystem<M, R>;
	readonly #stream: Transport<M, R, E>['subscribe'];

	/** @param stream the events of an id: stored ones, then live */
	constructor(actors: ActorSystem<M, R>, stream: Transport<M, R, E>['subscribe']) {
		this.#actors = actors;
		this.#stream = stream;
	}

	ask(id: string, message: M, options: AskOptions): Promise<R> {
		return this.#actors.ask(id, message, options);
	}

	subscribe(id: string, after: SubscriptionStart): PullSource<E> {
		return this.#stream(id, after);
	}
}
