/**
 * Owns one thing that changes. Its handlers run strictly one at a time, so it needs no locks; in return a handler is
 * synchronous or short. Long work runs beside the mailbox and reports through `SelfRef`.
 */
export interface Actor<M, R> {
	/**
	 * Handles one message. If it throws an AppError, the caller gets the error and the actor stays, so the handler must
	 * change memory only after the steps that may fail. Any other error discards the actor.
	 */
	handle(message: M): R | Promise<R>;
	/**
	 * Whether the user lane may deliver now; called whenever a user message waits. While false, user messages wait in the
	 * mailbox (and fill it) and control messages are handled; it is called again after each of them. Absent means always.
	 */
	acceptsUserMessages?(): boolean;
	/** Whether no work runs beside it, so that it may be passivated. Absent means always. */
	canPassivate?(): boolean;
	/** Whether the thing it owns is gone: it is passivated as soon as it may be. Absent means never. */
	isFinished?(): boolean;
	/** Saves what is not saved yet. Afterwards the instance is dropped, also after a failure. */
	passivate?(): void | Promise<void>;
	/** The instance is dropped without saving, after a defect or at a forced end: stop the work that runs beside it. */
	discard?(): void;
}

/** A reference of one incarnation of an actor to itself, for work that runs beside its handlers. */
export interface SelfRef<M, R> {
	readonly id: string;
	/** False once this incarnation was passivated or discarded. */
	readonly alive: boolean;
	/**
	 * Posts to the control lane of this incarnation. A report of an incarnation that has ended is dropped and never delivered
	 * to its successor.
	 * @returns false where it was dropped
	 * @throws MailboxFullError when reports come faster than they are handled; `ask` gives backpressure
	 */
	tell(message: M): boolean;
	/** Resolves when the control lane has capacity, or this incarnation has ended. Another sender may use the capacity first. */
	waitForCapacity(): Promise<void>;
	/**
	 * The same with the handler's result. Must not be awaited in a handler: the result comes only after that handler ends.
	 * Rejects with `ActorGoneError` when the incarnation ends before the message was handled.
	 */
	ask(message: M): Promise<R>;
}

/** Loads an actor from the store. All callers that wait get its AppError (such as `not_found`). */
export type LoadActor<M, R> = (id: string, self: SelfRef<M, R>) => Actor<M, R> | Promise<Actor<M, R>>;
