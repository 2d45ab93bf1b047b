import type { LoopDelay } from '../load/loop-delay.ts';
import { type Spread, spreadOf } from '../load/spread.ts';
import { type Figure, once } from '../report/figure.ts';
import type { MeasuredRounds, Round } from './rounds.ts';

const MAX_SLOWDOWN = 2;
const MAX_STALL_MS = 50;

/** @param apart whether server and load had separate cores */
export function busyFigures(
	{ quiet, busy }: MeasuredRounds,
	{ apart, rate }: { apart: boolean; rate: number },
): Figure[] {
	const of = (rounds: readonly Round[], value: (round: Round) => number): Spread => spreadOf(rounds.map(value));
	const p50 = (rounds: readonly Round[]) => `p50 ${of(rounds, ({ config }) => config.p50).median.toFixed(2)} ms`;
	const indexed = of(busy, (round) => round.indexed as number).median;
	const delivered = of(busy, (round) => round.delivered).median;
	const figures: Figure[] = [
		{
			name: 'config while busy, p95',
			unit: 'ms',
			value: of(busy, ({ config }) => config.p95),
			remark: `${p50(busy)}; ${indexed} documents indexed and ${delivered} webhooks delivered in a round; ${serverCoresText(busy)}`,
		},
		{
			name: 'longest stall of the event loop while busy',
			unit: 'ms',
			// The longest of all rounds, because a single stall is too many.
			value: once(Math.max(...busy.map(({ loop }) => loop.max))),
			goal: { is: 'at most', bound: MAX_STALL_MS },
			remark: `p99 ${of(busy, ({ loop }) => loop.p99).median.toFixed(2)} ms${stallBreakdown(busy)}`,
		},
		{
			name: 'longest answer of config while busy',
			unit: 'ms',
			value: of(busy, ({ config }) => config.max),
			remark: "the machine's own scheduling included",
		},
	];
	if (quiet.length === 0) return figures;
	const ratios = busy.map(({ config }, at) => config.p95 / (quiet[at] as Round).config.p95);
	return [
		{
			name: 'config while quiet, p95',
			unit: 'ms',
			value: of(quiet, ({ config }) => config.p95),
			remark: `${p50(quiet)}; ${rate.toLocaleString('en')}/s; ${apart ? 'the server on one core, the generator on another' : 'all cores for all'}; ${serverCoresText(quiet)}${stallBreakdown(quiet)}`,
		},
		...figures,
		{
			name: 'config busy to quiet, p95',
			unit: '×',
			value: spreadOf(ratios),
			goal: { is: 'at most', bound: MAX_SLOWDOWN },
		},
	];
}

function serverCoresText(rounds: readonly Round[]): string {
	const cores = rounds.map((round) => round.cores).filter((one) => one !== null);
	return cores.length === 0 ? '' : `${spreadOf(cores).median.toFixed(2)} cores`;
}

/** The parts of the stalls caused by the server and by the machine. */
function stallBreakdown(rounds: readonly Round[]): string {
	const told = (value: (loop: LoopDelay) => number | null) =>
		rounds.map(({ loop }) => value(loop)).filter((one) => one !== null);
	const work = told((loop) => loop.work);
	const waited = told((loop) => loop.waited);
	if (work.length === 0 || waited.length === 0) return '';
	return `; longest work at one go ${spreadOf(work).median.toFixed(1)} ms; waited ${spreadOf(waited).median.toFixed(0)} ms of a round for a core`;
}
