import type { Generator } from '../load/generator.ts';
import { settledMemory } from '../load/memory.ts';
import { spreadOf } from '../load/spread.ts';
import { type Figure, once } from '../report/figure.ts';
import type { MeasurementPlan } from './compare-rates.ts';
import { measure, p95Of, type Round, TARGET_P95_MS } from './measure.ts';
import { type ParleyUnderTest, startParley } from './server-under-test.ts';

const SOME = 1000;
const MANY = 100_000;
/** Requests a second while each of many deployments is loaded for the first time, and while latencies are measured. */
const RATE = 5_000;
const LATENCY_SECONDS = 2;
/** Goal: percent of the processor time with one deployment. */
const MAX_PERCENT = 110;

/** Compares the highest rate with many deployments, all requested in turn, to the rate with one, in alternating rounds. */
export async function measureDeployments(
	generator: Generator,
	one: ParleyUnderTest,
	connections: number,
	{ rounds, seconds }: MeasurementPlan,
): Promise<Figure[]> {
	const load = { rate: null, seconds, connections };
	await using some = await startParley(SOME);
	await using many = await startParley(MANY);
	const before = await settledMemory(many.server);
	const first = await measure(generator, many, { ...load, rate: RATE, seconds: MANY / RATE });
	const after = await settledMemory(many.server);
	await measure(generator, some, load);
	const fixed = { rate: RATE, seconds: LATENCY_SECONDS, connections };
	const atRate = [await measure(generator, some, fixed), await measure(generator, many, fixed)];

	const contestants = [one, some, many];
	const seen: Round[][] = contestants.map(() => []);
	for (let round = 0; round < rounds; round++) {
		for (const [index, each] of contestants.entries()) seen[index]?.push(await measure(generator, each, load));
	}
	return [
		...processorTimes(contestants, seen),
		...latencies(atRate, connections),
		...costsOfMany({ first, atRate, seen, before: before.rss, after: after.rss }),
	];
}

function processorTimes(contestants: readonly ParleyUnderTest[], seen: readonly Round[][]): Figure[] {
	return contestants.map(({ paths }, index): Figure => {
		const of = seen[index] as Round[];
		return {
			name: `${deploymentsText(paths.length)}: processor time a request`,
			unit: 'µs',
			value: spreadOf(of.map(({ microsecondsEach }) => microsecondsEach)),
			remark: `${Math.round(spreadOf(of.map(({ perSecond }) => perSecond)).median).toLocaleString('en')}/s`,
		};
	});
}

/** Latencies at the fixed rate, with some and with many deployments. */
function latencies(atRate: readonly Round[], connections: number): Figure[] {
	return [SOME, MANY].map((deployments, index): Figure => {
		const { p50, p99, ...round } = atRate[index] as Round;
		return {
			name: `${deploymentsText(deployments)}: latency, p95`,
			unit: 'ms',
			value: once(p95Of(round)),
			remark: `p50 ${p50.toFixed(2)}, p99 ${p99.toFixed(2)} ms; ${RATE.toLocaleString('en')}/s over ${connections} connections`,
		};
	});
}

interface Measured {
	/** The first request of each of many deployments. */
	first: Round;
	atRate: readonly Round[];
	/** The rounds with one, some and many deployments. */
	seen: readonly Round[][];
	/** Resident memory in bytes before and after the first requests. */
	before: number;
	after: number;
}

function costsOfMany({ first, atRate, seen, before, after }: Measured): Figure[] {
	const [alone, , crowded] = seen as [Round[], Round[], Round[]];
	const share = alone.map((round, at) => ((crowded[at] as Round).microsecondsEach / round.microsecondsEach) * 100);
	return [
		{
			name: 'p95 with many deployments, the worst, against the specification',
			unit: 'ms',
			value: once(Math.max(...[first, ...atRate].map(p95Of))),
			goal: { is: 'at most', bound: TARGET_P95_MS, binding: true },
		},
		{
			name: `${deploymentsText(MANY)}: processor time, of that with one`,
			unit: '%',
			value: spreadOf(share),
			goal: { is: 'at most', bound: MAX_PERCENT },
		},
		{
			name: `${deploymentsText(MANY)}: each asked for the first time`,
			unit: 'µs',
			value: once(first.microsecondsEach),
			remark: `p95 ${first.p95.toFixed(2)} ms at ${RATE.toLocaleString('en')}/s`,
		},
		{
			name: `${deploymentsText(MANY)}: memory of one`,
			unit: 'KiB',
			value: once((after - before) / MANY / 1024),
			remark: `on top of ${Math.round(before / 1024 / 1024)} MiB`,
		},
	];
}

function deploymentsText(deployments: number): string {
	return deployments === 1 ? '1 deployment' : `${deployments.toLocaleString('en')} deployments`;
}
