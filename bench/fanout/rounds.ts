import type { ServerProcess } from '../../test/support/server-process.ts';
import { until } from '../../test/support/until.ts';
import type { LoadResult } from '../load/arrivals.ts';
import { call } from '../load/deploy.ts';
import type { Generator } from '../load/generator.ts';
import type { LoadProcess } from '../load/load-process.ts';
import { type LoopDelay, loopDelay } from '../load/loop-delay.ts';
import type { HeldStreams, StreamsCommand, StreamsResult } from '../load/streams.ts';
import { atRate } from '../webhooks/processes.ts';

/** Results of a round. */
export interface Round {
	config: LoadResult;
	loop: LoopDelay;
	/** Sent messages. */
	messages: number;
	/** Bytes that all followers received by the end of the round. */
	bytes: number;
	/** From the end of the round until every follower has received everything (ms). */
	behindMs: number;
}

/** Rounds with the same index ran one after the other. */
export interface MeasuredRounds {
	quiet: Round[];
	busy: Round[];
}

interface BenchProcesses {
	server: ServerProcess;
	generator: Generator;
	load: LoadProcess<StreamsCommand, StreamsResult | HeldStreams>;
}

interface RoundPlan {
	config: { path: string; origin: string; perSecond: number };
	conversations: readonly string[];
	messagesPerSecond: number;
	rounds: number;
}

const SECONDS = 4;
const CONNECTIONS = 64;
const MESSAGE = 'x'.repeat(8_000);
/** A message causes two events, `message.created` and `message.completed`, each with the whole message. */
const EVENTS_PER_MESSAGE = 2;
const COMMAND_TIMEOUT_MS = 10_000;

/** Measures the configuration's latency in alternating rounds: while followers wait, and while they get messages. */
export async function measureRounds(players: BenchProcesses, order: RoundPlan): Promise<MeasuredRounds> {
	// Warms up the compiler.
	await measureRound(players, order, order.messagesPerSecond);
	const rounds: MeasuredRounds = { quiet: [], busy: [] };
	for (let number = 0; number < order.rounds; number++) {
		rounds.quiet.push(await measureRound(players, order, 0));
		rounds.busy.push(await measureRound(players, order, order.messagesPerSecond));
	}
	return rounds;
}

async function measureRound(players: BenchProcesses, order: RoundPlan, messagesPerSecond: number): Promise<Round> {
	const { server, generator } = players;
	const { config, conversations } = order;
	await loopDelay(server);
	const before = await receivedBytes(players);
	const sending = atRate(messagesPerSecond, SECONDS, (serial) => {
		const id = conversations[serial % conversations.length];
		return call(server, 'POST', `/api/v1/conversations/${id}/messages`, { content: MESSAGE });
	});
	const outcome = await generator.run({
		port: server.port,
		paths: [config.path],
		headers: [`Origin: ${config.origin}`, 'User-Agent: bench', 'Accept: application/json'],
		rate: config.perSecond,
		seconds: SECONDS,
		connections: CONNECTIONS,
	});
	const loop = await loopDelay(server);
	if (outcome.failed > 0) throw new Error(`${outcome.failed} requests failed.`);
	const messages = (await sending).length;
	const endedAt = performance.now();
	const { open, bytes } = await receivedBytes(players);
	const expected = (open / conversations.length) * messages * EVENTS_PER_MESSAGE * MESSAGE.length;
	await until(
		'every follower has every message',
		async () => (await receivedBytes(players)).bytes - before.bytes >= expected,
	);
	return { config: outcome, loop, messages, bytes: bytes - before.bytes, behindMs: performance.now() - endedAt };
}

async function receivedBytes({ load }: BenchProcesses): Promise<HeldStreams> {
	return (await load.send({ count: true }, COMMAND_TIMEOUT_MS)) as HeldStreams;
}
