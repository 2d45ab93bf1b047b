import { firstStartFrom } from '../../statistics/ledger.ts';
import { HOURS_KEPT_MS } from '../../statistics/limits.ts';
import type { Prepare } from '../statements.ts';
import { readState } from './state.ts';

/**
 * Starts to count the log again from its beginning. Hours and days from which some events have expired keep their figures, and so do
 * the events of erased conversations.
 */
export function rebuildStatistics(prepare: Prepare): void {
	const { seq, rebuilt_to, complete_since } = readState(prepare);
	// A rebuild that has not ended goes on.
	if (seq < rebuilt_to) return;
	const hoursFrom = firstStartFrom('hour', complete_since);
	const daysFrom = firstStartFrom('day', complete_since);
	prepare("UPDATE figures SET logged = 0 WHERE start >= iif(series = 'hour', ?, ?)").run(hoursFrom, daysFrom);
	prepare('DELETE FROM figures WHERE logged = 0 AND erased = 0').run();
	prepare('UPDATE statistics_state SET seq = 0, rebuilt_to = ?, hours_from = ?, days_from = ?').run(
		seq,
		hoursFrom,
		daysFrom,
	);
}

/** Notes that events from before a time have expired: hours and days before it can no longer be counted again. */
export function recordExpiry(prepare: Prepare, before: number): void {
	prepare('UPDATE statistics_state SET complete_since = max(complete_since, ?)').run(before);
}

/** Removes figures by hour that are too old, at most `limit` rows. */
export function trimHours(prepare: Prepare, now: number, limit: number): void {
	const key = 'workspace_id, series, start, figure, key, deployment_id, assistant_id';
	prepare(
		`DELETE FROM figures WHERE (${key}) IN (
			SELECT ${key} FROM workspaces JOIN figures ON figures.workspace_id = workspaces.id
			WHERE series = 'hour' AND start < ? LIMIT ?
		)`,
	).run(now - HOURS_KEPT_MS, limit);
}
