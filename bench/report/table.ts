import type { Spread } from '../load/spread.ts';
import { type Figure, type Goal, isMet, type PartResult } from './figure.ts';

const SERVER_LABELS = { parley: '', ceiling: 'ceiling', 'early ceiling': 'early ceiling', baseline: 'baseline' };

/** The figures of parts as text, one line each. */
export function table(parts: readonly PartResult[]): string {
	const rows = [['part', 'figure', 'of', 'median', 'lowest – highest', 'goal', '', 'remark']];
	for (const { part, figures } of parts) {
		for (const figure of figures) {
			rows.push([
				part,
				figure.name,
				SERVER_LABELS[figure.who ?? 'parley'],
				withUnit(figure.value.median, figure.unit),
				range(figure.value),
				goalText(figure),
				figure.goal === undefined ? '' : isMet(figure) ? 'met' : 'MISSED',
				figure.remark ?? '',
			]);
		}
	}
	const widths = rows[0]?.map((_, column) => Math.max(...rows.map((row) => row[column]?.length ?? 0))) ?? [];
	const aligned = (row: string[]) => row.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join('  ');
	return rows.map((row) => aligned(row).trimEnd()).join('\n');
}

/** A number with three significant digits. */
export function number(value: number): string {
	if (!Number.isFinite(value)) return '–';
	const size = Math.abs(value);
	const digits = size >= 100 || Number.isInteger(value) ? 0 : size >= 10 ? 1 : size >= 1 ? 2 : 3;
	return value.toLocaleString('en', { minimumFractionDigits: digits, maximumFractionDigits: digits });
}

export function withUnit(value: number, unit: string): string {
	if (unit === '' || !Number.isFinite(value)) return number(value);
	return unit === '/s' ? `${number(value)}/s` : `${number(value)} ${unit}`;
}

function range({ lowest, highest }: Spread): string {
	return lowest === highest ? '' : `${number(lowest)} – ${number(highest)}`;
}

function goalText({ goal, unit }: Figure): string {
	return goal === undefined ? '' : `${sign(goal)} ${withUnit(goal.bound, unit)}`;
}

function sign({ is }: Goal): string {
	return is === 'at least' ? '≥' : '≤';
}
