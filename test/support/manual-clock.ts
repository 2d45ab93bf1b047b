import type { Clock } from '../../src/base/index.ts';

/** A clock with wall time and monotonic time, which a test moves together or sets apart. */
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

/** A clock without monotonic time, which moves only by `advance`. */
export function manualWallClock(now = Date.now()): { now(): number; advance(ms: number): void } {
	return {
		now: () => now,
		advance(ms) {
			now += ms;
		},
	};
}
