/** Timers of this process. The schedule is in the database; a timer only says when to read it. Tests pass their own. */
export interface Timers {
	/** Calls back once after `ms`; the result cancels it. */
	set(ms: number, callback: () => void): () => void;
}

/** Timers of Node that keep no process alive. */
export const systemTimers: Timers = {
	set(ms, callback) {
		const timer = setTimeout(callback, ms).unref();
		return () => clearTimeout(timer);
	},
};

/** A timer for one purpose that can be set again. */
export class Timer {
	readonly #timers: Timers;
	#cancelPending: (() => void) | undefined;

	constructor(timers: Timers) {
		this.#timers = timers;
	}

	get isSet(): boolean {
		return this.#cancelPending !== undefined;
	}

	/** Sets the timer and cancels the earlier setting. */
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
