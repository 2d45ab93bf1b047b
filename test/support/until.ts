import { sleep } from '../../src/base/index.ts';

/**
 * Waits until `look` gives something other than undefined or false, and resolves with it. Looks again every few
 * milliseconds, for what tells of itself in no other way.
 * @throws Error that names what was waited for, when it has not come in time
 */
export async function until<T>(
	what: string,
	check: () => Promise<T | undefined | false> | T | undefined | false,
	// Only what fails takes so long: much more than any of it takes on a machine that does ten other things.
	deadlineMs = 120_000,
): Promise<T> {
	const deadline = performance.now() + deadlineMs;
	for (;;) {
		const seen = await check();
		if (seen !== undefined && seen !== false) return seen;
		if (performance.now() > deadline) throw new Error(`Waited ${deadlineMs / 1000} s in vain until ${what}.`);
		await sleep(20);
	}
}
