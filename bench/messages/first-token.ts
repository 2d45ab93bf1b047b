import type { ServerProcess } from '../../test/support/server-process.ts';
import type { LoadProcess } from '../load/load-process.ts';
import { lengthOf, type ModelScript } from '../load/model-script.ts';
import { type CoresUsed, watchCores } from '../load/processor-time.ts';
import { percentileOf, type Spread, spreadOf } from '../load/spread.ts';
import type { Held, StreamsOrder, StreamsSeen } from '../load/streams.ts';
import { deploy, keepUp, messagesTo, questionsTo, type ScriptedModel } from './stage.ts';

/** After this time a case begins no further round, so that a busy machine does not make the bench endless. */
const CASE_MS = 15_000;

/** So many streams of a model that speaks like this, all the time. */
export interface FirstTokenCase {
	streams: number;
	script: ModelScript;
	seconds: number;
	/** At most. */
	rounds: number;
}

/** Milliseconds, unless the name says otherwise. */
export interface FirstTokenFigures {
	streams: number;
	script: ModelScript;
	rounds: number;
	/** Streams that were looked at. */
	samples: number;
	/** The model's own time to its first token, asked directly. */
	own: { p50: Spread; p95: Spread };
	/** What Parley adds to it: the difference of the percentiles in one round. */
	added: { p50: Spread; p95: Spread };
	/** Where it is added: from the client's request to the model's, and from the model's first token to the client. */
	wayIn: { p50: number; p95: number };
	wayOut: { p50: number; p95: number };
	messagesPerSecond: Spread;
	tokensPerSecond: Spread;
	/** Tokens relayed as a share of what so many streams of this model would say. */
	pace: number;
	cores: { server: number | null; model: number | null; load: number | null; others: number | null };
}

export interface Players {
	server: ServerProcess;
	model: ScriptedModel;
	load: LoadProcess<StreamsOrder, StreamsSeen | Held>;
}

/** Asks the model and Parley in turns, and tells what Parley adds to the time to the first token. */
export async function measureFirstToken(players: Players, of: FirstTokenCase): Promise<FirstTokenFigures> {
	const { server, model, load } = players;
	const { streams, script, seconds, rounds } = of;
	const amount = { streams, seconds, spreadMs: lengthOf(script) };
	const deployment = await deploy(server, script);
	const direct: StreamsSeen[] = [];
	const through: StreamsSeen[] = [];
	const cores: CoresUsed[] = [];
	const startedAt = performance.now();
	for (let round = 0; round < rounds && (round === 0 || performance.now() - startedAt < CASE_MS); round++) {
		direct.push(await keepUp(load, questionsTo(model, script, amount)));
		const used = watchCores([server.pid, model.pid, load.pid]);
		through.push(await keepUp(load, messagesTo(server, deployment, amount)));
		cores.push(used());
	}

	const own = (share: number) => direct.map(({ first }) => percentileOf(first, share));
	const added = (share: number) =>
		spreadOf(through.map(({ first }, round) => percentileOf(first, share) - (own(share)[round] as number)));
	const pooled = (way: 'wayIn' | 'wayOut') => {
		const values = through.flatMap((seen) => seen[way]);
		return { p50: percentileOf(values, 0.5), p95: percentileOf(values, 0.95) };
	};
	const perSecond = (what: 'tokens' | 'completed') => spreadOf(through.map((seen) => seen[what] / seen.seconds));
	const tokensPerSecond = perSecond('tokens');
	return {
		streams,
		script,
		rounds: through.length,
		samples: through.reduce((sum, { first }) => sum + first.length, 0),
		own: { p50: spreadOf(own(0.5)), p95: spreadOf(own(0.95)) },
		added: { p50: added(0.5), p95: added(0.95) },
		wayIn: pooled('wayIn'),
		wayOut: pooled('wayOut'),
		messagesPerSecond: perSecond('completed'),
		tokensPerSecond,
		pace: tokensPerSecond.median / ((streams * script.tokens * 1000) / lengthOf(script)),
		cores: coresOf(cores),
	};
}

/** The middle of several rounds, by who used them. */
export function coresOf(rounds: readonly CoresUsed[]): FirstTokenFigures['cores'] {
	const middle = (values: (number | null | undefined)[]) => {
		const known = values.filter((value): value is number => value != null);
		return known.length === 0 ? null : spreadOf(known).median;
	};
	const each = (index: number) => middle(rounds.map((used) => used.each[index]));
	return { server: each(0), model: each(1), load: each(2), others: middle(rounds.map(({ others }) => others)) };
}
