/**
 * One signal for a whole exchange. It aborts at the deadline, with the caller's signal, or when the exchange is no longer
 * needed.
 */
export class ExchangeAbort {
	readonly #controller = new AbortController();
	readonly #callerSignal: AbortSignal | undefined;
	readonly #timer: NodeJS.Timeout;
	/** The reason of an abort by the deadline or the caller's signal; undefined otherwise. */
	reason: unknown = undefined;

	/** @param onTimeout makes the reason of an abort by the deadline */
	constructor(timeoutMs: number, callerSignal: AbortSignal | undefined, onTimeout: () => Error) {
		this.#callerSignal = callerSignal;
		this.#timer = setTimeout(() => this.#abortFor(onTimeout()), timeoutMs);
		if (callerSignal?.aborted) this.#abortFor(callerSignal.reason);
		else callerSignal?.addEventListener('abort', this.#onCallerAbort, { once: true });
	}

	get signal(): AbortSignal {
		return this.#controller.signal;
	}

	/** Closes what is still open. Without effect after the first call. */
	abort(reason: unknown = new Error('no longer needed')): void {
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
