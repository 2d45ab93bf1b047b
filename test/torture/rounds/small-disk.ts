import { statfs } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { mountSmallDisk, type SmallDisk, skipWithoutSmallDisk } from '../../support/small-disk.ts';
import { until } from '../../support/until.ts';
import { throwFaults } from '../world.ts';
import { finish } from './kill.ts';
import type { Round } from './round.ts';

const SIZE_MB = 48;
const MAX_FULL_MS = 1_500;

/** The disk of the data folder is full for a time; the server is killed in half of the cases meanwhile. */
export const smallDisk: Round = {
	name: 'small-disk',
	summary: 'the disk is full under load, and has space again; some servers are killed while it is full',
	repeats: { short: 1, long: 6 },
	rounds: 2,
	skip: skipWithoutSmallDisk,
	disk: async () => (await mountSmallDisk(SIZE_MB)) as SmallDisk,
	async run(world, repeats) {
		for (let at = 0; at < repeats; at++) {
			await using server = await world.start();
			if (at > 0) await world.check(server);
			const load = world.load(server);
			const before = world.ledger.acknowledged;
			await until('a change is acknowledged', () => world.ledger.acknowledged > before);
			const makeSpace = await (world.disk as SmallDisk).fill();
			world.count('full disks');
			const refusals = () => [...world.ledger.refusals.values()].reduce((sum, count) => sum + count, 0);
			const refused = refusals();
			const acknowledged = world.ledger.acknowledged;
			await until('a change is refused', () => refusals() > refused).catch(async (error: Error) => {
				const { bavail, bsize } = await statfs(world.dataDir);
				const changes = world.ledger.acknowledged - acknowledged;
				const exit = await Promise.race([server.exited, null]);
				const end = exit === null ? 'The server runs' : `The server has ended with ${JSON.stringify(exit)}`;
				const found = `${error.message} ${changes} were acknowledged; ${bavail * bsize} bytes are free. ${end}.`;
				throwFaults([found], server);
			});
			await sleep(world.random.between(0, MAX_FULL_MS));
			if (world.random.chance(0.5)) {
				await server.kill();
				await load.stop();
				await makeSpace();
				continue;
			}
			await makeSpace();
			await until('the server is ready', async () => (await server.call('GET', '/readyz')).status === 200);
			await load.stop();
			await world.check(server);
			await server.kill();
		}
		await finish(world);
	},
};
