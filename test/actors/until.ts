import { setImmediate as nextTurn } from 'node:timers/promises';

/** Waits turn by turn until a condition holds; fails after five seconds. */
export async function until(condition: () => boolean): Promise<void> {
	const end = Date.now() + 5_000;
	while (!condition()) {
		if (Date.now() > end) throw new Error('The condition did not come to hold within 5 s.');
		await nextTurn();
	}
}
