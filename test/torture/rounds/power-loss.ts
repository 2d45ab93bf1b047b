import assert from 'node:assert/strict';
import { cp, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { databaseFile } from '../../../src/store/index.ts';
import { findWalDamage } from '../../../src/store/sqlite/wal-inspection.ts';
import { runProgram } from '../../support/run-command.ts';
import { until } from '../../support/until.ts';
import { FaultShim, skipWithoutFaultShim } from '../fault-shim.ts';
import { now } from '../ledger.ts';
import { imageAt, readTrace } from '../write-trace.ts';
import type { Round } from './round.ts';

const LOAD_MS = 1_500;

/** Loss of power: the files as a disk may have them that has kept synced writes, and any part of the others. */
export const powerLoss: Round = {
	name: 'power-loss',
	summary: 'each write of a life is recorded; a server starts on what a disk may have kept at random points of it',
	repeats: { short: 2, long: 12 },
	rounds: 6,
	skip: skipWithoutFaultShim,
	async run(world, repeats) {
		using shim = new FaultShim(world.folder);
		let begunAt: number;
		{
			await using server = await world.start({ env: shim.tracingEnv() });
			begunAt = now();
			const load = world.load(server);
			const before = world.ledger.acknowledged;
			await until('changes are acknowledged', () => world.ledger.acknowledged > before + 5);
			await sleep(world.random.between(LOAD_MS / 2, LOAD_MS));
			await server.kill();
			await load.stop();
		}
		const trace = readTrace(await readFile(shim.traceFile));
		const first = trace.findIndex(({ at }) => at > begunAt);
		assert.ok(first > 0, 'the load has written');
		for (let repeat = 0; repeat < repeats; repeat++) {
			// The first one is the end of the trace: the state after the kill, without what was not synced.
			const point = repeat === 0 ? trace.length : world.random.between(first, trace.length);
			const dataDir = join(world.folder, `image-${repeat}`);
			await cp(world.dataDir, dataDir, { recursive: true });
			const { database, log, torn } = imageAt(trace, point, world.random);
			for (const ending of ['-shm', '-wal']) await rm(databaseFile(dataDir) + ending, { force: true });
			await writeFile(databaseFile(dataDir), database);
			if (log.length > 0) await writeFile(`${databaseFile(dataDir)}-wal`, log);
			assert.equal(findWalDamage(`${databaseFile(dataDir)}-wal`), null, 'an interrupted commit is no damage');
			world.count('losses of power');
			world.count('sectors of writes without a sync that were kept', torn);
			{
				await using server = await world.start({ dataDir });
				const next = trace[point];
				await world.check(server, next === undefined ? now() : next.at);
				assert.deepEqual(await server.stop(), { code: 0, signal: null }, server.output());
			}
			const { out } = await runProgram(dataDir, ['doctor']);
			assert.match(out, /^ok +database /m, out);
			await rm(dataDir, { recursive: true });
		}
	},
};
