/** Where the time comes from; tests hand in their own. */
export interface Clock {
	/** Milliseconds since the epoch. */
	now(): number;
	/** Milliseconds since some moment, whoever sets the clock meanwhile. A clock that nobody can set does without. */
	monotonicNow?(): number;
}

/** The machine's clock. */
export const systemClock: Clock = { now: () => Date.now(), monotonicNow: () => performance.now() };

/** Milliseconds since some moment, for what lasts a while in this process: a clock that was set makes it neither longer nor shorter. */
export function elapsedMs(clock: Clock): number {
	return clock.monotonicNow?.() ?? clock.now();
}

/** Begins to measure: the result says what time it is (ms since the epoch) if nobody has set the clock since. */
export function monotonicTimeFrom(clock: Clock): () => number {
	const [start, monotonicStart] = [clock.now(), clock.monotonicNow?.()];
	return () => {
		const elapsed = clock.monotonicNow?.();
		return monotonicStart === undefined || elapsed === undefined
			? clock.now()
			: Math.round(start + elapsed - monotonicStart);
	};
}

/** A time as the API shows it: ISO 8601 in UTC with milliseconds. */
export function timestamp(ms: number): string {
	return new Date(ms).toISOString();
}

/** The same for a time that may be absent. */
export function timestampOrNull(ms: number | null): string | null {
	return ms === null ? null : timestamp(ms);
}
