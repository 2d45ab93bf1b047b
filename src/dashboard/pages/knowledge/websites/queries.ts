import type { QueryObserverOptions } from '@tanstack/query-core';
import { PAGE_SIZE } from '../../../api/all-rows.ts';
import { api, type Resource, resultOf } from '../../../api/client.ts';
import { type PagedList, usePages } from '../../../api/pages.ts';

export type Source = Resource<'Source'>;
export type SourcePage = Resource<'SourcePage'>;

/** The websites that a knowledge base follows, newest first. */
export function useSources(baseId: string): PagedList<Source> {
	return usePages(['knowledge', 'sources', baseId], (cursor, signal) => {
		const params = { path: { id: baseId }, query: { limit: PAGE_SIZE, ...(cursor && { cursor }) } };
		return resultOf(api.GET('/api/v1/knowledge-bases/{id}/sources', { params, signal }));
	});
}

export function sourceById(baseId: string, id: string): QueryObserverOptions<Source> {
	return {
		queryKey: ['knowledge', 'source', baseId, id],
		queryFn: ({ signal }) => {
			const path = { id: baseId, source_id: id };
			return resultOf(api.GET('/api/v1/knowledge-bases/{id}/sources/{source_id}', { params: { path }, signal }));
		},
	};
}

/** The pages of a source, newest first. @param status only pages in this state */
export function useSourcePages(
	baseId: string,
	source_id: string,
	status: SourcePage['status'] | undefined,
): PagedList<SourcePage> {
	return usePages(['knowledge', 'source-pages', baseId, source_id, status ?? ''], (cursor, signal) => {
		const query = { limit: PAGE_SIZE, ...(status && { status }), ...(cursor && { cursor }) };
		const path = '/api/v1/knowledge-bases/{id}/sources/{source_id}/pages';
		return resultOf(api.GET(path, { params: { path: { id: baseId, source_id }, query }, signal }));
	});
}
