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

	/**
	 * @param seen what the clock said when it was last beyond doubt, in an earlier process (ms since the epoch); null where that
	 * is not known. A clock that is more than an hour ahead of it is in doubt at first: the machine may just have been off.
	 */
	constructor(clock: Clock, seen: number | null = null) {
		this.#clock = clock;
		const now = clock.now();
		const elapsed = clock.elapsed?.() ?? now;
		this.#lead = now - elapsed;
		if (seen !== null && now - seen > JUMP_MS) this.#doubtedUntil = elapsed + DOUBT_MS;
	}

	/** Whether the clock has jumped forward lately, by more than an hour since it was asked about before. */
	isInDoubt(): boolean {
		return this.certainNow() === null;
	}

	/** What the clock says; null while it is in doubt. What is erased because its time is over is judged by this alone. */
	certainNow(): number | null {
		const now = this.#clock.now();
		const elapsed = this.#clock.elapsed?.();
		if (elapsed === undefined) return now;
		const lead = now - elapsed;
		if (lead - this.#lead > JUMP_MS) this.#doubtedUntil = elapsed + DOUBT_MS;
		this.#lead = lead;
		return elapsed < this.#doubtedUntil ? null : now;
	}
}
