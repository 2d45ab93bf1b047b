import type { StatisticsWrite } from '../../commit.ts';
import type { Prepare } from '../statements.ts';
import { rebuildStatistics, trimHours } from './maintenance.ts';
import { projectEvents } from './project.ts';
import { assignGroup } from './unanswered.ts';

export { recordExpiry } from './maintenance.ts';
export { countErasedConversation } from './project.ts';
export { STATISTICS_SCHEMA } from './schema.ts';
export { eraseQuestions } from './unanswered.ts';

/** Applies one write about statistics. */
export function applyStatisticsWrite(prepare: Prepare, write: StatisticsWrite): void {
	switch (write.op) {
		case 'statistics.project':
			projectEvents(prepare, write.limit);
			return;
		case 'statistics.rebuild':
			rebuildStatistics(prepare);
			return;
		case 'statistics.trim':
			trimHours(prepare, write.now, write.limit);
			return;
		case 'statistics.group':
			assignGroup(prepare, write.message_id, write.group_id, write.terms);
			return;
	}
}
