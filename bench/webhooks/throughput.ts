import type { ServerProcess } from '../../test/support/server-process.ts';
import { call } from '../load/deploy.ts';
import { measureCores } from '../load/processor-time.ts';
import { type Spread, spreadOf } from '../load/spread.ts';
import { type Receiver, register, setStatus } from './processes.ts';

/** Throughput of a backlog. */
export interface ThroughputFigures {
	endpoints: number;
	/** Deliveries a second in each round, all endpoints together. */
	deliveries: number;
	perSecond: Spread;
	/** Milliseconds of the server's processor time, all threads; null without /proc. */
	processorMsEach: Spread | null;
}

/** Replays events to endpoints that answer at once, and measures deliveries a second. */
export async function measureThroughput(
	{ server, receiver }: { server: ServerProcess; receiver: Receiver },
	{
		endpoints,
		events,
		conversations,
		rounds,
	}: { endpoints: number; events: number; conversations: string[]; rounds: number },
): Promise<ThroughputFigures> {
	const since = new Date().toISOString();
	for (let at = 0; at < events; at++) {
		const path = `/api/v1/conversations/${conversations[at % conversations.length]}`;
		await call(server, 'PATCH', path, { metadata: { at: String(at) } });
	}
	const until = new Date().toISOString();
	const urls = Array.from({ length: endpoints }, (_, at) => `${receiver.origin}/fast/${at}`);
	const paths = await register(server, urls, ['conversation.updated']);
	const perSecond: number[] = [];
	const each: number[] = [];
	const deliveries = events * endpoints;
	for (let round = 0; round < rounds; round++) {
		await receiver.reset();
		const tell = measureCores([server.pid]);
		const startedAt = performance.now();
		const replays = paths.map((path) => call(server, 'POST', `${path}/replay`, { since, until }));
		const arrived = await receiver.expect(deliveries);
		const seconds = (performance.now() - startedAt) / 1000;
		const used = tell();
		await Promise.all(replays);
		perSecond.push(deliveries / (arrived.ms / 1000));
		const server_ = used.each[0];
		if (server_ != null) each.push((server_ * seconds * 1000) / deliveries);
		await settled(server, paths);
	}
	await setStatus(server, paths, 'disabled');
	return {
		endpoints,
		deliveries,
		perSecond: spreadOf(perSecond),
		processorMsEach: each.length === 0 ? null : spreadOf(each),
	};
}

/** Waits until the outcome of every delivery is stored. */
async function settled(server: ServerProcess, paths: string[]): Promise<void> {
	for (const path of paths) {
		for (;;) {
			const { data } = await call(server, 'GET', `${path}/deliveries?status=pending&limit=1`);
			if (data.length === 0) break;
			await new Promise((resolve) => setTimeout(resolve, 20));
		}
	}
}
