import type { Clock } from './clock.ts';
import { LruCache } from './lru-cache.ts';
import { SlidingWindowLog } from './sliding-window-log.ts';

/** Bounds of what a window remembers. Who was not seen for longest is forgotten first. */
export interface LimiterCapacity {
	/** Keys. */
	keys: number;
	/** Times of all keys together. */
	timestamps: number;
}

/** Times of all keys together, where nothing else is said: 8 MB for windows of up to a minute. */
const DEFAULT_MAX_TIMESTAMPS = 4_000_000;

/**
 * Counts events per key in a sliding window, exactly: each key's event times within the window are kept, so at most as
 * many as its limit.
 */
export class SlidingWindowLimiter {
	readonly #keys: LruCache<string, SlidingWindowLog>;
	readonly #clock: Clock;
	readonly #windowMs: number;
	readonly #bounds: LimiterCapacity;
	/** Times that there is room for, of all keys together. */
	#allocated = 0;

	/** @param bounds how much is remembered; a number bounds the keys */
	constructor(clock: Clock, windowMs: number, bounds: LimiterCapacity | number) {
		this.#clock = clock;
		this.#windowMs = windowMs;
		this.#bounds = typeof bounds === 'number' ? { keys: bounds, timestamps: DEFAULT_MAX_TIMESTAMPS } : bounds;
		this.#keys = new LruCache(Number.POSITIVE_INFINITY);
	}

	/** Keys that are remembered. */
	get size(): number {
		return this.#keys.size;
	}

	/** Counts one event; 0 where it is within the limit, else whole seconds until one is again. */
	tryConsume(key: string, limit: number): number {
		let times = this.#keys.get(key);
		if (!times) {
			times = new SlidingWindowLog(this.#windowMs);
			this.#keys.add(key, times);
		}
		this.#allocated -= times.capacity;
		const waitMs = times.tryAdd(this.#clock.now(), limit);
		this.#allocated += times.capacity;
		while (this.#keys.size > this.#bounds.keys || this.#allocated > this.#bounds.timestamps) {
			this.#allocated -= this.#keys.evictOldest()?.capacity ?? 0;
		}
		return Math.ceil(waitMs / 1000);
	}

	/** Takes an event back that was counted but does not count: of a key's events within the window, the newest. */
	refund(key: string): void {
		const times = this.#keys.get(key);
		if (!times) return;
		times.removeNewest();
		if (!times.isEmpty) return;
		// Remembered without an event, it would push out keys that have some.
		this.#keys.delete(key);
		this.#allocated -= times.capacity;
	}
}
