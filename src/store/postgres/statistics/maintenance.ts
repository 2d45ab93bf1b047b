import { firstStartFrom } from '../../statistics/ledger.ts';
import { HOURS_KEPT_MS } from '../../statistics/limits.ts';
import type { Sql } from '../sql.ts';
import { lockState } from './state.ts';

/**
 * Starts to count the log again from its beginning. Hours and days from which some events have expired keep their figures, and so do
 * the events of erased conversations.
 */
export async function rebuildStatistics(sql: Sql): Promise<void> {
	const { seq, rebuilt_to, complete_since } = await lockState(sql);
	// A rebuild that has not ended goes on.
	if (seq < rebuilt_to) return;
	const hours_from = firstStartFrom('hour', complete_since);
	const days_from = firstStartFrom('day', complete_since);
	await sql.run(
		"UPDATE figures SET logged = 0 WHERE start >= CASE series WHEN 'hour' THEN @hours_from::bigint ELSE @days_from::bigint END",
		{ hours_from, days_from },
	);
	await sql.run('DELETE FROM figures WHERE logged = 0 AND erased = 0');
	await sql.run(
		'UPDATE statistics_state SET seq = 0, rebuilt_to = @seq, hours_from = @hours_from, days_from = @days_from',
		{ seq, hours_from, days_from },
	);
}

/**
 * Notes that events from before a time have expired: hours and days before it can no longer be counted again. Call it before the events
 * are removed: a rebuild that starts meanwhile waits.
 */
export async function recordExpiry(sql: Sql, before: number): Promise<void> {
	await sql.run('UPDATE statistics_state SET complete_since = greatest(complete_since, @before)', { before });
}

/** Removes figures by hour that are too old, at most `limit` rows. */
export async function trimHours(sql: Sql, now: number, limit: number): Promise<void> {
	// Figures change only under this lock, so that the places of the rows stay.
	await lockState(sql);
	await sql.run(
		`DELETE FROM figures WHERE ctid = ANY (ARRAY(
			SELECT old.ctid FROM workspaces CROSS JOIN LATERAL (
				SELECT ctid FROM figures WHERE workspace_id = workspaces.id AND series = 'hour' AND start < @before LIMIT @limit
			) AS old LIMIT @limit
		))`,
		{ before: now - HOURS_KEPT_MS, limit },
	);
}
