import type { Clock } from './clock.ts';
import { EventTimes } from './event-times.ts';
import { Lru } from './lru.ts';

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
	readonly #keys: Lru<string, EventTimes>;
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
		this.#keys = new Lru(Number.POSITIVE_INFINITY);
	}

	/** Keys that are remembered. */
	get size(): number {
		return this.#keys.size;
	}

	/** Counts one event; 0 where it is within the limit, else whole seconds until one is again. */
	take(key: string, limit: number): number {
		let times = this.#keys.get(key);
		if (!times) {
			times = new EventTimes(this.#windowMs);
			this.#keys.add(key, times);
		}
		this.#room -= times.room;
		const wait = times.take(this.#clock.now(), limit);
		this.#room += times.room;
		while (this.#keys.size > this.#bounds.keys || this.#room > this.#bounds.times) {
			this.#room -= this.#keys.forgetOldest()?.room ?? 0;
		}
		return Math.ceil(wait / 1000);
	}

	/** Takes an event back that was counted but does not count: of a key's events within the window, the newest. */
	giveBack(key: string): void {
		const times = this.#keys.get(key);
		if (!times) return;
		times.takeBack();
		if (!times.isEmpty) return;
		// Remembered without an event, it would push out keys that have some.
		this.#keys.delete(key);
		this.#room -= times.room;
	}
}
