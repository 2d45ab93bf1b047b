import assert from 'node:assert/strict';
import { setTimeout as sleep } from 'node:timers/promises';
import { runProgram } from '../../support/run-command.ts';
import { until } from '../../support/until.ts';
import { type Fault, FaultShim, skipWithoutFaultShim } from '../fault-shim.ts';
import type { World } from '../world.ts';
import type { Round } from './round.ts';

const MAX_DELAY_MS = 900;
/** System calls on the database and its log until the process ends. */
const MAX_CALLS = 500;

/** SIGKILL under load: at a moment of the clock, or before, in or after a system call on the database. */
export const kill: Round = {
	name: 'kill',
	summary: 'SIGKILL at a random moment, or at a random write or sync of the database',
	repeats: { short: 2, long: 10 },
	rounds: 20,
	skip: () => false,
	async run(world, repeats) {
		using shim = skipWithoutFaultShim() === false ? new FaultShim(world.folder) : null;
		for (let at = 0; at < repeats; at++) {
			await using server = await world.start(shim === null ? {} : { env: shim.env });
			if (at > 0) await world.check(server);
			const load = world.load(server);
			const before = world.ledger.acknowledged;
			await until('a change is acknowledged', () => world.ledger.acknowledged > before);
			if (shim !== null && world.random.chance(0.5)) {
				const action = world.random.pick<Fault['action']>(['kill before', 'kill after']);
				const countdown = world.random.between(1, MAX_CALLS);
				shim.arm({ operation: 'any', file: 'both', countdown, action, error: 'EIO', repeats: 1 });
				const ended = await Promise.race([server.exited, sleep(10_000)]);
				shim.disarm();
				world.count(ended ? 'kills at a system call' : 'kills at a moment');
			} else {
				await sleep(world.random.between(0, MAX_DELAY_MS));
				world.count('kills at a moment');
			}
			await server.kill();
			await load.stop();
		}
		await finish(world);
	},
};

/** Starts the server a last time, checks everything that takes until its work is done, and stops it. */
export async function finish(world: World, { checksDeliveries = true } = {}): Promise<void> {
	await using server = await world.start();
	await world.check(server);
	if (checksDeliveries) await world.checkDeliveries(server);
	const path = `/api/v1/knowledge-bases/${world.scene?.knowledgeBase}/status`;
	await until('each document is indexed', async () => {
		const { body } = await server.call('GET', path);
		return (
			body.status === 'ready' ||
			body.documents_total === 0 ||
			(world.ledger.hasKilledParsers && body.status === 'error')
		);
	});
	assert.deepEqual(await server.stop(), { code: 0, signal: null }, server.output());
	const { out } = await runProgram(world.dataDir, ['doctor']);
	assert.match(out, /^ok +database /m, out);
}
