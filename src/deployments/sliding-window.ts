import { type Clock, Lru } from '../base/index.ts';

/**
 * Counts events per key in a sliding window, exactly: each key's event times within the window are kept, so at most as
 * many as its limit.
 */
export class SlidingWindow {
	readonly #times: Lru<string, number[]>;
	readonly #clock: Clock;
	readonly #windowMs: number;

	/** @param keys how many keys are remembered; those not seen for longest are forgotten */
	constructor(clock: Clock, windowMs: number, keys: number) {
		this.#clock = clock;
		this.#windowMs = windowMs;
		this.#times = new Lru(keys);
	}

	/** Counts one event; 0 where it is within the limit, else whole seconds until one is again. */
	take(key: string, limit: number): number {
		const now = this.#clock.now();
		let times = this.#times.get(key);
		if (!times) {
			times = [];
			this.#times.set(key, times);
		}
		// The clock stepped back: what lies in the future now happened at the latest just now.
		for (let at = times.length - 1; at >= 0 && (times[at] as number) > now; at--) times[at] = now;
		while (times.length > 0 && (times[0] as number) <= now - this.#windowMs) times.shift();
		if (times.length < limit) {
			times.push(now);
			return 0;
		}
		// There is room again when the last `limit` events have become one less.
		const leaves = (times[times.length - limit] as number) + this.#windowMs;
		return Math.ceil((leaves - now) / 1000);
	}
}
