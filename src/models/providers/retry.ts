import type { Failure } from './failure.ts';

/** Attempts that a request has, the first included. */
export const MAX_ATTEMPTS = 3;

const FIRST_DELAY_MS = 500;

/** How long it is tried. */
export interface Patience {
	/** The first one included. */
	attempts: number;
	/** Milliseconds between two of them at most: who is sent away for longer is told so at once. */
	longestDelayMs: number;
}

/** As long as a visitor waits. */
const VISITORS: Patience = { attempts: MAX_ATTEMPTS, longestDelayMs: 20_000 };

/**
 * Milliseconds until a request is tried again: doubling from half a second, of which up to a half is left to chance, so that
 * many who failed at once do not come back at once; not sooner than the provider asks. Null for not again.
 * @param attempts made so far
 * @param random from 0 to 1
 */
export function delayBefore(
	attempts: number,
	{ passing, retryAfterMs }: Failure,
	random: number,
	patience: Patience = VISITORS,
): number | null {
	if (!passing || attempts >= patience.attempts) return null;
	const backoff = FIRST_DELAY_MS * 2 ** (attempts - 1) * (1 - random / 2);
	const delay = Math.ceil(Math.max(backoff, retryAfterMs ?? 0));
	return delay > patience.longestDelayMs ? null : delay;
}
