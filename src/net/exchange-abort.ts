/** One end for a whole exchange: its deadline, its caller's signal, or that it is no longer wanted. */
export class ExchangeAbort {
	readonly #controller = new AbortController();
	readonly #callerSignal: AbortSignal | undefined;
	readonly #timer: NodeJS.Timeout;
	/** Why it ended, where the reason came from outside of the exchange itself. */
	reason: unknown = undefined;

	/** @param onTimeout makes the reason of an end by the deadline */
	constructor(timeoutMs: number, callerSignal: AbortSignal | undefined, onTimeout: () => Error) {
		this.#callerSignal = callerSignal;
		this.#timer = setTimeout(() => this.#abortFor(onTimeout()), timeoutMs);
		if (callerSignal?.aborted) this.#abortFor(callerSignal.reason);
		else callerSignal?.addEventListener('abort', this.#onCallerAbort, { once: true });
	}

	get signal(): AbortSignal {
		return this.#controller.signal;
	}

	/** Ends whatever is still open. */
	abort(reason: unknown = new Error('no longer wanted')): void {
		clearTimeout(this.#timer);
		this.#callerSignal?.removeEventListener('abort', this.#onCallerAbort);
		if (!this.signal.aborted) this.#controller.abort(reason);
	}

	readonly #onCallerAbort = () => this.#abortFor(this.#callerSignal?.reason);

	#abortFor(reason: unknown): void {
		this.reason ??= reason;
		this.abort(reason);
	}
}
