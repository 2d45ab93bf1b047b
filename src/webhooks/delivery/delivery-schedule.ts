const MINUTE = 60_000;
const HOUR = 60 * MINUTE;

/** When a failed delivery is retried (section 6 of the specification: retried for 72 hours). In milliseconds, except the ratios. */
export const DELIVERY_SCHEDULE = {
	/** The delay after the first failure. */
	initialDelay: 5_000,
	/** Each delay is this many times the previous one. */
	backoffFactor: 2,
	/** The longest delay. */
	maxDelay: 6 * HOUR,
	/** The random share by which a delay varies, so that deliveries that failed together are not retried together. */
	jitter: 0.1,
	/** `Retry-After` lengthens a delay at most by this factor. */
	maxRetryAfterFactor: 2,
	/** No attempt begins later than this after the first one. */
	giveUpAfter: 72 * HOUR,
	/** The last attempt is planned this long before the end. */
	lastAttemptMargin: MINUTE,
	/** An endpoint is disabled when every attempt has failed for this long. */
	disableAfter: 120 * HOUR,
	/** How long events are kept. A delivery that was not tried within this time is given up. */
	eventRetention: 720 * HOUR,
} as const;

/** What the time of the next attempt depends on. */
export interface RetryContext {
	/** At least 1. */
	failures: number;
	/** When the first attempt began (ms since the epoch). */
	firstAt: number;
	/** When the last one ended. */
	now: number;
	/** The delay that the receiver asked for; null when it did not. */
	retryAfterMs: number | null;
	/** From 0 up to 1. */
	random: number;
}

/** When the next attempt is due (ms since the epoch); null when the time limit has passed. */
export function nextAttemptAt({ failures, firstAt, now, retryAfterMs, random }: RetryContext): number | null {
	const { initialDelay, backoffFactor, maxDelay, jitter, maxRetryAfterFactor } = DELIVERY_SCHEDULE;
	const baseDelay = Math.min(initialDelay * backoffFactor ** (failures - 1), maxDelay);
	const jitteredDelay = Math.min(baseDelay * (1 + jitter * (2 * random - 1)), maxDelay);
	const requestedDelay = Math.max(jitteredDelay, Math.min(retryAfterMs ?? 0, jitteredDelay * maxRetryAfterFactor));
	const last = lastAttemptAt(firstAt);
	const due = Math.round(now + requestedDelay);
	if (due <= last) return due;
	// One more attempt at the end, unless the last one was that attempt.
	return last - now >= initialDelay ? last : null;
}

/** The time for which the last attempt of a delivery is planned. */
export function lastAttemptAt(firstAt: number): number {
	return firstAt + DELIVERY_SCHEDULE.giveUpAfter - DELIVERY_SCHEDULE.lastAttemptMargin;
}

/** Whether the time limit for new attempts has passed. */
export function isPastGiveUp(firstAt: number | null, now: number): boolean {
	return firstAt !== null && now > firstAt + DELIVERY_SCHEDULE.giveUpAfter;
}

/** Whether a delivery is due. A time beyond the longest delay shows that the clock was set back later, and counts as due. */
export function isDue(dueAt: number | null, now: number): boolean {
	return (
		dueAt !== null && (dueAt <= now || dueAt > now + DELIVERY_SCHEDULE.maxDelay * DELIVERY_SCHEDULE.maxRetryAfterFactor)
	);
}
