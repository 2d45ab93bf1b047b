import type { ServerProcess } from '../../test/support/server-process.ts';
import { call } from '../load/deploy.ts';
import { percentileOf, type Spread, spreadOf } from '../load/spread.ts';
import { atRate, type Receiver, register, setStatus } from './processes.ts';

/** Effect of endpoints with all events on the latency of messages. Milliseconds, unless the name says otherwise. */
export interface OverheadFigures {
	endpoints: number;
	messagesPerSecond: number;
	deliveriesPerMessage: number;
	/** From the moment at which a message was due to its complete response. */
	without: { p50: Spread; p95: Spread };
	with: { p50: Spread; p95: Spread };
	/** Ratio of with to without in one round. */
	ratio: { p50: Spread; p95: Spread };
}

/** Events of a message: a new conversation, a question and its answer. */
const EVENTS_PER_MESSAGE = 3;

/** Sends messages at a fixed rate, in alternating rounds without endpoints and with endpoints that get every event. */
export async function measureOverhead(
	{ server, receiver }: { server: ServerProcess; receiver: Receiver },
	{
		deployment,
		endpoints,
		perSecond,
		seconds,
		rounds,
	}: { deployment: string; endpoints: number; perSecond: number; seconds: number; rounds: number },
): Promise<OverheadFigures> {
	const urls = Array.from({ length: endpoints }, (_, at) => `${receiver.origin}/fast/${at}`);
	const paths = await register(server, urls, ['*']);
	const body = { deployment_id: deployment, content: 'Where is my order?' };
	const send = () => atRate(perSecond, seconds, () => call(server, 'POST', '/api/v1/messages', body));
	await receiver.reset();
	await send();
	await receiver.expect(perSecond * seconds * EVENTS_PER_MESSAGE * endpoints);
	const latencies = { without: [] as number[][], with: [] as number[][] };
	for (let round = 0; round < rounds; round++) {
		await setStatus(server, paths, 'disabled');
		latencies.without.push(await send());
		await setStatus(server, paths, 'active');
		await receiver.reset();
		latencies.with.push(await send());
		await receiver.expect(perSecond * seconds * EVENTS_PER_MESSAGE * endpoints);
	}
	await setStatus(server, paths, 'disabled');
	const at = (kind: 'with' | 'without', share: number) => latencies[kind].map((round) => percentileOf(round, share));
	const both = (kind: 'with' | 'without') => ({ p50: spreadOf(at(kind, 0.5)), p95: spreadOf(at(kind, 0.95)) });
	const ratio = (share: number) => {
		const without = at('without', share);
		return spreadOf(at('with', share).map((value, round) => value / (without[round] as number)));
	};
	return {
		endpoints,
		messagesPerSecond: perSecond,
		deliveriesPerMessage: EVENTS_PER_MESSAGE * endpoints,
		without: both('without'),
		with: both('with'),
		ratio: { p50: ratio(0.5), p95: ratio(0.95) },
	};
}
