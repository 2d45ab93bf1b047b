import { type Spread, spreadOf } from '../load/spread.ts';
import { processorMsOf, rateOf } from '../messages/figures.ts';
import type { CaseResult, Round } from '../messages/measure.ts';
import type { Figure } from '../report/figure.ts';

/** Percent of the processor time of a message that metrics or traces may cost. */
export const MOST_PERCENT = 3;

/** What metrics cost. The first server is not observed; `names` are those of all. */
export function observationFigures(
	caseName: string,
	names: readonly string[],
	{ servers }: CaseResult,
	countMicros: Spread,
): Figure[] {
	const [plain = [], ...others] = servers.map(({ rounds }) => rounds);
	const millis = spreadOf(plain.map(processorMsOf));
	const count = (micros: number) => micros / 10 / millis.median;
	return [
		{ name: `${caseName}: messages, not observed`, unit: '/s', value: spreadOf(plain.map(rateOf)) },
		{ name: `${caseName}: processor time a message, not observed`, unit: 'ms', value: millis },
		{
			name: `${caseName}: of it for counting it in the metrics`,
			unit: '%',
			value: {
				median: count(countMicros.median),
				lowest: count(countMicros.lowest),
				highest: count(countMicros.highest),
			},
			goal: { is: 'at most', bound: MOST_PERCENT },
			remark: `${countMicros.median.toFixed(1)} µs`,
		},
		...others.flatMap((rounds, index): Figure[] => {
			const added = (of: (round: Round) => number) =>
				spreadOf(rounds.map((round, at) => 100 * (of(round) / of(plain[at] as Round) - 1)));
			const name = names[index + 1] as string;
			return [
				{
					name: `${caseName}, ${name}: processor time added`,
					unit: '%',
					value: added(processorMsOf),
					goal: { is: 'at most', bound: MOST_PERCENT },
				},
				{ name: `${caseName}, ${name}: rate, compared`, unit: '%', value: added(rateOf) },
			];
		}),
	];
}
