import type { Clock } from './clock.ts';
import { EventTimes } from './event-times.ts';

/** Bounds of what a window remembers. Who was not seen for longest is forgotten first. */
export interface WindowBounds {
	/** Keys. */
	keys: number;
	/** Times of all keys together. */
	times: number;
}

/** Times of all keys together, where nothing else is said: 8 MB for windows of up to a minute. */
const TIMES = 4_000_000;

/**
 * Counts events per key in a sliding window, exactly: each key's event times within the window are kept, so at most as
 * many as its limit.
 */
export class SlidingWindow {
	/** Those not seen for longest come first. */
	readonly #keys = new Map<string, EventTimes>();
	readonly #clock: Clock;
	readonly #windowMs: number;
	readonly #bounds: WindowBounds;
	/** Times that there is room for, of all keys together. */
	#room = 0;

	/** @param bounds how much is remembered; a number bounds the keys */
	constructor(clock: Clock, windowMs: number, bounds: WindowBounds | number) {
		this.#clock = clock;
		this.#windowMs = windowMs;
		this.#bounds = typeof bounds === 'number' ? { keys: bounds, times: TIMES } : bounds;
	}

	/** Keys that are remembered. */
	get size(): number {
		return this.#keys.size;
	}

	/** Counts one event; 0 where it is within the limit, else whole seconds until one is again. */
	take(key: string, limit: number): number {
		const times = this.#keys.get(key) ?? new EventTimes(this.#windowMs);
		this.#keys.delete(key);
		this.#keys.set(key, times);
		this.#room -= times.room;
		const wait = times.take(this.#clock.now(), limit);
		this.#room += times.room;
		this.#forget();
		return Math.ceil(wait / 1000);
	}

	#forget(): void {
		for (const [key, times] of this.#keys) {
			if (this.#keys.size <= this.#bounds.keys && this.#room <= this.#bounds.times) return;
			this.#keys.delete(key);
			this.#room -= times.room;
		}
	}
}
