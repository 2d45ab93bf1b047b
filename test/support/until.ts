import { sleep } from '../../src/base/index.ts';

/** Milliseconds between two checks: at first, and at most after many. Frequent checks would slow what they wait for. */
const FIRST_INTERVAL_MS = 10;
const MAX_INTERVAL_MS = 150;
const GROWTH = 1.2;

type NotYet = undefined | null | false;

/**
 * Checks repeatedly until the result is not undefined, null or false, and resolves with it.
 * @param what the condition in words, for the error
 * @throws Error when the condition is not met in time
 */
export async function until<T>(
	what: string,
	check: () => Promise<T | NotYet> | T | NotYet,
	// Only a failure takes so long, even on a machine that runs ten other tasks.
	deadlineMs = 120_000,
): Promise<T> {
	const deadline = performance.now() + deadlineMs;
	for (let interval = FIRST_INTERVAL_MS; ; interval = Math.min(interval * GROWTH, MAX_INTERVAL_MS)) {
		const seen = await check();
		if (seen !== undefined && seen !== null && seen !== false) return seen;
		if (performance.now() > deadline) throw new Error(`Waited ${deadlineMs / 1000} s in vain until ${what}.`);
		await sleep(interval);
	}
}
