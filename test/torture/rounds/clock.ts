import { setTimeout as sleep } from 'node:timers/promises';
import { until } from '../../support/until.ts';
import { FaultShim, skipWithoutFaultShim } from '../fault-shim.ts';
import { finish } from './kill.ts';
import type { Round } from './round.ts';

const HOUR = 3_600_000;
/** What is stored while the clock is behind has that time. Further back than events are kept, they would be erased when it is right again. */
const JUMPS = [-20 * 24 * HOUR, -HOUR, -1_500, 1_500, 2 * HOUR, 45 * 24 * HOUR, 400 * 24 * HOUR] as const;

/** The clock of the machine jumps under load and between two starts. */
export const clock: Round = {
	name: 'clock',
	summary: 'the clock jumps forward and back under load, and between a kill and the next start',
	repeats: { short: 1, long: 8 },
	rounds: 3,
	skip: skipWithoutFaultShim,
	async run(world, repeats) {
		using shim = new FaultShim(world.folder);
		for (let at = 0; at < repeats; at++) {
			await using server = await world.start({ env: shim.env });
			if (at > 0) await world.check(server);
			const load = world.load(server);
			for (let jump = 0; jump < 3; jump++) {
				shim.setClockOffset(world.random.pick(JUMPS));
				world.count('jumps of the clock');
				const before = world.ledger.acknowledged;
				await until('changes are acknowledged', () => world.ledger.acknowledged > before + 3);
				await sleep(world.random.between(0, 200));
			}
			await server.kill();
			await load.stop();
			if (world.random.chance(0.5)) shim.setClockOffset(world.random.pick(JUMPS));
		}
		// A delivery fails when its 72 hours have passed by the clock.
		await finish(world, { checksDeliveries: false });
	},
};
