import type { ServerProcess } from '../../test/support/server-process.ts';
import type { LoadResult } from '../load/arrivals.ts';
import { call } from '../load/deploy.ts';
import type { Generator } from '../load/generator.ts';
import { type LoopDelay, loopDelay } from '../load/loop-delay.ts';
import { processorTime } from '../load/processor-time.ts';
import { atRate, type Receiver, register, setStatus } from '../webhooks/processes.ts';
import type { DocumentUploads } from './indexing.ts';

/** Results of a round. */
export interface Round {
	config: LoadResult;
	loop: LoopDelay;
	/** Indexed documents; null in a quiet round. */
	indexed: number | null;
	/** Delivered webhooks. */
	delivered: number;
	/** Busy cores of the server, all threads; null without /proc. */
	cores: number | null;
}

/** Rounds with the same index ran one after the other. */
export interface MeasuredRounds {
	quiet: Round[];
	busy: Round[];
}

interface BenchProcesses {
	server: ServerProcess;
	receiver: Receiver;
	generator: Generator;
	indexing: DocumentUploads;
}

interface RoundPlan {
	config: { path: string; origin: string; perSecond: number };
	conversations: readonly string[];
	/** Number of rounds. The hundred documents are divided among them. */
	rounds: number;
	includeQuiet: boolean;
}

type TimedPlan = RoundPlan & { seconds: number };

const CONNECTIONS = 64;
const ENDPOINTS = 4;
/** Each sends an event to every endpoint. */
const CHANGES_PER_SECOND = 25;
const MIN_SECONDS = 3;
const MAX_SECONDS = 6;

/** Measures the configuration's latency in alternating rounds: on an idle server, and while documents are indexed and webhooks delivered. */
export async function measureRounds(players: BenchProcesses, order: RoundPlan): Promise<MeasuredRounds> {
	const { server, receiver } = players;
	const urls = Array.from({ length: ENDPOINTS }, (_, at) => `${receiver.origin}/fast/${at}`);
	const paths = await register(server, urls, ['conversation.updated']);
	await setStatus(server, paths, 'disabled');
	// Warms up threads, the first basis and the first deliveries. The time also sets how long a round must be for its documents.
	const startedAt = performance.now();
	await busy(players, { ...order, seconds: MIN_SECONDS }, paths, 0);
	const warmUpSeconds = Math.round((performance.now() - startedAt) / 1000);
	const timedPlan = { ...order, seconds: Math.min(MAX_SECONDS, Math.max(MIN_SECONDS, warmUpSeconds)) };
	const rounds: MeasuredRounds = { quiet: [], busy: [] };
	for (let number = 0; number < order.rounds; number++) {
		if (order.includeQuiet) rounds.quiet.push(await quiet(players, timedPlan));
		rounds.busy.push(await busy(players, timedPlan, paths, number));
	}
	return rounds;
}

async function quiet(players: BenchProcesses, order: TimedPlan): Promise<Round> {
	return { ...(await measureConfig(players, order)), indexed: null, delivered: 0 };
}

async function busy(players: BenchProcesses, order: TimedPlan, paths: string[], number: number): Promise<Round> {
	const { server, receiver, indexing } = players;
	const { conversations, seconds, rounds } = order;
	await setStatus(server, paths, 'active');
	await receiver.reset();
	const run = indexing.begin(server, number, rounds);
	const changes = atRate(CHANGES_PER_SECOND, seconds, (serial) =>
		call(server, 'PATCH', `/api/v1/conversations/${conversations[serial % conversations.length]}`, {
			metadata: { at: `${Date.now()} ${serial}` },
		}),
	);
	const measured = await measureConfig(players, order);
	const indexed = await run.indexed();
	await changes;
	const { count } = await receiver.expect(Math.round(CHANGES_PER_SECOND * seconds) * ENDPOINTS);
	await run.end();
	await setStatus(server, paths, 'disabled');
	return { ...measured, indexed, delivered: count };
}

async function measureConfig(
	{ server, generator }: BenchProcesses,
	{ config, seconds }: TimedPlan,
): Promise<Omit<Round, 'indexed' | 'delivered'>> {
	await loopDelay(server);
	const before = processorTime(server.pid);
	const outcome = await generator.run({
		port: server.port,
		paths: [config.path],
		headers: [`Origin: ${config.origin}`, 'User-Agent: bench', 'Accept: application/json'],
		rate: config.perSecond,
		seconds,
		connections: CONNECTIONS,
	});
	const after = processorTime(server.pid);
	if (outcome.failed > 0) throw new Error(`${outcome.failed} requests failed.`);
	const cores = before === null || after === null ? null : (after - before) / seconds;
	return { config: withUnanswered(outcome, seconds), loop: await loopDelay(server), cores };
}

/** Requests without a response in time count as slower than all others, with at least the time that was waited. */
function withUnanswered(outcome: LoadResult, seconds: number): LoadResult {
	const { scheduled, unanswered } = outcome;
	const waited = seconds * 1000;
	const at = (share: number, seen: number) => (unanswered > (1 - share) * scheduled ? waited : seen);
	return {
		...outcome,
		p50: at(0.5, outcome.p50),
		p95: at(0.95, outcome.p95),
		p99: at(0.99, outcome.p99),
		max: at(1, outcome.max),
	};
}
