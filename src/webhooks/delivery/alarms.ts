/** Sets alarms in this process. What is due when is in the database: an alarm only says when to look. Tests hand in their own. */
export interface Alarms {
	/** Rings once after `ms`; the result takes it back. */
	set(ms: number, ring: () => void): () => void;
}

/** The machine's. They keep no process alive. */
export const systemAlarms: Alarms = {
	set(ms, ring) {
		const timer = setTimeout(ring, ms).unref();
		return () => clearTimeout(timer);
	},
};

/** One alarm for one purpose: set or not. */
export class Alarm {
	readonly #alarms: Alarms;
	#takeBack: (() => void) | undefined;

	constructor(alarms: Alarms) {
		this.#alarms = alarms;
	}

	get isSet(): boolean {
		return this.#takeBack !== undefined;
	}

	/** In the place of what it was set to before. */
	set(ms: number, ring: () => void): void {
		this.takeBack();
		this.#takeBack = this.#alarms.set(ms, () => {
			this.#takeBack = undefined;
			ring();
		});
	}

	takeBack(): void {
		this.#takeBack?.();
		this.#takeBack = undefined;
	}
}
