import { type Clock, Lru } from '../base/index.ts';

interface Counts {
	/** When the current window began (ms). */
	from: number;
	current: number;
	previous: number;
}

/**
 * Counts events per key in a sliding window, in fixed memory: the count of the window before weighs in by the share of it
 * that the window still covers.
 */
export class SlidingWindow {
	readonly #counts: Lru<string, Counts>;
	readonly #clock: Clock;
	readonly #windowMs: number;

	/** @param keys how many keys are remembered; those not seen for longest are forgotten */
	constructor(clock: Clock, windowMs: number, keys: number) {
		this.#clock = clock;
		this.#windowMs = windowMs;
		this.#counts = new Lru(keys);
	}

	/** Counts one event; 0 where it is within the limit, else whole seconds until one is again. */
	take(key: string, limit: number): number {
		const now = this.#clock.now();
		const counts = this.#counts.get(key) ?? { from: now, current: 0, previous: 0 };
		const passed = Math.floor((now - counts.from) / this.#windowMs);
		if (passed > 0) {
			counts.previous = passed === 1 ? counts.current : 0;
			counts.current = 0;
			counts.from += passed * this.#windowMs;
		}
		const share = (now - counts.from) / this.#windowMs;
		const used = counts.current + counts.previous * (1 - share);
		this.#counts.set(key, counts);
		if (used + 1 <= limit) {
			counts.current++;
			return 0;
		}
		return Math.max(1, Math.ceil(this.#waitMs(counts, share, limit) / 1000));
	}

	/** How long until `current + previous · (1 − share)` leaves room for one more. */
	#waitMs({ current, previous }: Counts, share: number, limit: number): number {
		if (current + 1 <= limit && previous > 0) {
			return (1 - (limit - 1 - current) / previous - share) * this.#windowMs;
		}
		// Not in this window: in the next one this window's count fades likewise.
		const fade = current > 0 ? Math.max(0, 1 - (limit - 1) / current) : 0;
		return (1 - share + fade) * this.#windowMs;
	}
}
