import assert from 'node:assert/strict';
import { setTimeout as sleep } from 'node:timers/promises';
import { until } from '../../support/until.ts';
import { finish } from './kill.ts';
import type { Round } from './round.ts';

const MAX_DELAY_MS = 700;

/** SIGTERM under load: the server ends with 0, and what it has not answered it has not done. */
export const stop: Round = {
	name: 'stop',
	summary: 'SIGTERM under load; a request without an answer must not have been carried out',
	repeats: { short: 1, long: 10 },
	rounds: 2,
	skip: () => false,
	async run(world, repeats) {
		for (let at = 0; at < repeats; at++) {
			await using server = await world.start();
			if (at > 0) await world.check(server);
			const load = world.load(server);
			const before = world.ledger.acknowledged;
			await until('a change is acknowledged', () => world.ledger.acknowledged > before);
			await sleep(world.random.between(0, MAX_DELAY_MS));
			assert.deepEqual(await server.stop(), { code: 0, signal: null }, server.output());
			world.count('SIGTERM');
			await load.stop();
			for (const { changes } of world.ledger.allItems()) {
				for (const change of changes) if (change.outcome === 'unknown') change.outcome = 'refused';
			}
		}
		await finish(world);
	},
};
