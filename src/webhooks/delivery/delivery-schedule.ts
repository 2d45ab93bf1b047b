const MINUTE = 60_000;
const HOUR = 60 * MINUTE;

/** When a delivery that has failed is tried again (section 6 of the design: retried for 72 hours). Milliseconds, but the ratios. */
export const DELIVERY_SCHEDULE = {
	/** The delay after the first failure; */
	initialDelay: 5_000,
	/** each one is so many times the one before, */
	backoffFactor: 2,
	/** up to this, */
	maxDelay: 6 * HOUR,
	/** give or take this share of it, so that many that failed at once do not come back at once. */
	jitter: 0.1,
	/** A receiver that asks for more time (Retry-After) gets at most so many times the delay. */
	maxRetryAfterFactor: 2,
	/** No attempt begins later than this after the first one. */
	giveUpAfter: 72 * HOUR,
	/** The last attempt is not planned for the last moment, but for so long before it. */
	lastAttemptMargin: MINUTE,
	/** An endpoint of which every attempt has failed for so long is disabled. */
	disableAfter: 120 * HOUR,
	/** How long events are kept: what was not tried within this time is tried no more. */
	eventRetention: 720 * HOUR,
} as const;

/** What the time of the next attempt is worked out from. */
export interface RetryContext {
	/** At least 1. */
	failures: number;
	/** When the first attempt began (ms since the epoch). */
	firstAt: number;
	/** When the last one ended. */
	now: number;
	/** What the receiver asked for, where it did. */
	retryAfterMs: number | null;
	/** From 0 up to 1. */
	random: number;
}

/** When to try again (ms since the epoch); null for never: the time is over. */
export function nextAttemptAt({ failures, firstAt, now, retryAfterMs, random }: RetryContext): number | null {
	const { initialDelay, backoffFactor, maxDelay, jitter, maxRetryAfterFactor } = DELIVERY_SCHEDULE;
	const baseDelay = Math.min(initialDelay * backoffFactor ** (failures - 1), maxDelay);
	const jitteredDelay = Math.min(baseDelay * (1 + jitter * (2 * random - 1)), maxDelay);
	const requestedDelay = Math.max(jitteredDelay, Math.min(retryAfterMs ?? 0, jitteredDelay * maxRetryAfterFactor));
	const last = lastAttemptAt(firstAt);
	const due = Math.round(now + requestedDelay);
	if (due <= last) return due;
	// What remains is worth one more attempt, unless the last one was it.
	return last - now >= initialDelay ? last : null;
}

/** For when the last attempt of a delivery is planned. */
export function lastAttemptAt(firstAt: number): number {
	return firstAt + DELIVERY_SCHEDULE.giveUpAfter - DELIVERY_SCHEDULE.lastAttemptMargin;
}

/** Whether the time in which attempts may begin is over. */
export function isPastGiveUp(firstAt: number | null, now: number): boolean {
	return firstAt !== null && now > firstAt + DELIVERY_SCHEDULE.giveUpAfter;
}

/** Whether a delivery is due. Times farther ahead than any that is ever set are from a clock that was set back since. */
export function isDue(dueAt: number | null, now: number): boolean {
	return (
		dueAt !== null && (dueAt <= now || dueAt > now + DELIVERY_SCHEDULE.maxDelay * DELIVERY_SCHEDULE.maxRetryAfterFactor)
	);
}
