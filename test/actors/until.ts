import { setImmediate as nextTurn } from 'node:timers/promises';

/** Waits turn by turn until a condition holds; fails after a minute. */
export async function until(condition: () => boolean): Promise<void> {
	const end = performance.now() + 60_000;
	while (!condition()) {
		if (performance.now() > end) throw new Error('The condition did not come to hold within a minute.');
		await nextTurn();
	}
}
