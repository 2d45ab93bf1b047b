/** One end for a whole exchange: its deadline, its caller's signal, or that it is no longer wanted. */
export class Ending {
	readonly #controller = new AbortController();
	readonly #outer: AbortSignal | undefined;
	readonly #timer: NodeJS.Timeout;
	/** Why it ended, where the reason came from outside of the exchange itself. */
	reason: unknown = undefined;

	/** @param onLate makes the reason of an end by the deadline */
	constructor(timeoutMs: number, outer: AbortSignal | undefined, onLate: () => Error) {
		this.#outer = outer;
		this.#timer = setTimeout(() => this.#because(onLate()), timeoutMs);
		if (outer?.aborted) this.#because(outer.reason);
		else outer?.addEventListener('abort', this.#onOuter, { once: true });
	}

	get signal(): AbortSignal {
		return this.#controller.signal;
	}

	/** Resolves never, rejects at the end. */
	get never(): Promise<never> {
		const { signal } = this;
		return new Promise((_resolve, reject) => {
			if (signal.aborted) reject(signal.reason);
			else signal.addEventListener('abort', () => reject(signal.reason), { once: true });
		});
	}

	/** Ends whatever is still open. */
	now(reason: unknown = new Error('no longer wanted')): void {
		clearTimeout(this.#timer);
		this.#outer?.removeEventListener('abort', this.#onOuter);
		if (!this.signal.aborted) this.#controller.abort(reason);
	}

	readonly #onOuter = () => this.#because(this.#outer?.reason);

	#because(reason: unknown): void {
		this.reason ??= reason;
		this.now(reason);
	}
}
