import type { QueryObserverOptions } from '@tanstack/query-core';
import { type AllRows, PAGE_SIZE } from '../../api/all-rows.ts';
import { api, type Resource, resultOf, type Versioned, versionedResultOf } from '../../api/client.ts';
import { type PagedList, usePages } from '../../api/pages.ts';
import { invalidate, queryClient } from '../../api/queries.ts';

export type KnowledgeBase = Resource<'KnowledgeBase'>;
export type IndexingStatus = Resource<'IndexingStatus'>;
export type Document = Resource<'Document'>;
export type Assistant = Resource<'Assistant'>;

/** The knowledge bases, newest first. */
export function useKnowledgeBases(): PagedList<KnowledgeBase> {
	return usePages(['knowledge', 'list'], (cursor, signal) => {
		const query = { limit: PAGE_SIZE, ...(cursor && { cursor }) };
		return resultOf(api.GET('/api/v1/knowledge-bases', { params: { query }, signal }));
	});
}

export function knowledgeBaseById(id: string): QueryObserverOptions<Versioned<KnowledgeBase>> {
	return {
		queryKey: ['knowledge', 'one', id],
		queryFn: ({ signal }) =>
			versionedResultOf(api.GET('/api/v1/knowledge-bases/{id}', { params: { path: { id } }, signal })),
	};
}

export function indexingStatus(id: string): QueryObserverOptions<IndexingStatus> {
	return {
		queryKey: ['knowledge', 'status', id],
		queryFn: ({ signal }) =>
			resultOf(api.GET('/api/v1/knowledge-bases/{id}/status', { params: { path: { id } }, signal })),
	};
}

export function documentById(baseId: string, id: string): QueryObserverOptions<Document> {
	return {
		queryKey: ['knowledge', 'document', baseId, id],
		queryFn: ({ signal }) => {
			const path = { id: baseId, doc_id: id };
			return resultOf(api.GET('/api/v1/knowledge-bases/{id}/documents/{doc_id}', { params: { path }, signal }));
		},
	};
}

/** The active assistants that answer from a knowledge base. */
export function assistantsWith(baseId: string, assistants: AllRows<Assistant>): AllRows<Assistant> {
	const isWith = ({ status, knowledge_base_ids }: Assistant) =>
		status === 'active' && knowledge_base_ids.includes(baseId);
	return { ...assistants, rows: assistants.rows.filter(isWith) };
}

/** Shows another version of a knowledge base everywhere. */
export function keepBase(base: Versioned<KnowledgeBase>): void {
	queryClient.setQueryData(knowledgeBaseById(base.value.id).queryKey, base);
	void invalidate('knowledge', 'list');
}
