import assert from 'node:assert/strict';
import { setTimeout as sleep } from 'node:timers/promises';
import type { ServerProcess } from '../../support/server-process.ts';
import { until } from '../../support/until.ts';
import { type Fault, FaultShim, skipWithoutFaultShim } from '../fault-shim.ts';
import type { World } from '../world.ts';
import { finish } from './kill.ts';
import type { Round } from './round.ts';

const MAX_COUNTDOWN = 25;
const MAX_WAITS = 50;
const MAX_FAULT_MS = 800;

/** The nth write, sync or truncation of the database or its log fails, once or many times, under load; then the disk works again. */
export const failingWrites: Round = {
	name: 'failing-writes',
	summary: 'a write, sync or truncation of the database or its log fails with EIO or ENOSPC, or writes a part',
	repeats: { short: 1, long: 8 },
	rounds: 12,
	skip: skipWithoutFaultShim,
	async run(world, repeats) {
		using shim = new FaultShim(world.folder);
		for (let at = 0; at < repeats; at++) {
			await using server = await world.start({ env: shim.env });
			if (at > 0) await world.check(server);
			const load = world.load(server);
			const before = world.ledger.acknowledged;
			await until('a change is acknowledged', () => world.ledger.acknowledged > before);
			const fault = randomFault(world);
			shim.arm(fault);
			// The database itself is written to by erasures and checkpoints only: some faults are not reached.
			for (let waits = 0; waits < MAX_WAITS && shim.injected === 0; waits++) await sleep(100);
			await sleep(world.random.between(MAX_FAULT_MS / 4, MAX_FAULT_MS));
			const diesMeanwhile = world.random.chance(0.3);
			if (!diesMeanwhile) {
				shim.disarm();
				await isReady(server);
				const recovered = world.ledger.acknowledged;
				await until('changes are acknowledged again', () => world.ledger.acknowledged > recovered);
				await load.stop();
				await world.check(server);
			}
			world.count(`${fault.operation} of the ${fault.file}: ${fault.error}`, shim.injected);
			await server.kill();
			shim.disarm();
			await load.stop();
		}
		await finish(world);
	},
};

function randomFault({ random }: World): Fault {
	return {
		operation: random.pick(['write', 'write', 'sync', 'sync', 'any']),
		file: random.pick(['log', 'log', 'database', 'both']),
		countdown: random.between(1, MAX_COUNTDOWN),
		action: random.pick(['fail', 'fail', 'short']),
		error: random.pick(['EIO', 'ENOSPC']),
		repeats: random.pick([1, 2, 5, 1_000_000]),
	};
}

/** A server whose disk works again becomes ready without a request. */
async function isReady(server: ServerProcess): Promise<void> {
	await until('the server is ready', async () => {
		const { status, body } = await server.call('GET', '/readyz');
		if (status !== 200) assert.match(body.message, /\.$/);
		return status === 200;
	});
}
