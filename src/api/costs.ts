import type { Operations } from '../contract/index.ts';
import type { Costs } from '../costs/index.ts';
import type { Handler } from './call.ts';
import type { Cursors } from './cursors.ts';

export interface CostHandlersOptions {
	costs: Costs;
	cursors: Cursors;
}

/** What replies have cost. */
export function costHandlers({ costs, cursors }: CostHandlersOptions): {
	listCosts: Handler<Operations['listCosts']>;
} {
	return {
		async listCosts({ caller, query }) {
			const { from, to, group_by = 'day', deployment_id } = query;
			const list = `costs ${caller.workspaceId} ${JSON.stringify([from, to, group_by, deployment_id])}`;
			const request = cursors.read(list, query);
			const { page, next } = await costs.list(caller.workspaceId, query, request);
			return { ...page, next_cursor: next && cursors.cursorAt(list, request, next) };
		},
	};
}
