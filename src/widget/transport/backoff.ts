const INITIAL_MS = 500;
const MAX_MS = 20_000;

/**
 * How long to wait before trying again (ms): twice as long each time, by half at random, so that all who were cut off at
 * once do not come back at once.
 * @param attempt from 0
 */
export function backoff(attempt: number, random: () => number = Math.random): number {
	return Math.min(INITIAL_MS * 2 ** attempt, MAX_MS) * (0.5 + random() / 2);
}
