import type { Clock } from '../../../src/base/index.ts';
import type { Timers } from '../../../src/webhooks/delivery/index.ts';

/** Alarms as short as these are no schedule: they ring by themselves. */
const SHORT_MS = 10;

/** Time and alarms in the test's hands: nothing rings but by `advance`, unless it is about to ring anyway. */
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
		const alarm = { at: this.#now + ms, callback: callback };
		this.#timers.add(alarm);
		return () => this.#timers.delete(alarm);
	}

	/** In how many milliseconds each alarm is to ring, the next one first. */
	get pendingTimers(): number[] {
		return [...this.#timers].map(({ at }) => at - this.#now).sort((one, other) => one - other);
	}

	/** So much time passes; what is to ring until then rings. */
	advance(ms: number): void {
		this.#now += ms;
		this.#elapsed += ms;
		for (const alarm of this.#timers) {
			if (alarm.at > this.#now) continue;
			this.#timers.delete(alarm);
			alarm.callback();
		}
	}

	/** Somebody sets the clock. Alarms ring when they would have rung. */
	setClock(ms: number): void {
		this.#now += ms;
		for (const alarm of this.#timers) alarm.at += ms;
	}
}
