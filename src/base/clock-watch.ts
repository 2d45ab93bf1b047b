import type { Clock } from './clock.ts';

/** A clock that has gone on by so much more than the time that has passed was set. */
const JUMP_MS = 3_600_000;
/** Somebody who set it wrongly, or whatever sets it right after the machine has slept, has so long to do so. */
const DOUBT_MS = 10 * 60_000;

/**
 * Holds the clock against the time that passes. Who is about to end something for good because its time is over asks
 * first: a clock that was far ahead for one moment has then ended nothing.
 */
export class ClockWatch {
	readonly #clock: Clock;
	/** How far the clock was before the time that had passed, when it was looked at last. */
	#lead: number;
	/** By the time that passes. */
	#doubtedUntil = Number.NEGATIVE_INFINITY;

	constructor(clock: Clock) {
		this.#clock = clock;
		this.#lead = clock.now() - (clock.elapsed?.() ?? clock.now());
	}

	/** Whether the clock has jumped forward lately, by more than an hour since it was asked about before. */
	isInDoubt(): boolean {
		const elapsed = this.#clock.elapsed?.();
		if (elapsed === undefined) return false;
		const lead = this.#clock.now() - elapsed;
		if (lead - this.#lead > JUMP_MS) this.#doubtedUntil = elapsed + DOUBT_MS;
		this.#lead = lead;
		return elapsed < this.#doubtedUntil;
	}
}
