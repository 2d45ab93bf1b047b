import type { ModelScript } from '../load/model-script.ts';
import { type CoresUsed, watchCores } from '../load/processor-time.ts';
import { percentileOf, type Spread, spreadOf } from '../load/spread.ts';
import type { StreamsSeen } from '../load/streams.ts';
import { coresOf, type FirstTokenFigures, type Players } from './first-token.ts';
import { deploy, keepUp, messagesTo } from './stage.ts';

/** A model that says all it has at once. */
const INSTANT: ModelScript = { firstMs: 0, everyMs: 0, tokens: 20 };

/** What a server does with messages that come as fast as it answers them. */
export interface ThroughputFigures {
	connections: number;
	messagesPerSecond: Spread;
	/** Milliseconds from the request to the reply's first token. */
	first: { p50: number; p95: number };
	/** Milliseconds of the server's processor time, all threads. */
	processorMsPerMessage: number | null;
	cores: FirstTokenFigures['cores'];
}

/** Messages a second with an instant model, each durable before it is answered, over so many connections. */
export async function measureThroughput(
	{ server, model, load }: Players,
	{ connections, seconds, rounds }: { connections: number; seconds: number; rounds: number },
): Promise<ThroughputFigures> {
	const deployment = await deploy(server, INSTANT);
	const seen: StreamsSeen[] = [];
	const used: CoresUsed[] = [];
	for (let round = 0; round < rounds; round++) {
		const tell = watchCores([server.pid, model.pid, load.pid]);
		seen.push(await keepUp(load, messagesTo(server, deployment, { streams: connections, seconds, spreadMs: 250 })));
		used.push(tell());
	}
	const first = seen.flatMap((round) => round.first);
	const messagesPerSecond = spreadOf(seen.map((round) => round.completed / round.seconds));
	const cores = coresOf(used);
	return {
		connections,
		messagesPerSecond,
		first: { p50: percentileOf(first, 0.5), p95: percentileOf(first, 0.95) },
		processorMsPerMessage: cores.server === null ? null : (cores.server / messagesPerSecond.median) * 1000,
		cores,
	};
}
