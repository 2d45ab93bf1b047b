import type { ModelScript } from '../load/model-script.ts';
import { type CoresUsed, measureCores } from '../load/processor-time.ts';
import { percentileOf, spreadOf } from '../load/spread.ts';
import type { StreamsResult } from '../load/streams.ts';
import type { Figure } from '../report/figure.ts';
import { type BenchProcesses, coresText, type ServerUnderTest } from './first-token.ts';
import { deployScripted, messagesTo, sustainStreams } from './processes.ts';

/** A model that sends its whole answer at once. */
const INSTANT_SCRIPT: ModelScript = { firstTokenMs: 0, tokenIntervalMs: 0, tokens: 20 };
const MIN_TIMES_BASELINE = 2.5;

/**
 * Measures messages a second with an instant model, each durable before it is answered, over a number of connections. The servers take
 * turns. The first is also reported as a multiple of the last.
 */
export async function measureThroughput(
	{ model, load }: BenchProcesses,
	contestants: readonly ServerUnderTest[],
	{ connections, seconds, rounds }: { connections: number; seconds: number; rounds: number },
): Promise<Figure[]> {
	const measurements = [];
	for (const contestant of contestants) {
		const deployment = await deployScripted(contestant, INSTANT_SCRIPT);
		measurements.push({ contestant, deployment, seen: [] as StreamsResult[], cores: [] as CoresUsed[] });
	}
	for (let round = 0; round < rounds; round++) {
		for (const { contestant, deployment, seen, cores } of measurements) {
			const used = measureCores([contestant.pid, model.pid, load.pid]);
			seen.push(
				await sustainStreams(
					load,
					messagesTo(contestant, deployment, { streams: connections, seconds, spreadMs: 250 }),
				),
			);
			cores.push(used());
		}
	}

	const rate = ({ completed, seconds: measured }: StreamsResult) => completed / measured;
	const figures = measurements.flatMap(({ contestant: { who }, seen, cores }): Figure[] => {
		const first = seen.flatMap((round) => round.firstTokenMs);
		const firstText = `first token p50 ${percentileOf(first, 0.5).toFixed(1)}, p95 ${percentileOf(first, 0.95).toFixed(1)} ms`;
		const each = seen.map((round, index) => ((cores[index]?.each[0] ?? Number.NaN) / rate(round)) * 1000);
		return [
			{
				name: `messages, instant model, ${connections} connections`,
				unit: '/s',
				who,
				value: spreadOf(seen.map(rate)),
				remark: `${firstText}; ${coresText(cores)}`,
			},
			{ name: 'processor time a message, all threads', unit: 'ms', who, value: spreadOf(each) },
		];
	});
	const parley = measurements[0];
	const other = measurements.find(({ contestant }) => contestant.who === 'baseline');
	if (parley !== undefined && other !== undefined) {
		figures.push({
			name: "messages a second, times the baseline's",
			unit: '×',
			value: spreadOf(parley.seen.map((round, index) => rate(round) / rate(other.seen[index] as StreamsResult))),
			goal: { is: 'at least', bound: MIN_TIMES_BASELINE },
		});
	}
	return figures;
}
