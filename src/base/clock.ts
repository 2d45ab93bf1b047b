/** Milliseconds of a day of UTC. */
export const DAY_MS = 86_400_000;

/** The source of the time. Tests pass their own. */
export interface Clock {
	/** Milliseconds since the epoch. */
	now(): number;
	/** Milliseconds since some moment, unaffected by changes of the clock. Absent in clocks that cannot be set. */
	monotonicNow?(): number;
}

/** The machine's clock. */
export const systemClock: Clock = { now: () => Date.now(), monotonicNow: () => performance.now() };

/** Milliseconds since some moment, for durations within this process: changes of the clock do not affect them. */
export function elapsedMs(clock: Clock): number {
	return clock.monotonicNow?.() ?? clock.now();
}

/** Starts a measurement. The returned function gives the time (ms since the epoch) without changes of the clock since then. */
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

const FIRST_YEAR = Date.parse('0000-01-01T00:00:00Z');
const AFTER_LAST_YEAR = Date.parse('9999-12-31T23:59:59.999Z') + 1;

/** Whether the year of a time has four digits, as the API writes and reads it. */
export function hasFourDigitYear(ms: number): boolean {
	return ms >= FIRST_YEAR && ms < AFTER_LAST_YEAR;
}

/** As `timestamp`, for a time that may be absent. */
export function timestampOrNull(ms: number | null): string | null {
	return ms === null ? null : timestamp(ms);
}
