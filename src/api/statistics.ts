import type { Operations } from '../contract/index.ts';
import type { Statistics } from '../statistics/index.ts';
import type { Handler } from './call.ts';
import type { Cursors } from './cursors.ts';

type StatisticsOperation = 'getStatistics' | 'listUnanswered' | 'resolveUnanswered' | 'dismissUnanswered';

export interface StatisticsHandlersOptions {
	statistics: Statistics;
	cursors: Cursors;
}

/** Statistics: figures of a time range, and questions without an answer. */
export function statisticsHandlers({ statistics, cursors }: StatisticsHandlersOptions): {
	[K in StatisticsOperation]: Handler<Operations[K]>;
} {
	return {
		getStatistics: ({ caller, query }) => statistics.report(caller.workspaceId, query),

		async listUnanswered({ caller, query }) {
			const { status, assistant_id } = query;
			const list = `unanswered ${caller.workspaceId} ${JSON.stringify([status ?? 'open', assistant_id])}`;
			const page = cursors.read(list, query);
			const { groups, next } = await statistics.unanswered(caller.workspaceId, { status, assistant_id }, page);
			return { data: groups, next_cursor: next && cursors.cursorAt(list, page, next) };
		},

		resolveUnanswered({ caller, params, body, commit }) {
			const settlement = { status: 'resolved', documentId: body.document_id ?? null } as const;
			return commit(statistics.settle(caller.workspaceId, params.id, settlement), (group) => group);
		},

		dismissUnanswered({ caller, params, commit }) {
			const settlement = { status: 'dismissed', documentId: null } as const;
			return commit(statistics.settle(caller.workspaceId, params.id, settlement), (group) => group);
		},
	};
}
