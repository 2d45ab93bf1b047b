import type { QueryObserverOptions } from '@tanstack/query-core';
import { type AllRows, allRows } from './all-rows.ts';
import { api, type Resource, resultOf } from './client.ts';

/** The assistants of the workspace, archived ones included, newest first. */
export function allAssistants(): QueryObserverOptions<AllRows<Resource<'Assistant'>>> {
	return {
		queryKey: ['assistants', 'list', 'all'],
		queryFn: ({ signal }) => allRows((query) => resultOf(api.GET('/api/v1/assistants', { params: { query }, signal }))),
	};
}

export function allKnowledgeBases(): QueryObserverOptions<AllRows<Resource<'KnowledgeBase'>>> {
	return {
		queryKey: ['knowledge', 'list', 'all'],
		queryFn: ({ signal }) =>
			allRows((query) => resultOf(api.GET('/api/v1/knowledge-bases', { params: { query }, signal }))),
	};
}

export function allTools(): QueryObserverOptions<AllRows<Resource<'Tool'>>> {
	return {
		queryKey: ['tools', 'list', 'all'],
		queryFn: ({ signal }) => allRows((query) => resultOf(api.GET('/api/v1/tools', { params: { query }, signal }))),
	};
}

/** The deployments of the workspace, archived ones included, newest first. */
export function allDeployments(): QueryObserverOptions<AllRows<Resource<'Deployment'>>> {
	return {
		queryKey: ['deployments', 'list', 'all'],
		queryFn: ({ signal }) =>
			allRows((query) => resultOf(api.GET('/api/v1/deployments', { params: { query }, signal }))),
	};
}
