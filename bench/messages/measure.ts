import { durationOf } from '../load/model-script.ts';
import { type CoresUsed, measureCores } from '../load/processor-time.ts';
import type { StreamsResult } from '../load/streams.ts';
import type { MessageCase } from './cases.ts';
import {
	type BenchProcesses,
	deployScripted,
	messagesTo,
	questionsTo,
	type ServerUnderTest,
	sustainStreams,
} from './processes.ts';

/** A case starts no further round after this time, so that the bench ends on a busy machine, too. */
const MAX_CASE_MS = 120_000;
/** The first streams of an instant model start over this time. */
const MIN_SPREAD_MS = 250;

/** Results of one round with one server. */
export interface Round {
	seen: StreamsResult;
	/** Busy cores: of the server, the model, the load. */
	cores: CoresUsed;
}

/** Results of a server in a case. */
export interface Measured {
	server: ServerUnderTest;
	rounds: Round[];
}

/** Results of a case. */
export interface CaseResult {
	/** Of the model without a server, for each round. */
	modelAlone: StreamsResult[];
	servers: Measured[];
}

/** Measures the model alone and each server, in turns. Each round begins with another server: the disk still writes what the one before has left. */
export async function measureCase(
	{ model, load }: BenchProcesses,
	servers: readonly ServerUnderTest[],
	{ script, streams, arrivalsPerSecond, seconds, rounds }: MessageCase,
): Promise<CaseResult> {
	const amount = { streams, seconds, arrivalsPerSecond, spreadMs: Math.max(MIN_SPREAD_MS, durationOf(script)) };
	const result: CaseResult = { modelAlone: [], servers: servers.map((server) => ({ server, rounds: [] })) };
	const deployments = await Promise.all(servers.map((server) => deployScripted(server, script)));
	const startedAt = performance.now();
	for (let round = 0; round < rounds && (round === 0 || performance.now() - startedAt < MAX_CASE_MS); round++) {
		result.modelAlone.push(await sustainStreams(load, questionsTo(model, script, amount)));
		for (const index of rotated(servers.length, round)) {
			const { server, rounds: measured } = result.servers[index] as Measured;
			const used = measureCores([server.pid, model.pid, load.pid]);
			const seen = await sustainStreams(load, messagesTo(server, deployments[index] as string, amount));
			measured.push({ seen, cores: used() });
		}
	}
	return result;
}

/** The first numbers, beginning with another one in each round. */
function rotated(count: number, round: number): number[] {
	return Array.from({ length: count }, (_, at) => (at + round) % count);
}
