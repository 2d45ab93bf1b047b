import type { ModelScript } from '../load/model-script.ts';
import { type CoresUsed, watchCores } from '../load/processor-time.ts';
import { percentileOf, spreadOf } from '../load/spread.ts';
import type { StreamsSeen } from '../load/streams.ts';
import type { Figure } from '../report/figure.ts';
import { type Contestant, coresText, type Stage } from './first-token.ts';
import { deploySpeaking, keepUp, messagesTo } from './stage.ts';

/** A model that says all it has at once. */
const INSTANT: ModelScript = { firstMs: 0, everyMs: 0, tokens: 20 };
const TIMES_THE_BASELINE = 2.5;

/**
 * Messages a second with an instant model, each durable before it is answered, over so many connections; each server in its
 * turn, and the first as a multiple of the last.
 */
export async function measureThroughput(
	{ model, load }: Stage,
	contestants: readonly Contestant[],
	{ connections, seconds, rounds }: { connections: number; seconds: number; rounds: number },
): Promise<Figure[]> {
	const courses = [];
	for (const contestant of contestants) {
		const deployment = await deploySpeaking(contestant, INSTANT);
		courses.push({ contestant, deployment, seen: [] as StreamsSeen[], cores: [] as CoresUsed[] });
	}
	for (let round = 0; round < rounds; round++) {
		for (const { contestant, deployment, seen, cores } of courses) {
			const used = watchCores([contestant.pid, model.pid, load.pid]);
			seen.push(
				await keepUp(load, messagesTo(contestant, deployment, { streams: connections, seconds, spreadMs: 250 })),
			);
			cores.push(used());
		}
	}

	const rate = ({ completed, seconds: measured }: StreamsSeen) => completed / measured;
	const figures = courses.flatMap(({ contestant: { who }, seen, cores }): Figure[] => {
		const first = seen.flatMap((round) => round.first);
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
	const ours = courses[0];
	const theirs = courses.find(({ contestant }) => contestant.who === 'baseline');
	if (ours !== undefined && theirs !== undefined) {
		figures.push({
			name: "messages a second, times the baseline's",
			unit: '×',
			value: spreadOf(ours.seen.map((round, index) => rate(round) / rate(theirs.seen[index] as StreamsSeen))),
			goal: { is: 'at least', bound: TIMES_THE_BASELINE },
		});
	}
	return figures;
}
