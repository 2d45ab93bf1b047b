import type { QueryObserverOptions } from '@tanstack/query-core';
import { api, type Resource, resultOf } from '../../../api/client.ts';

export type Source = Resource<'Source'>;
export type SourcePage = Resource<'SourcePage'>;

/** The most that a list shows at once. */
const LIST_LIMIT = 100;

/** The websites that a knowledge base follows, newest first. */
export function sourceList(baseId: string): QueryObserverOptions<Source[]> {
	return {
		queryKey: ['knowledge', 'sources', baseId],
		queryFn: async ({ signal }) => {
			const params = { path: { id: baseId }, query: { limit: LIST_LIMIT } };
			return (await resultOf(api.GET('/api/v1/knowledge-bases/{id}/sources', { params, signal }))).data;
		},
	};
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

/** The first pages of a source, newest first, and whether there are more. */
export function sourcePages(
	baseId: string,
	id: string,
	status: SourcePage['status'] | undefined,
	count: number,
): QueryObserverOptions<{ pages: SourcePage[]; hasMore: boolean }> {
	return {
		queryKey: ['knowledge', 'source-pages', baseId, id, status ?? '', count],
		queryFn: async ({ signal }) => {
			const pages: SourcePage[] = [];
			let cursor: string | null | undefined;
			do {
				const query = {
					limit: LIST_LIMIT,
					...(status === undefined ? {} : { status }),
					...(cursor ? { cursor } : {}),
				};
				const params = { path: { id: baseId, source_id: id }, query };
				const path = '/api/v1/knowledge-bases/{id}/sources/{source_id}/pages';
				const page = await resultOf(api.GET(path, { params, signal }));
				pages.push(...page.data);
				cursor = page.next_cursor;
			} while (cursor !== null && pages.length < count);
			return { pages, hasMore: cursor !== null };
		},
	};
}
