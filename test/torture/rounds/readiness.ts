import { setTimeout as sleep } from 'node:timers/promises';
import type { ServerProcess } from '../../support/server-process.ts';

const INTERVAL_MS = 50;
const DEADLINE_MS = 120_000;

/**
 * Waits until the server is ready or has ended.
 * @returns whether it is ready
 */
export async function readyOrEnded(server: ServerProcess): Promise<boolean> {
	let hasEnded = false;
	void server.exited.then(() => {
		hasEnded = true;
	});
	for (const deadline = performance.now() + DEADLINE_MS; !hasEnded; ) {
		const answer = await server.call('GET', '/readyz').catch(() => null);
		if (answer?.status === 200) return true;
		if (performance.now() > deadline) throw new Error(`The server is not ready.\n${server.output()}`);
		await sleep(INTERVAL_MS);
	}
	return false;
}
