/** The reason of what is dropped although nothing went wrong; nobody looks at it. */
const DROPPED = new Error('no longer wanted');

/**
 * What ends a call to a provider: its caller's signal, or that nothing came in time. One after the other, the attempts of a
 * call each have a signal of their own, so that what is left of one can be dropped without ending the call.
 */
export class CallEnding implements Disposable {
	readonly #outer: AbortSignal;
	#attempt: AbortController | undefined;
	#timer: NodeJS.Timeout | undefined;
	#ended = false;
	#reason: unknown;
	#endWait: (() => void) | undefined;

	constructor(outer: AbortSignal) {
		this.#outer = outer;
		if (outer.aborted) this.#end(outer.reason);
		else outer.addEventListener('abort', this.#onOuter, { once: true });
	}

	/** Sets the deadline, in the place of the one before. */
	within(ms: number, onLate: () => Error): void {
		clearTimeout(this.#timer);
		if (!this.#ended) this.#timer = setTimeout(() => this.#end(onLate()), ms);
	}

	/** Begins the deadline anew. */
	refresh(): void {
		this.#timer?.refresh();
	}

	/** Drops what is left of the attempt before, and gives the signal of the next one. */
	nextAttempt(): AbortSignal {
		this.#attempt?.abort(DROPPED);
		const attempt = new AbortController();
		this.#attempt = attempt;
		if (this.#ended) attempt.abort(this.#reason);
		return attempt.signal;
	}

	/** The promise's outcome, or the reason of the end, whichever comes first. One wait at a time. */
	async orEnd<T>(awaited: PromiseLike<T>): Promise<T> {
		const promise = Promise.resolve(awaited);
		promise.catch(() => {});
		this.throwIfEnded();
		const ended = new Promise<never>((_, reject) => {
			this.#endWait = () => reject(this.#reason);
		});
		try {
			return await Promise.race([promise, ended]);
		} finally {
			this.#endWait = undefined;
		}
	}

	/** Resolves after a while. Rejects with the reason of the end. */
	async pause(ms: number): Promise<void> {
		let timer: NodeJS.Timeout | undefined;
		const over = new Promise<void>((resolve) => {
			timer = setTimeout(resolve, ms);
		});
		try {
			await this.orEnd(over);
		} finally {
			clearTimeout(timer);
		}
	}

	throwIfEnded(): void {
		if (this.#ended) throw this.#reason;
	}

	/** Drops whatever is still under way. */
	[Symbol.dispose](): void {
		clearTimeout(this.#timer);
		this.#outer.removeEventListener('abort', this.#onOuter);
		this.#attempt?.abort(DROPPED);
	}

	readonly #onOuter = () => this.#end(this.#outer.reason);

	#end(reason: unknown): void {
		if (this.#ended) return;
		this.#ended = true;
		this.#reason = reason;
		clearTimeout(this.#timer);
		this.#attempt?.abort(reason);
		this.#endWait?.();
	}
}
