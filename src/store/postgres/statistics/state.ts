import type { StatisticsState } from '../../statistics/state.ts';
import type { Sql } from '../sql.ts';

/**
 * Reads the state and locks it until the transaction ends. Every write of figures and of questions does this first, so that two nodes
 * never count the same events, and an erasure knows which of its events are counted.
 */
export async function lockState(sql: Sql): Promise<StatisticsState> {
	const state = await sql.get<StatisticsState>(
		'SELECT seq, complete_since, rebuilt_to, hours_from, days_from FROM statistics_state FOR UPDATE',
	);
	if (state === undefined) throw new Error('The database has no state of statistics.');
	return state;
}
