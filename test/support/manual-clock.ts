import type { Clock } from '../../src/base/index.ts';

/** A clock that a test sets, and time that passes. */
export class ManualClock implements Clock {
	#now: number;
	#elapsed = 1_234;

	constructor(now = Date.UTC(2026, 10, 20)) {
		this.#now = now;
	}

	now(): number {
		return this.#now;
	}

	monotonicNow(): number {
		return this.#elapsed;
	}

	adjust(ms: number): void {
		this.#now += ms;
	}

	advance(ms: number): void {
		this.#now += ms;
		this.#elapsed += ms;
	}
}
