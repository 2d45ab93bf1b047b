import type { Operations } from '../contract/index.ts';
import type { Statistics } from '../statistics/index.ts';
import type { Handler } from './call.ts';

type StatisticsOperation = 'getStatistics' | 'listUnanswered' | 'resolveUnanswered' | 'dismissUnanswered';

export interface StatisticsHandlersOptions {
	statistics: Statistics;
}

/** Statistics: figures of a time range, and questions without an answer. */
export function statisticsHandlers({ statistics }: StatisticsHandlersOptions): {
	[K in StatisticsOperation]: Handler<Operations[K]>;
} {
	return {
		getStatistics: ({ caller, query }) => statistics.report(caller.workspaceId, query),

		async listUnanswered({ caller, query }) {
			return { data: await statistics.unanswered(caller.workspaceId, query) };
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
