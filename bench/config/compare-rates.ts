import type { Generator } from '../load/generator.ts';
import { type Spread, spreadOf } from '../load/spread.ts';
import type { Figure } from '../report/figure.ts';
import { measure, type Round } from './measure.ts';
import type { ConfigServer, ServerUnderTest } from './server-under-test.ts';

/** Durations of the measurement. */
export interface MeasurementPlan {
	rounds: number;
	/** Duration of a round. */
	seconds: number;
}

/** Goals for the rate of a core: percent of the bare library's, and multiple of the conventional server's. */
const MIN_PERCENT_OF_CEILING = 70;
const MIN_TIMES_BASELINE = 4;
/** A process that is busier than this is saturated. */
const BUSY_CORES = 0.9;

/**
 * Measures the highest rate of each server over a number of connections, in turns. On a machine with few cores the load generator may
 * be the limit. So the processor time of a request is compared, which does not depend on the limit.
 * @returns highest: Parley's rate, a second
 */
export async function compareRates(
	generator: Generator,
	contestants: Record<ConfigServer, ServerUnderTest>,
	connections: number,
	{ rounds, seconds }: MeasurementPlan,
): Promise<{ figures: Figure[]; highest: number }> {
	const load = { rate: null, connections, seconds };
	const all = Object.values(contestants);
	// The first round warms up the compiler.
	for (const each of all) await measure(generator, each, load);
	const roundsByServer: Record<ConfigServer, Round[]> = { parley: [], ceiling: [], baseline: [] };
	for (let round = 0; round < rounds; round++) {
		for (const each of all) roundsByServer[each.who].push(await measure(generator, each, load));
	}

	const spread = (who: ConfigServer, of: (round: Round) => number): Spread => spreadOf(roundsByServer[who].map(of));
	const figures = all.flatMap(({ who }): Figure[] => [
		{
			name: `highest rate, ${connections} connections`,
			unit: '/s',
			who,
			value: spread(who, ({ perSecond }) => perSecond),
			remark: busyText(roundsByServer[who]),
		},
		{
			name: 'processor time a request',
			unit: 'µs',
			who,
			value: spread(who, ({ microsecondsEach }) => microsecondsEach),
		},
	]);
	const timesOf = (other: ConfigServer) =>
		roundsByServer.parley.map(
			(parley, round) => (roundsByServer[other][round] as Round).microsecondsEach / parley.microsecondsEach,
		);
	figures.push(
		{
			name: "rate of a busy core, of the ceiling's",
			unit: '%',
			value: spreadOf(timesOf('ceiling').map((times) => times * 100)),
			goal: { is: 'at least', bound: MIN_PERCENT_OF_CEILING },
			remark: 'by processor time a request',
		},
		{
			name: "rate of a busy core, times the baseline's",
			unit: '×',
			value: spreadOf(timesOf('baseline')),
			goal: { is: 'at least', bound: MIN_TIMES_BASELINE },
			remark: 'by processor time a request',
		},
	);
	return { figures, highest: spread('parley', ({ perSecond }) => perSecond).median };
}

function busyText(rounds: readonly Round[]): string {
	const server = spreadOf(rounds.map(({ serverCores }) => serverCores)).median;
	const load = spreadOf(rounds.map(({ loadCores }) => loadCores)).median;
	const limit = server >= BUSY_CORES ? '' : load >= BUSY_CORES ? ': the load is the limit' : ': others take the cores';
	return `cores: server ${server.toFixed(2)}, load ${load.toFixed(2)}${limit}`;
}
