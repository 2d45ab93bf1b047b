import type { Clock } from '../../../src/base/index.ts';
import type { Timers } from '../../../src/webhooks/delivery/index.ts';

/** Timers as short as these are not part of a schedule and run in real time. */
const SHORT_MS = 10;

/** A clock and timers that the test controls: only `advance` fires timers, except very short ones. */
export class ManualTime implements Clock, Timers {
	#now: number;
	#elapsed = 0;
	readonly #timers = new Set<{ at: number; callback: () => void }>();

	constructor(now: number) {
		this.#now = now;
	}

	now(): number {
		return this.#now;
	}

	monotonicNow(): number {
		return this.#elapsed;
	}

	set(ms: number, callback: () => void): () => void {
		if (ms <= SHORT_MS) {
			const timer = setTimeout(callback, ms);
			return () => clearTimeout(timer);
		}
		const entry = { at: this.#now + ms, callback: callback };
		this.#timers.add(entry);
		return () => this.#timers.delete(entry);
	}

	/** The remaining milliseconds of each timer, the next one first. */
	get pendingTimers(): number[] {
		return [...this.#timers].map(({ at }) => at - this.#now).sort((one, other) => one - other);
	}

	/** Lets time pass and fires the timers that are due. */
	advance(ms: number): void {
		this.#now += ms;
		this.#elapsed += ms;
		for (const entry of this.#timers) {
			if (entry.at > this.#now) continue;
			this.#timers.delete(entry);
			entry.callback();
		}
	}

	/** Sets the clock. Timers fire when they would have fired otherwise. */
	setClock(ms: number): void {
		this.#now += ms;
		for (const entry of this.#timers) entry.at += ms;
	}
}
