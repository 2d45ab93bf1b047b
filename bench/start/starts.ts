import { execFile } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { createApiKey } from '../../src/access/index.ts';
import { sleep } from '../../src/base/index.ts';
import { type Program, startServer } from '../../test/support/server-process.ts';
import { processorTime } from '../load/processor-time.ts';
import { spreadOf } from '../load/spread.ts';
import type { Figure } from '../report/figure.ts';

/** A program and its name. If it has a cache, `PARLEY_CACHE_DIR` names the folder. */
export interface NamedProgram {
	name: string;
	program: Program;
}

const GOAL_WARM_MS = 500;
const GOAL_IDLE_MIB = 120;
const IDLE_AFTER_MS = 5_000;

/** Starts each of the programs several times, in turns. @param folder for their data, which the caller removes */
export async function measureStarts(
	programs: readonly NamedProgram[],
	{ folder, rounds, coldRounds }: { folder: string; rounds: number; coldRounds: number },
): Promise<Figure[]> {
	const key = createApiKey();
	const seen = await Promise.all(
		programs.map(async ({ name, program }) => ({
			name,
			begin: starterOf(program, await mkdtemp(join(folder, 'data-')), key),
			cache: program.env.PARLEY_CACHE_DIR,
			cold: [] as number[],
			warm: [] as number[],
			processor: [] as number[],
			idle: [] as number[],
		})),
	);
	for (const { begin, cache, cold } of seen) {
		// The first start creates the database and is not measured.
		await begin();
		for (let round = 0; cache !== undefined && round < coldRounds; round++) {
			await rm(cache, { recursive: true, force: true });
			cold.push((await begin()).readyMs);
		}
	}
	for (let round = 0; round < rounds; round++) {
		for (const { begin, warm, processor } of seen) {
			const { readyMs, processorMs } = await begin();
			warm.push(readyMs);
			if (processorMs !== null) processor.push(processorMs);
		}
	}
	// All at the same time: they only wait.
	await Promise.all(seen.map(async ({ begin, idle }) => idle.push((await begin(IDLE_AFTER_MS)).residentMiB)));
	return seen.flatMap(({ name, cold, warm, processor, idle }) => {
		const used = processor.length === 0 ? '' : `${spreadOf(processor).median.toFixed(0)} ms of processor time`;
		const figures: Figure[] = [
			{
				name: `warm start of ${name}`,
				unit: 'ms',
				value: spreadOf(warm),
				goal: { is: 'at most', bound: GOAL_WARM_MS },
				remark: used,
			},
			{
				name: `idle memory of ${name}`,
				unit: 'MiB',
				value: spreadOf(idle),
				goal: { is: 'at most', bound: GOAL_IDLE_MIB },
				remark: `${IDLE_AFTER_MS / 1000} s after its start, as the system counts it`,
			},
		];
		if (cold.length > 0) figures.push({ name: `cold start of ${name}`, unit: 'ms', value: spreadOf(cold) });
		return figures;
	});
}

/** Starts a program, waits while it is idle, and stops it. */
function starterOf(program: Program, dataDir: string, key: string) {
	return async (whileMs = 0) => {
		await using server = await startServer({ program, dataDir, key });
		const { readyMs, pid } = server;
		const processor = processorTime(pid);
		await sleep(whileMs);
		const residentMiB = await residentOf(pid);
		await server.stop();
		return { readyMs, processorMs: processor === null ? null : processor * 1000, residentMiB };
	};
}

/** Resident memory of a process (MiB). */
async function residentOf(pid: number): Promise<number> {
	const { stdout } = await promisify(execFile)('ps', ['-o', 'rss=', '-p', String(pid)]);
	return Number(stdout.trim()) / 1024;
}
