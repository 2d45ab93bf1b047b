import type { Clock } from './clock.ts';
import { LruCache } from './lru-cache.ts';
import { SlidingWindowLog } from './sliding-window-log.ts';

/** The memory of a limiter. The least recently used key is evicted first. */
export interface LimiterCapacity {
	/** Keys. */
	keys: number;
	/** Timestamps of all keys together. */
	timestamps: number;
}

/** The default for all keys together: 8 MB for windows of up to a minute. */
const DEFAULT_MAX_TIMESTAMPS = 4_000_000;

/**
 * Counts events per key in an exact sliding window: it keeps the times of each key's events within the window, at most as many
 * as the limit.
 */
export class SlidingWindowLimiter {
	readonly #keys: LruCache<string, SlidingWindowLog>;
	readonly #clock: Clock;
	readonly #windowMs: number;
	readonly #capacity: LimiterCapacity;
	/** Allocated timestamps of all keys together. */
	#allocated = 0;

	/** @param capacity how much is kept in memory; a number limits the keys */
	constructor(clock: Clock, windowMs: number, capacity: LimiterCapacity | number) {
		this.#clock = clock;
		this.#windowMs = windowMs;
		this.#capacity = typeof capacity === 'number' ? { keys: capacity, timestamps: DEFAULT_MAX_TIMESTAMPS } : capacity;
		this.#keys = new LruCache(Number.POSITIVE_INFINITY);
	}

	/** Keys in memory. */
	get size(): number {
		return this.#keys.size;
	}

	/** Counts one event. Returns 0 when it is within the limit, otherwise the whole seconds until the next event is. */
	tryConsume(key: string, limit: number): number {
		let times = this.#keys.get(key);
		if (!times) {
			times = new SlidingWindowLog(this.#windowMs);
			this.#keys.add(key, times);
		}
		this.#allocated -= times.capacity;
		const waitMs = times.tryAdd(this.#clock.now(), limit);
		this.#allocated += times.capacity;
		while (this.#keys.size > this.#capacity.keys || this.#allocated > this.#capacity.timestamps) {
			this.#allocated -= this.#keys.evictOldest()?.capacity ?? 0;
		}
		return Math.ceil(waitMs / 1000);
	}

	/** Removes the newest event of a key from the window, because it should not have been counted. */
	refund(key: string): void {
		const times = this.#keys.get(key);
		if (!times) return;
		times.removeNewest();
		if (!times.isEmpty) return;
		// A key without events would evict keys that have some.
		this.#keys.delete(key);
		this.#allocated -= times.capacity;
	}
}
