import type { QueryObserverOptions } from '@tanstack/query-core';
import { api, type Resource, resultOf, type Versioned, versionedResultOf } from '../../api/client.ts';
import { invalidate, queryClient } from '../../api/queries.ts';

export type KnowledgeBase = Resource<'KnowledgeBase'>;
export type IndexingStatus = Resource<'IndexingStatus'>;
export type Document = Resource<'Document'>;
export type Assistant = Resource<'Assistant'>;

/** The most that a list shows at once. */
const LIST_LIMIT = 100;

/** The knowledge bases, newest first. */
export function knowledgeBaseList(): QueryObserverOptions<KnowledgeBase[]> {
	return {
		queryKey: ['knowledge', 'list'],
		queryFn: async ({ signal }) => {
			const query = { limit: LIST_LIMIT };
			return (await resultOf(api.GET('/api/v1/knowledge-bases', { params: { query }, signal }))).data;
		},
	};
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
export function assistantsWith(baseId: string): QueryObserverOptions<Assistant[]> {
	return { queryKey: ['assistants', 'with', baseId], queryFn: ({ signal }) => loadAssistantsWith(baseId, signal) };
}

export async function loadAssistantsWith(baseId: string, signal?: AbortSignal): Promise<Assistant[]> {
	const query = { status: 'active', limit: LIST_LIMIT } as const;
	const call = api.GET('/api/v1/assistants', { params: { query }, ...(signal ? { signal } : {}) });
	return (await resultOf(call)).data.filter(({ knowledge_base_ids }) => knowledge_base_ids.includes(baseId));
}

/** Shows another version of a knowledge base everywhere. */
export function keepBase(base: Versioned<KnowledgeBase>): void {
	queryClient.setQueryData(knowledgeBaseById(base.value.id).queryKey, base);
	void invalidate('knowledge', 'list');
	void invalidate('assistants', 'attachable');
}
