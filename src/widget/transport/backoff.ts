const INITIAL_MS = 500;
const MAX_MS = 20_000;

/**
 * Delay before the next attempt (ms). It doubles each time, and half of it is random, so that clients that lost their connection
 * together do not reconnect together.
 * @param attempt from 0
 */
export function backoff(attempt: number, random: () => number = Math.random): number {
	return Math.min(INITIAL_MS * 2 ** attempt, MAX_MS) * (0.5 + random() / 2);
}
