import type { Clock } from './clock.ts';

/** A clock that advances by this much more than the monotonic time was set. */
const JUMP_MS = 3_600_000;
/** How long the clock is suspect after a jump: time to correct a wrong setting, or for NTP after a sleep of the machine. */
const DISTRUST_MS = 10 * 60_000;
/** A clock that is ahead of the shared clock by more than this is wrong. */
const MAX_AHEAD_MS = 5 * 60_000;
/** A former clock counts as at most this far ahead of the present one. */
const MAX_BEHIND_MS = 31 * 86_400_000;

/**
 * Compares the clock with the monotonic time. Code that erases expired data for good asks first, so that a clock that is far
 * ahead for a moment erases nothing.
 */
export class ClockJumpDetector {
	readonly #clock: Clock;
	/** The difference between the clock and the monotonic time at the last check. */
	#wallClockOffset: number;
	/** In monotonic time. */
	#distrustedUntil = Number.NEGATIVE_INFINITY;
	/** The last difference that was not suspect. */
	#trustedOffset: number;
	/** Since when the clock is behind the trusted difference, in monotonic time; null: it is not. */
	#behindSince: number | null = null;
	/** Whether the clock was ahead of the shared one at the last comparison. */
	#isAhead = false;

	/**
	 * @param lastTrustedTime the last trusted time of an earlier process (ms since the epoch); null when it is unknown. A clock
	 * more than an hour ahead of it is suspect at first, although the machine may only have been off.
	 */
	constructor(clock: Clock, lastTrustedTime: number | null = null) {
		this.#clock = clock;
		const now = clock.now();
		const elapsed = clock.monotonicNow?.() ?? now;
		this.#wallClockOffset = now - elapsed;
		this.#trustedOffset = this.#wallClockOffset;
		if (lastTrustedTime === null || Math.abs(now - lastTrustedTime) <= JUMP_MS) return;
		this.#trustedOffset = lastTrustedTime - elapsed;
		if (now > lastTrustedTime) this.#distrustedUntil = elapsed + DISTRUST_MS;
	}

	/**
	 * Compares the clock with that of the database, which several machines share: while it is ahead, it is suspect.
	 * @param sharedNow ms since the epoch
	 */
	compare(sharedNow: number): void {
		this.#isAhead = this.#clock.now() - sharedNow > MAX_AHEAD_MS;
	}

	/** Whether the clock has jumped forward by more than an hour within the last ten minutes. */
	isSuspect(): boolean {
		return this.trustedNow() === null;
	}

	/** The time; null while the clock is suspect. Only this time decides what is erased because of its age. */
	trustedNow(): number | null {
		const now = this.#clock.now();
		const elapsed = this.#clock.monotonicNow?.();
		if (elapsed === undefined) return this.#isAhead ? null : now;
		this.#observe(now, elapsed);
		return elapsed < this.#distrustedUntil || this.#isAhead ? null : now;
	}

	/**
	 * The time from which a lifetime counts. For ten minutes after the clock was set back by more than an hour, it is the time by the
	 * former clock: what is stored meanwhile must not have expired when the clock is right again.
	 */
	startOfLifetime(): number {
		const now = this.#clock.now();
		const elapsed = this.#clock.monotonicNow?.();
		if (elapsed === undefined) return now;
		this.#observe(now, elapsed);
		return Math.max(now, Math.min(elapsed + this.#trustedOffset, now + MAX_BEHIND_MS));
	}

	/** Notices whether the clock was set since the last check. */
	#observe(now: number, elapsed: number): void {
		const offset = now - elapsed;
		if (offset - this.#wallClockOffset > JUMP_MS) this.#distrustedUntil = elapsed + DISTRUST_MS;
		this.#wallClockOffset = offset;
		const isBehind = this.#trustedOffset - offset > JUMP_MS;
		this.#behindSince = isBehind ? (this.#behindSince ?? elapsed) : null;
		const isOld = this.#behindSince === null || elapsed - this.#behindSince >= DISTRUST_MS;
		if (isOld && elapsed >= this.#distrustedUntil) this.#trustedOffset = offset;
	}
}
