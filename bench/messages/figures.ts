import type { CoresUsed } from '../load/processor-time.ts';
import { percentileOf, type Spread, spreadOf } from '../load/spread.ts';
import type { StreamsResult } from '../load/streams.ts';
import type { Figure, Goal, ServerName } from '../report/figure.ts';
import { type MessageCase, possibleRate } from './cases.ts';
import type { CaseResult, Measured, Round } from './measure.ts';

const atMost = (bound: number | undefined): Goal | undefined =>
	bound === undefined ? undefined : { is: 'at most', bound };
const atLeast = (bound: number | undefined): Goal | undefined =>
	bound === undefined ? undefined : { is: 'at least', bound };

/** Figures of a case: times, rate and processor time of each server, and Parley against the others. */
export function caseFigures(each: MessageCase, result: CaseResult): Figure[] {
	return [...serverFigures(each, result), ...comparisons(each, result)];
}

/** The figures of every server. */
function serverFigures(each: MessageCase, { servers }: CaseResult): Figure[] {
	return servers.flatMap(({ server: { who }, rounds }): Figure[] => [
		{
			name: `${each.name}: first token p50`,
			unit: 'ms',
			who,
			value: spreadOf(rounds.map(timeOf('firstTokenMs', 0.5))),
			remark: pathLatencies(rounds),
		},
		{
			name: `${each.name}: first token p95`,
			unit: 'ms',
			who,
			value: spreadOf(rounds.map(timeOf('firstTokenMs', 0.95))),
		},
		{
			name: `${each.name}: whole reply p50`,
			unit: 'ms',
			who,
			value: spreadOf(rounds.map(timeOf('wholeReplyMs', 0.5))),
		},
		{ name: `${each.name}: messages`, unit: '/s', who, value: spreadOf(rounds.map(rateOf)), remark: coresText(rounds) },
		{
			name: `${each.name}: processor time a message, all threads`,
			unit: 'ms',
			who,
			value: spreadOf(rounds.map(processorMsOf)),
		},
	]);
}

/** Parley against the model alone, the pace of the model, and the other servers of the same rounds. */
function comparisons(each: MessageCase, { modelAlone, servers }: CaseResult): Figure[] {
	const { name, goals } = each;
	const parley = servers.find(({ server }) => server.who === 'parley') as Measured;
	const other = (who: ServerName) => servers.find(({ server }) => server.who === who)?.rounds;
	const figures: Figure[] = [];
	const add = (what: string, unit: string, value: Spread | null, goal?: Goal) => {
		if (value !== null)
			figures.push({ name: `${name}: ${what}`, unit, value, ...(goal === undefined ? {} : { goal }) });
	};
	const added = (times: 'firstTokenMs' | 'wholeReplyMs', share: number) =>
		spreadOf(
			parley.rounds.map(
				(round, index) =>
					timeOf(times, share)(round) - percentileOf((modelAlone[index] as StreamsResult)[times], share),
			),
		);
	const ratio = (of: (round: Round) => number, who: ServerName, factor = 1): Spread | null => {
		const others = other(who);
		return others
			? spreadOf(parley.rounds.map((round, index) => (factor * of(round)) / of(others[index] as Round)))
			: null;
	};
	add('first token added, p50', 'ms', added('firstTokenMs', 0.5), atMost(goals.addedFirstTokenP50));
	add('first token added, p95', 'ms', added('firstTokenMs', 0.95), atMost(goals.addedFirstTokenP95));
	add('whole reply added, p50', 'ms', added('wholeReplyMs', 0.5), atMost(goals.addedWholeReplyP50));
	const possible = possibleRate(each);
	const paced = possible === null ? null : spreadOf(parley.rounds.map((round) => (100 * rateOf(round)) / possible));
	add('rate, of the possible one', '%', paced, atLeast(goals.possibleRate));
	const early: ServerName = 'early ceiling';
	const times = "times the early ceiling's";
	add(`first token p50, ${times}`, '×', ratio(timeOf('firstTokenMs', 0.5), early), atMost(goals.firstTokenP50));
	add(`first token p95, ${times}`, '×', ratio(timeOf('firstTokenMs', 0.95), early), atMost(goals.firstTokenP95));
	add(`whole reply p50, ${times}`, '×', ratio(timeOf('wholeReplyMs', 0.5), early), atMost(goals.wholeReplyP50));
	add("rate, of the early ceiling's", '%', ratio(rateOf, early, 100), atLeast(goals.rate));
	add("processor time, times the ceiling's", '×', ratio(processorMsOf, 'ceiling'), atMost(goals.processorOfCeiling));
	add("processor time, times the baseline's", '×', ratio(processorMsOf, 'baseline'), atMost(goals.processorOfBaseline));
	return figures;
}

/** What the message ceiling itself must reach, so that it is one: multiples of the baseline's rate. */
export function ceilingFigures({ name }: MessageCase, { servers }: CaseResult, bound: number): Figure[] {
	const of = (who: ServerName) => servers.find(({ server }) => server.who === who)?.rounds ?? [];
	const baseline = of('baseline');
	const value = spreadOf(of('ceiling').map((round, index) => rateOf(round) / rateOf(baseline[index] as Round)));
	return [
		{ name: `${name}: the ceiling's rate, times the baseline's`, unit: '×', value, goal: { is: 'at least', bound } },
	];
}

function timeOf(times: 'firstTokenMs' | 'wholeReplyMs', share: number): (round: Round) => number {
	return ({ seen }) => percentileOf(seen[times], share);
}

/** Completed messages a second. */
export function rateOf({ seen }: Round): number {
	return seen.completed / seen.seconds;
}

/** Milliseconds of processor time a message, all threads of the server; NaN without /proc. */
export function processorMsOf({ seen, cores }: Round): number {
	return ((cores.each[0] ?? Number.NaN) * 1000 * seen.seconds) / seen.completed;
}

/** The parts of the time to the first token: from the client's request to the model's, and from the model's first token to the client. */
function pathLatencies(rounds: readonly Round[]): string {
	const pooled = (way: 'toModelMs' | 'fromModelMs') => {
		const values = rounds.flatMap(({ seen }) => seen[way]);
		return `${percentileOf(values, 0.5).toFixed(2)}/${percentileOf(values, 0.95).toFixed(2)}`;
	};
	return `p50/p95 to the model ${pooled('toModelMs')}, back ${pooled('fromModelMs')} ms`;
}

/** Busy cores on average, as the median of several rounds, as text. */
function coresText(rounds: readonly Round[]): string {
	const middle = (of: (cores: CoresUsed) => number | null | undefined) => {
		const known = rounds.map(({ cores }) => of(cores)).filter((value): value is number => value != null);
		return known.length === 0 ? '?' : spreadOf(known).median.toFixed(2);
	};
	const [server, model, load] = [0, 1, 2].map((index) => middle(({ each }) => each[index]));
	return `cores: server ${server}, model ${model}, load ${load}, others ${middle(({ others }) => others)}`;
}
