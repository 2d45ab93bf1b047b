import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { findProgram } from '../../support/programs.ts';
import { until } from '../../support/until.ts';
import type { World } from '../world.ts';
import { finish } from './kill.ts';
import { readyOrEnded } from './readiness.ts';
import type { Round } from './round.ts';

const MAX_SHORTAGE_MS = 1_500;
const MIB = 1024 * 1024;

/** A running server has no further descriptors, or no further memory, for a time. Without memory it may end; then it is started again. */
export const shortage: Round = {
	name: 'shortage',
	summary: 'no further file descriptors, or no further memory, under load',
	repeats: { short: 2, long: 6 },
	rounds: 3,
	skip: () =>
		process.platform === 'linux' && findProgram('prlimit') !== null ? false : 'skipped: there is no prlimit here',
	async run(world, repeats) {
		for (let at = 0; at < repeats; at++) {
			await using server = await world.start();
			if (at > 0) await world.check(server);
			const load = world.load(server);
			const before = world.ledger.acknowledged;
			await until('a change is acknowledged', () => world.ledger.acknowledged > before);
			const resource = at % 2 === 0 ? 'nofile' : 'as';
			const isSet = limit(server.pid, resource, usedOf(server.pid, resource, world));
			world.count(resource === 'nofile' ? 'shortages of descriptors' : 'shortages of memory');
			await sleep(world.random.between(MAX_SHORTAGE_MS / 3, MAX_SHORTAGE_MS));
			const isAlive = limit(server.pid, resource, 'unlimited') && isSet;
			if (resource === 'nofile') assert.ok(isAlive, server.output());
			if (isAlive) {
				// Without memory it may end later of what it could not allocate.
				const isReady = await readyOrEnded(server);
				assert.ok(isReady || resource === 'as', server.output());
			} else world.count('servers that ended without memory');
			await server.kill();
			await load.stop();
		}
		await finish(world);
	},
};

/** A soft limit that leaves little above what is in use. */
function usedOf(pid: number, resource: 'nofile' | 'as', { random }: World): number {
	if (resource === 'nofile') return readdirSync(`/proc/${pid}/fd`).length + random.between(0, 6);
	const [pages = 0] = readFileSync(`/proc/${pid}/statm`, 'utf8').split(' ').map(Number);
	return pages * 4096 + random.between(1, 64) * MIB;
}

/** @returns false where the process has ended */
function limit(pid: number, resource: 'nofile' | 'as', soft: number | 'unlimited'): boolean {
	const value = soft === 'unlimited' ? hardLimit(pid, resource) : String(soft);
	return spawnSync('prlimit', ['--pid', String(pid), `--${resource}=${value}:`]).status === 0;
}

function hardLimit(pid: number, resource: 'nofile' | 'as'): string {
	const args = ['--pid', String(pid), `--${resource}`, '--output=HARD', '--noheadings'];
	return spawnSync('prlimit', args).stdout.toString().trim();
}
