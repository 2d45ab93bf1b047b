import type { StatisticsWrite } from '../../commit.ts';
import type { Sql } from '../sql.ts';
import { rebuildStatistics, trimHours } from './maintenance.ts';
import { projectEvents } from './project.ts';
import { assignGroup } from './unanswered.ts';

export { recordExpiry } from './maintenance.ts';
export { countErasedConversation } from './project.ts';
export { eraseQuestions } from './unanswered.ts';

/** Applies one write about statistics. */
export function applyStatisticsWrite(sql: Sql, write: StatisticsWrite): Promise<void> {
	switch (write.op) {
		case 'statistics.project':
			return projectEvents(sql, write.limit);
		case 'statistics.rebuild':
			return rebuildStatistics(sql);
		case 'statistics.trim':
			return trimHours(sql, write.now, write.limit);
		case 'statistics.group':
			return assignGroup(sql, write.message_id, write.group_id, write.terms);
	}
}
