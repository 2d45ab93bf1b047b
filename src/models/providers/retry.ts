import type { ProviderFailure } from './provider-failure.ts';

/** Attempts of a request, including the first. */
export const MAX_ATTEMPTS = 3;

const INITIAL_DELAY_MS = 500;

/** The limits of the retries. */
export interface RetryPolicy {
	/** Including the first. */
	maxAttempts: number;
	/** Milliseconds between two attempts at most. If the provider asks for more, the request fails at once. */
	maxDelayMs: number;
}

/** The retries for a request for which a visitor waits. */
const VISITOR_RETRY_POLICY: RetryPolicy = { maxAttempts: MAX_ATTEMPTS, maxDelayMs: 20_000 };

/**
 * The delay before a retry in milliseconds; null for no retry. It doubles from half a second, and up to a half of it is
 * random, so that requests that failed together are not retried together. It is not shorter than the provider asks.
 * @param attempts attempts so far
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
