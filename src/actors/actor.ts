/**
 * One thing that changes, and the only one that changes it. Its handlers run strictly one at a time, so it needs no locks;
 * in return a handler is synchronous or short. What takes long runs beside it and reports back through its `SelfRef`.
 */
export interface Actor<M, R> {
	/**
	 * Takes one message. An AppError that it throws is an answer: the caller gets it and the actor lives on, so memory
	 * must be changed only after what may fail. Anything else that it throws discards the actor.
	 */
	handle(message: M): R | Promise<R>;
	/**
	 * Whether the user lane may deliver now; asked whenever a user message waits. While false, user messages wait in the
	 * mailbox (and fill it) and control messages go on; it is asked again after each of them. Absent means always.
	 */
	acceptsUserMessages?(): boolean;
	/** Whether nothing runs beside it and nobody listens, so that it may be put to sleep. Absent means always. */
	canPassivate?(): boolean;
	/** Whether nothing is left of what it stands for: it goes as soon as it may be put to sleep. Absent means never. */
	isFinished?(): boolean;
	/** Saves what is not saved yet; afterwards the instance is forgotten, also where this fails. */
	passivate?(): void | Promise<void>;
	/** The instance's memory is given up, after a defect or at a forced end: stop what runs beside it. Nothing is saved. */
	discard?(): void;
}

/** The way of one incarnation of an actor to itself, for what runs beside its handlers. */
export interface SelfRef<M, R> {
	readonly id: string;
	/** False once this incarnation was put to sleep or discarded. */
	readonly alive: boolean;
	/**
	 * Posts to the control lane of this very incarnation. A report of an incarnation that is gone is dropped, never given
	 * to its successor: then the answer is false.
	 * @throws MailboxFullError when the reports come faster than they are taken; `ask` gives backpressure
	 */
	tell(message: M): boolean;
	/** Resolves when the control lane has room, or this incarnation is gone; somebody else may be faster to take the room. */
	waitForCapacity(): Promise<void>;
	/**
	 * The same with the handler's answer. Must not be awaited in a handler: the answer comes only after that handler ends.
	 * Rejects with `ActorGoneError` when the incarnation ends before the message was handled.
	 */
	ask(message: M): Promise<R>;
}

/** Makes an actor from what is stored. An AppError (`not_found`, say) is the answer to all that wait for it. */
export type LoadActor<M, R> = (id: string, self: SelfRef<M, R>) => Actor<M, R> | Promise<Actor<M, R>>;
