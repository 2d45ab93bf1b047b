import type { Spread } from '../load/spread.ts';

/**
 * The server that a figure belongs to: Parley; the least work on the same libraries; the same, but asking the model while the question
 * is being committed; or the conventional server.
 */
export type ServerName = 'parley' | 'ceiling' | 'early ceiling' | 'baseline';

/** A goal for a figure. */
export interface Goal {
	is: 'at least' | 'at most';
	bound: number;
	/** Whether the bench exits with 1 if it is missed. Only the specification's own targets are binding. */
	binding?: boolean;
}

/** One line of the table. */
export interface Figure {
	/** What was measured, in a few words. Figures of several servers in one run have the same name. */
	name: string;
	/** `ms`, `/s`, `KiB`, `MiB`, `%`, `×` (a ratio), or empty. */
	unit: string;
	/** Spread over the rounds. */
	value: Spread;
	who?: ServerName;
	goal?: Goal;
	/** Further facts, such as what limits the figure and the amount of data. */
	remark?: string;
}

/** The results of a part of the bench, as stored in its file. */
export interface PartResult {
	part: string;
	/** ISO 8601. */
	at: string;
	seconds: number;
	figures: Figure[];
}

/** The spread of a single measurement. */
export function once(value: number): Spread {
	return { median: value, lowest: value, highest: value };
}

/** Whether the median meets the goal; true without a goal, false for a figure that could not be measured. */
export function isMet({ value, goal }: Figure): boolean {
	if (goal === undefined) return true;
	// In a file NaN is null.
	if (!Number.isFinite(value.median)) return false;
	return goal.is === 'at least' ? value.median >= goal.bound : value.median <= goal.bound;
}
