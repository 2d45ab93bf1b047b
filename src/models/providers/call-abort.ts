/** The reason of what is dropped although nothing went wrong; nobody looks at it. */
const NO_LONGER_NEEDED = new Error('no longer wanted');

/**
 * What ends a call to a provider: its caller's signal, or that nothing came in time. One after the other, the attempts of a
 * call each have a signal of their own, so that what is left of one can be dropped without ending the call.
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

	/** Sets the deadline, in the place of the one before. */
	setDeadline(ms: number, onTimeout: () => Error): void {
		clearTimeout(this.#timer);
		if (!this.#isAborted) this.#timer = setTimeout(() => this.#abort(onTimeout()), ms);
	}

	/** Begins the deadline anew. */
	restartDeadline(): void {
		this.#timer?.refresh();
	}

	/** Drops what is left of the attempt before, and gives the signal of the next one. */
	nextAttempt(): AbortSignal {
		this.#attempt?.abort(NO_LONGER_NEEDED);
		const attempt = new AbortController();
		this.#attempt = attempt;
		if (this.#isAborted) attempt.abort(this.#reason);
		return attempt.signal;
	}

	/** The promise's outcome, or the reason of the end, whichever comes first. One wait at a time. */
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

	/** Resolves after a while. Rejects with the reason of the end. */
	async pause(ms: number): Promise<void> {
		let timer: NodeJS.Timeout | undefined;
		const elapsed = new Promise<void>((resolve) => {
			timer = setTimeout(resolve, ms);
		});
		try {
			await this.race(elapsed);
		} finally {
			clearTimeout(timer);
		}
	}

	throwIfAborted(): void {
		if (this.#isAborted) throw this.#reason;
	}

	/** Drops whatever is still under way. */
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
