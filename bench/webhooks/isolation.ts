import type { ServerProcess } from '../../test/support/server-process.ts';
import { call } from '../load/deploy.ts';
import { percentileOf, type Spread, spreadOf } from '../load/spread.ts';
import { atRate, type Receiver, register, setStatus } from './processes.ts';

/** Effect of an endpoint that never answers on the others. Milliseconds, unless the name says otherwise. */
export interface IsolationFigures {
	/** Endpoints that answer at once. */
	endpoints: number;
	eventsPerSecond: number;
	/** Measured deliveries in each round of each kind. */
	samples: number;
	/** From the event's time, before its commit, to its arrival at an endpoint that answers at once. */
	without: { p50: Spread; p99: Spread };
	with: { p50: Spread; p99: Spread };
	/** Ratio of with to without in one round. */
	ratio: { p50: Spread; p99: Spread };
}

/** A hanging attempt has timed out after this time. */
const HANGING_ATTEMPT_MS = 5_500;

/** Sends events at a fixed rate, in groups of four rounds: two with and two without an endpoint that never answers. */
export async function measureIsolation(
	{ server, receiver }: { server: ServerProcess; receiver: Receiver },
	{
		conversations,
		endpoints,
		perSecond,
		seconds,
		turns: repeats,
	}: { conversations: string[]; endpoints: number; perSecond: number; seconds: number; turns: number },
): Promise<IsolationFigures> {
	const urls = Array.from({ length: endpoints }, (_, at) => `${receiver.origin}/fast/${at}`);
	const paths = await register(server, urls, ['conversation.updated']);
	const [hanging = ''] = await register(server, [`${receiver.origin}/hang/0`], ['conversation.updated']);
	await setStatus(server, [hanging], 'disabled');
	let serial = 0;
	const round = async () => {
		await receiver.reset();
		await atRate(perSecond, seconds, () => {
			const path = `/api/v1/conversations/${conversations[serial % conversations.length]}`;
			return call(server, 'PATCH', path, { metadata: { serial: String(serial++) } });
		});
		return (await receiver.expect(perSecond * seconds * endpoints)).ages;
	};
	await round();
	const ages = { without: [] as number[][], with: [] as number[][] };
	// Without, with, with, without: half as many waits, and drift affects both kinds equally.
	for (let repeat = 0; repeat < repeats; repeat++) {
		ages.without.push(await round());
		await setStatus(server, [hanging], 'active');
		ages.with.push(await round(), await round());
		await setStatus(server, [hanging], 'disabled');
		await new Promise((resolve) => setTimeout(resolve, HANGING_ATTEMPT_MS));
		ages.without.push(await round());
	}
	await setStatus(server, paths, 'disabled');
	const at = (kind: 'with' | 'without', share: number) => ages[kind].map((all) => percentileOf(all, share));
	const both = (kind: 'with' | 'without') => ({ p50: spreadOf(at(kind, 0.5)), p99: spreadOf(at(kind, 0.99)) });
	const ratio = (share: number) => {
		const without = at('without', share);
		return spreadOf(at('with', share).map((value, index) => value / (without[index] as number)));
	};
	return {
		endpoints,
		eventsPerSecond: perSecond,
		samples: perSecond * seconds * endpoints,
		without: both('without'),
		with: both('with'),
		ratio: { p50: ratio(0.5), p99: ratio(0.99) },
	};
}
