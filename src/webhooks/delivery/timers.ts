/** Sets alarms in this process. What is due when is in the database: an alarm only says when to look. Tests hand in their own. */
export interface Timers {
	/** Rings once after `ms`; the result takes it back. */
	set(ms: number, callback: () => void): () => void;
}

/** The machine's. They keep no process alive. */
export const systemTimers: Timers = {
	set(ms, ring) {
		const timer = setTimeout(ring, ms).unref();
		return () => clearTimeout(timer);
	},
};

/** One alarm for one purpose: set or not. */
export class Timer {
	readonly #timers: Timers;
	#cancelPending: (() => void) | undefined;

	constructor(timers: Timers) {
		this.#timers = timers;
	}

	get isSet(): boolean {
		return this.#cancelPending !== undefined;
	}

	/** In the place of what it was set to before. */
	set(ms: number, callback: () => void): void {
		this.cancel();
		this.#cancelPending = this.#timers.set(ms, () => {
			this.#cancelPending = undefined;
			callback();
		});
	}

	cancel(): void {
		this.#cancelPending?.();
		this.#cancelPending = undefined;
	}
}
