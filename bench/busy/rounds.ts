import type { ServerProcess } from '../../test/support/server-process.ts';
import type { LoadResult } from '../load/arrivals.ts';
import { call } from '../load/deploy.ts';
import type { Generator } from '../load/generator.ts';
import { type LoopDelay, loopDelay } from '../load/loop-delay.ts';
import { processorTime } from '../load/processor-time.ts';
import { atRate, type Receiver, register, setStatus } from '../webhooks/processes.ts';
import type { DocumentUploads } from './indexing.ts';

/** What a round saw. */
export interface Round {
	config: LoadResult;
	loop: LoopDelay;
	/** Documents that were indexed in it; null in a quiet one. */
	indexed: number | null;
	/** Webhooks that were delivered in it. */
	delivered: number;
	/** Of the server, all threads; null where the system does not tell. */
	cores: number | null;
}

/** Rounds of the same number, one after the other. */
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
	/** The hundred documents are shared out among them. */
	rounds: number;
	includeQuiet: boolean;
}

type TimedPlan = RoundPlan & { seconds: number };

const CONNECTIONS = 64;
const ENDPOINTS = 4;
/** Each is an event that goes to every endpoint. */
const CHANGES_PER_SECOND = 25;
const MIN_SECONDS = 3;
const MAX_SECONDS = 6;

/** Takes the configuration's latency in turns while nothing else happens, and while documents are indexed and webhooks delivered. */
export async function measureRounds(players: BenchProcesses, order: RoundPlan): Promise<MeasuredRounds> {
	const { server, receiver } = players;
	const urls = Array.from({ length: ENDPOINTS }, (_, at) => `${receiver.origin}/fast/${at}`);
	const paths = await register(server, urls, ['conversation.updated']);
	await setStatus(server, paths, 'disabled');
	// What runs here for the first time is compiled: threads, the first basis, the first deliveries. It also tells how long
	// a round must be for its documents.
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

/** What was not answered in time took longer than everything else, at least as long as was waited. */
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
