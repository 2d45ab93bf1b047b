/** The reason of an abort after which the result is not used. It is never shown. */
const NO_LONGER_NEEDED = new Error('no longer needed');

/**
 * Aborts a call to a provider, with its caller's signal or at a deadline. Each attempt of a call has a signal of its own, so
 * that the rest of an attempt can be aborted without the call.
 */
export class CallAbort implements Disposable {
	readonly #callerSignal: AbortSignal;
	#attempt: AbortController | undefined;
	#timer: NodeJS.Timeout | undefined;
	#isAborted = false;
	#reason: unknown;
	#rejectWait: (() => void) | undefined;

	constructor(outer: AbortSignal) {
		this.#callerSignal = outer;
		if (outer.aborted) this.#abort(outer.reason);
		else outer.addEventListener('abort', this.#onCallerAborted, { once: true });
	}

	/** Sets the deadline and replaces the one before. */
	setDeadline(ms: number, onTimeout: () => Error): void {
		clearTimeout(this.#timer);
		if (!this.#isAborted) this.#timer = setTimeout(() => this.#abort(onTimeout()), ms);
	}

	/** Restarts the time limit of the deadline. */
	restartDeadline(): void {
		this.#timer?.refresh();
	}

	/** Aborts the rest of the attempt before. @returns the signal of the next attempt */
	nextAttempt(): AbortSignal {
		this.#attempt?.abort(NO_LONGER_NEEDED);
		const attempt = new AbortController();
		this.#attempt = attempt;
		if (this.#isAborted) attempt.abort(this.#reason);
		return attempt.signal;
	}

	/** Settles like the promise, or rejects with the reason of the abort, whichever is first. One wait at a time. */
	async race<T>(awaited: PromiseLike<T>): Promise<T> {
		const promise = Promise.resolve(awaited);
		promise.catch(() => {});
		this.throwIfAborted();
		const aborted = new Promise<never>((_, reject) => {
			this.#rejectWait = () => reject(this.#reason);
		});
		try {
			return await Promise.race([promise, aborted]);
		} finally {
			this.#rejectWait = undefined;
		}
	}

	/**
	 * Settles like an operation, or rejects with the reason of the abort, whichever is first. One wait at a time.
	 * @param start starts the operation and returns how it is cancelled, which an abort and a failure do
	 */
	run<T>(start: (resolve: (value: T) => void, reject: (error: unknown) => void) => () => void): Promise<T> {
		return new Promise<T>((resolve, reject) => {
			this.throwIfAborted();
			let cancel = () => {};
			let isSettled = false;
			const settle = () => {
				const isFirst = !isSettled;
				isSettled = true;
				if (isFirst) this.#rejectWait = undefined;
				return isFirst;
			};
			const fail = (error: unknown) => {
				if (!settle()) return;
				cancel();
				reject(error);
			};
			this.#rejectWait = () => fail(this.#reason);
			cancel = start((value) => settle() && resolve(value), fail);
		});
	}

	/** Resolves after a delay. Rejects with the reason of the abort. */
	pause(ms: number): Promise<void> {
		return this.run<void>((resolve) => {
			const timer = setTimeout(resolve, ms);
			return () => clearTimeout(timer);
		});
	}

	throwIfAborted(): void {
		if (this.#isAborted) throw this.#reason;
	}

	/** Aborts the attempt in progress. */
	[Symbol.dispose](): void {
		clearTimeout(this.#timer);
		this.#callerSignal.removeEventListener('abort', this.#onCallerAborted);
		this.#attempt?.abort(NO_LONGER_NEEDED);
	}

	readonly #onCallerAborted = () => this.#abort(this.#callerSignal.reason);

	#abort(reason: unknown): void {
		if (this.#isAborted) return;
		this.#isAborted = true;
		this.#reason = reason;
		clearTimeout(this.#timer);
		this.#attempt?.abort(reason);
		this.#rejectWait?.();
	}
}
