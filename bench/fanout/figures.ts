import { loadavg } from 'node:os';
import { type Spread, spreadOf } from '../load/spread.ts';
import { type Figure, once } from '../report/figure.ts';
import type { MeasuredRounds, Round } from './rounds.ts';

/** @param followers number of open streams */
export function fanoutFigures({ quiet, busy }: MeasuredRounds, followers: number): Figure[] {
	const of = (rounds: readonly Round[], value: (round: Round) => number): Spread => spreadOf(rounds.map(value));
	const p50 = (rounds: readonly Round[]) => `p50 ${of(rounds, ({ config }) => config.p50).median.toFixed(2)} ms`;
	const messages = of(busy, (round) => round.messages).median;
	const megabytes = of(busy, ({ bytes }) => bytes / 1e6).median.toFixed(0);
	const behind = of(busy, ({ behindMs }) => behindMs).median.toFixed(0);
	const unanswered = busy.reduce((sum, { config }) => sum + config.unanswered, 0);
	return [
		{
			name: 'config while followers wait, p95',
			unit: 'ms',
			value: of(quiet, ({ config }) => config.p95),
			remark: `${p50(quiet)}; ${followers.toLocaleString('en')} followers of two conversations; load average ${loadavg()[0]?.toFixed(1)}`,
		},
		{
			name: 'config while followers get messages of 8 KB, p95',
			unit: 'ms',
			value: of(busy, ({ config }) => config.p95),
			remark: `${p50(busy)}; ${messages} messages and ${megabytes} MB in a round, the last of it ${behind} ms after its end; ${unanswered} requests unanswered`,
		},
		{
			name: 'config while followers get messages to while they wait, p95',
			unit: '×',
			value: spreadOf(busy.map(({ config }, at) => config.p95 / (quiet[at] as Round).config.p95)),
		},
		{
			name: 'longest stall of the event loop while followers get messages',
			unit: 'ms',
			value: once(Math.max(...busy.map(({ loop }) => loop.max))),
			remark: `p99 ${of(busy, ({ loop }) => loop.p99).median.toFixed(2)} ms`,
		},
	];
}
