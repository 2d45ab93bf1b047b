/** Where the time comes from; tests hand in their own. */
export interface Clock {
	/** Milliseconds since the epoch. */
	now(): number;
}

/** The machine's clock. */
export const systemClock: Clock = { now: () => Date.now() };

/** A time as the API shows it: ISO 8601 in UTC with milliseconds. */
export function timestamp(ms: number): string {
	return new Date(ms).toISOString();
}

/** The same for a time that may be absent. */
export function timestampOrNull(ms: number | null): string | null {
	return ms === null ? null : timestamp(ms);
}
