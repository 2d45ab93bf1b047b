import type { QueryObserverOptions } from '@tanstack/query-core';
import { PAGE_SIZE } from '../../api/all-rows.ts';
import { api, type Resource, resultOf, type Versioned, versionedResultOf } from '../../api/client.ts';
import { type PagedList, usePages } from '../../api/pages.ts';

export type Assistant = Resource<'Assistant'>;

/** The assistants of a state, newest first. */
export function useAssistants(status: Assistant['status']): PagedList<Assistant> {
	return usePages(['assistants', 'list', status], (cursor, signal) => {
		const query = { status, limit: PAGE_SIZE, ...(cursor && { cursor }) };
		return resultOf(api.GET('/api/v1/assistants', { params: { query }, signal }));
	});
}

export function assistantById(id: string): QueryObserverOptions<Versioned<Assistant>> {
	return {
		queryKey: ['assistants', 'one', id],
		queryFn: ({ signal }) =>
			versionedResultOf(api.GET('/api/v1/assistants/{id}', { params: { path: { id } }, signal })),
	};
}
