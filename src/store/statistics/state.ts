import type { Bucket } from './ledger.ts';

/** How far the figures follow the log. */
export interface StatisticsState {
	/** The commit sequence of the last event that was counted. */
	seq: number;
	/** No event after this time has expired (ms since the epoch). */
	complete_since: number;
	/** A rebuild counts the events up to here again, in buckets from `hours_from` and `days_from` on; earlier buckets still have them. */
	rebuilt_to: number;
	hours_from: number;
	days_from: number;
}

/** Whether a rebuild left this part of an event's figures as they were. */
export function isKeptByRebuild(state: StatisticsState, seq: number, { series, start }: Bucket): boolean {
	return seq <= state.rebuilt_to && start < (series === 'hour' ? state.hours_from : state.days_from);
}
