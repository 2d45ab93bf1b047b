import type { ApiClient } from '../load/deploy.ts';
import type { LoadProcess } from '../load/load-process.ts';
import { durationOf, type ModelScript } from '../load/model-script.ts';
import { type CoresUsed, measureCores } from '../load/processor-time.ts';
import { percentileOf, type Spread, spreadOf } from '../load/spread.ts';
import type { HeldStreams, StreamsCommand, StreamsResult } from '../load/streams.ts';
import type { Figure, Goal, ServerName } from '../report/figure.ts';
import { deployScripted, messagesTo, questionsTo, type ScriptedModel, sustainStreams } from './processes.ts';

/** A case starts no further round after this time, so that the bench ends on a busy machine too. */
const MAX_CASE_MS = 15_000;

/** A number of concurrent streams of a model with this timing. */
export interface FirstTokenCase {
	streams: number;
	script: ModelScript;
	seconds: number;
	/** At most. */
	rounds: number;
	/** Bound of the 95th percentile. */
	goal?: Goal;
}

/** A measured server and its process. */
export interface ServerUnderTest extends ApiClient {
	readonly pid: number;
	readonly who: ServerName;
}

export interface BenchProcesses {
	model: ScriptedModel;
	load: LoadProcess<StreamsCommand, StreamsResult | HeldStreams>;
}

/** Results of one server in a case. */
interface ServerMeasurements {
	contestant: ServerUnderTest;
	deployment: string;
	seen: StreamsResult[];
	cores: CoresUsed[];
}

/** Measures the model and each server in turns, and reports what the servers add to the time to the first token. */
export async function measureFirstToken(
	{ model, load }: BenchProcesses,
	contestants: readonly ServerUnderTest[],
	{ streams, script, seconds, rounds, goal }: FirstTokenCase,
): Promise<Figure[]> {
	const amount = { streams, seconds, spreadMs: durationOf(script) };
	const measurements: ServerMeasurements[] = [];
	for (const contestant of contestants) {
		measurements.push({ contestant, deployment: await deployScripted(contestant, script), seen: [], cores: [] });
	}
	const modelAlone: StreamsResult[] = [];
	const startedAt = performance.now();
	for (let round = 0; round < rounds && (round === 0 || performance.now() - startedAt < MAX_CASE_MS); round++) {
		modelAlone.push(await sustainStreams(load, questionsTo(model, script, amount)));
		for (const { contestant, deployment, seen, cores } of measurements) {
			const used = measureCores([contestant.pid, model.pid, load.pid]);
			seen.push(await sustainStreams(load, messagesTo(contestant, deployment, amount)));
			cores.push(used());
		}
	}

	const name = `first token added, ${streams} ${streams === 1 ? 'stream' : 'streams'}, ${script.tokenIntervalMs} ms a token`;
	return measurements.flatMap(({ contestant: { who }, seen, cores }) => {
		const added = (share: number): Spread => {
			const modelPercentiles = modelAlone.map(({ firstTokenMs }) => percentileOf(firstTokenMs, share));
			return spreadOf(
				seen.map(({ firstTokenMs }, round) => percentileOf(firstTokenMs, share) - (modelPercentiles[round] as number)),
			);
		};
		const expectedTokensPerSecond = (streams * script.tokens * 1000) / durationOf(script);
		const pace = spreadOf(seen.map(({ tokens, seconds }) => tokens / seconds / expectedTokensPerSecond)).median;
		return [
			{ name: `${name}: p50`, unit: 'ms', who, value: added(0.5), remark: pathLatencies(seen) },
			{
				name: `${name}: p95`,
				unit: 'ms',
				who,
				value: added(0.95),
				...(goal === undefined || who !== 'parley' ? {} : { goal }),
				remark: `${Math.round(pace * 100)} % of its tokens in time; ${coresText(cores)}`,
			},
		];
	});
}

/** The parts of the added time: from the client's request to the model's, and from the model's first token to the client. */
function pathLatencies(seen: readonly StreamsResult[]): string {
	const pooled = (way: 'toModelMs' | 'fromModelMs') => {
		const values = seen.flatMap((round) => round[way]);
		return `${percentileOf(values, 0.5).toFixed(1)}/${percentileOf(values, 0.95).toFixed(1)}`;
	};
	return `p50/p95 to the model ${pooled('toModelMs')}, back ${pooled('fromModelMs')} ms`;
}

/** Busy cores on average, as the median of several rounds, as text. */
export function coresText(rounds: readonly CoresUsed[]): string {
	const middle = (values: (number | null | undefined)[]) => {
		const known = values.filter((value): value is number => value != null);
		return known.length === 0 ? '?' : spreadOf(known).median.toFixed(2);
	};
	const [server, model, load] = [0, 1, 2].map((index) => middle(rounds.map((used) => used.each[index])));
	const others = middle(rounds.map((used) => used.others));
	return `cores: server ${server}, model ${model}, load ${load}, others ${others}`;
}
