import type { StatisticsState } from '../../statistics/state.ts';
import type { Prepare } from '../statements.ts';

export function readState(prepare: Prepare): StatisticsState {
	return prepare(
		'SELECT seq, complete_since, rebuilt_to, hours_from, days_from FROM statistics_state',
	).get() as StatisticsState;
}
