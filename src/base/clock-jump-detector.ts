import type { Clock } from './clock.ts';

/** A clock that has gone on by so much more than the time that has passed was set. */
const JUMP_MS = 3_600_000;
/** Somebody who set it wrongly, or whatever sets it right after the machine has slept, has so long to do so. */
const DISTRUST_MS = 10 * 60_000;

/**
 * Holds the clock against the time that passes. Who is about to end something for good because its time is over asks
 * first: a clock that was far ahead for one moment has then ended nothing.
 */
export class ClockJumpDetector {
	readonly #clock: Clock;
	/** How far the clock was before the time that had passed, when it was looked at last. */
	#wallClockOffset: number;
	/** By the time that passes. */
	#distrustedUntil = Number.NEGATIVE_INFINITY;

	/**
	 * @param lastTrustedTime what the clock said when it was last beyond doubt, in an earlier process (ms since the epoch); null where that
	 * is not known. A clock that is more than an hour ahead of it is in doubt at first: the machine may just have been off.
	 */
	constructor(clock: Clock, lastTrustedTime: number | null = null) {
		this.#clock = clock;
		const now = clock.now();
		const elapsed = clock.monotonicNow?.() ?? now;
		this.#wallClockOffset = now - elapsed;
		if (lastTrustedTime !== null && now - lastTrustedTime > JUMP_MS) this.#distrustedUntil = elapsed + DISTRUST_MS;
	}

	/** Whether the clock has jumped forward lately, by more than an hour since it was asked about before. */
	isSuspect(): boolean {
		return this.trustedNow() === null;
	}

	/** What the clock says; null while it is in doubt. What is erased because its time is over is judged by this alone. */
	trustedNow(): number | null {
		const now = this.#clock.now();
		const elapsed = this.#clock.monotonicNow?.();
		if (elapsed === undefined) return now;
		const offset = now - elapsed;
		if (offset - this.#wallClockOffset > JUMP_MS) this.#distrustedUntil = elapsed + DISTRUST_MS;
		this.#wallClockOffset = offset;
		return elapsed < this.#distrustedUntil ? null : now;
	}
}
