import type { Generator } from '../load/generator.ts';
import { spreadOf } from '../load/spread.ts';
import { type Figure, once } from '../report/figure.ts';
import type { MeasurementPlan } from './compare-rates.ts';
import { measure, p95Of, type Round, TARGET_P95_MS } from './measure.ts';
import type { ServerUnderTest } from './server-under-test.ts';

const CONNECTIONS = [100, 1000];
/** Target: milliseconds at the 95th percentile. */
const GOAL_P95_MS = 5;

/** Latencies at a fixed arrival rate. */
export async function measureLatencies(
	generator: Generator,
	contestant: ServerUnderTest,
	rate: number,
	{ rounds, seconds }: MeasurementPlan,
): Promise<Figure[]> {
	const seen = new Map<number, Round[]>(CONNECTIONS.map((connections) => [connections, []]));
	for (let round = 0; round < rounds; round++) {
		for (const [connections, of] of seen) of.push(await measure(generator, contestant, { rate, seconds, connections }));
	}
	const figures = [...seen].flatMap(([connections, of]): Figure[] => {
		const name = `latency at half the highest rate, ${connections.toLocaleString('en')} connections`;
		const unanswered = of.reduce((sum, round) => sum + round.unanswered, 0);
		return [
			{ name: `${name}: p50`, unit: 'ms', value: spreadOf(of.map(({ p50 }) => p50)) },
			{
				name: `${name}: p95`,
				unit: 'ms',
				value: spreadOf(of.map(p95Of)),
				goal: { is: 'at most', bound: GOAL_P95_MS },
				remark: `${rate.toLocaleString('en')}/s, ${unanswered === 0 ? 'all' : `all but ${unanswered}`} answered`,
			},
			{ name: `${name}: p99`, unit: 'ms', value: spreadOf(of.map(({ p99 }) => p99)) },
		];
	});
	figures.push({
		name: 'p95, the worst of all rounds, against the specification',
		unit: 'ms',
		value: once(Math.max(...[...seen.values()].flat().map(p95Of))),
		goal: { is: 'at most', bound: TARGET_P95_MS, binding: true },
	});
	return figures;
}
