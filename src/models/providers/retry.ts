import type { ProviderFailure } from './provider-failure.ts';

/** Attempts that a request has, the first included. */
export const MAX_ATTEMPTS = 3;

const INITIAL_DELAY_MS = 500;

/** How long it is tried. */
export interface RetryPolicy {
	/** The first one included. */
	maxAttempts: number;
	/** Milliseconds between two of them at most: who is sent away for longer is told so at once. */
	maxDelayMs: number;
}

/** As long as a visitor waits. */
const VISITOR_RETRY_POLICY: RetryPolicy = { maxAttempts: MAX_ATTEMPTS, maxDelayMs: 20_000 };

/**
 * Milliseconds until a request is tried again: doubling from half a second, of which up to a half is left to chance, so that
 * many who failed at once do not come back at once; not sooner than the provider asks. Null for not again.
 * @param attempts made so far
 * @param random from 0 to 1
 */
export function nextRetryDelay(
	attempts: number,
	{ isTransient, retryAfterMs }: ProviderFailure,
	random: number,
	policy: RetryPolicy = VISITOR_RETRY_POLICY,
): number | null {
	if (!isTransient || attempts >= policy.maxAttempts) return null;
	const backoff = INITIAL_DELAY_MS * 2 ** (attempts - 1) * (1 - random / 2);
	const delay = Math.ceil(Math.max(backoff, retryAfterMs ?? 0));
	return delay > policy.maxDelayMs ? null : delay;
}
