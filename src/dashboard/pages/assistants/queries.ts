import type { QueryObserverOptions } from '@tanstack/query-core';
import { api, type Resource, resultOf, type Versioned, versionedResultOf } from '../../api/client.ts';

export type Assistant = Resource<'Assistant'>;

/** The most that a list shows at once. */
const LIST_LIMIT = 100;

/** All assistants of a state, newest first. */
export function assistantList(status: 'active' | 'archived'): QueryObserverOptions<Assistant[]> {
	return {
		queryKey: ['assistants', 'list', status],
		queryFn: async ({ signal }) => {
			const query = { status, limit: LIST_LIMIT };
			return (await resultOf(api.GET('/api/v1/assistants', { params: { query }, signal }))).data;
		},
	};
}

export function assistantById(id: string): QueryObserverOptions<Versioned<Assistant>> {
	return {
		queryKey: ['assistants', 'one', id],
		queryFn: ({ signal }) =>
			versionedResultOf(api.GET('/api/v1/assistants/{id}', { params: { path: { id } }, signal })),
	};
}

/** What an assistant can have: the first hundred knowledge bases and tools. */
export function attachable(): QueryObserverOptions<{
	knowledgeBases: Resource<'KnowledgeBase'>[];
	tools: Resource<'Tool'>[];
}> {
	return {
		queryKey: ['assistants', 'attachable'],
		queryFn: async ({ signal }) => {
			const options = { params: { query: { limit: LIST_LIMIT } }, signal };
			const [knowledgeBases, tools] = await Promise.all([
				resultOf(api.GET('/api/v1/knowledge-bases', options)),
				resultOf(api.GET('/api/v1/tools', options)),
			]);
			return { knowledgeBases: knowledgeBases.data, tools: tools.data };
		},
	};
}

export function modelList(): QueryObserverOptions<Resource<'Model'>[]> {
	return {
		queryKey: ['models'],
		queryFn: async ({ signal }) => (await resultOf(api.GET('/api/v1/models', { signal }))).data,
	};
}
