import type { Spread } from '../load/spread.ts';

/** Whose figure it is: ours, the bare library's that answers prepared bytes, or the conventional server's beside it. */
export type ServerName = 'parley' | 'ceiling' | 'baseline';

/** What a figure should be. */
export interface Goal {
	is: 'at least' | 'at most';
	bound: number;
	/** Whether the bench ends with 1 where it is missed: the specification's own targets, and nothing else. */
	binding?: boolean;
}

/** One line of the table. */
export interface Figure {
	/** What was measured, in a few words; figures of the same name are of several servers in one run. */
	name: string;
	/** `ms`, `/s`, `KiB`, `MiB`, `%`, `×` (a ratio), or empty. */
	unit: string;
	/** Over the rounds. */
	value: Spread;
	who?: ServerName;
	goal?: Goal;
	/** What else one should know: what bounds it, on how much data. */
	remark?: string;
}

/** What a part of the bench has found, as it lies in its file. */
export interface PartResult {
	part: string;
	/** ISO 8601. */
	at: string;
	seconds: number;
	figures: Figure[];
}

/** Of a figure that was taken once. */
export function once(value: number): Spread {
	return { median: value, lowest: value, highest: value };
}

/** Whether the middle of the rounds is as good as it should be; true without a goal. What could not be measured is not. */
export function isMet({ value, goal }: Figure): boolean {
	if (goal === undefined) return true;
	// Of what has no number a file has null.
	if (!Number.isFinite(value.median)) return false;
	return goal.is === 'at least' ? value.median >= goal.bound : value.median <= goal.bound;
}
