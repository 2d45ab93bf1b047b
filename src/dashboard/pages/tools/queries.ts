import type { QueryObserverOptions } from '@tanstack/query-core';
import { api, type Resource, resultOf, type Versioned, versionedResultOf } from '../../api/client.ts';
import { invalidate, queryClient } from '../../api/queries.ts';

export type Tool = Resource<'Tool'>;
export type ToolType = Tool['type'];
export type ToolFunction = Resource<'ToolFunctionDescription'>;

/** The most that a list shows at once. */
const LIST_LIMIT = 100;

export function toolList(): QueryObserverOptions<Tool[]> {
	return {
		queryKey: ['tools', 'list'],
		queryFn: async ({ signal }) => {
			const query = { limit: LIST_LIMIT };
			return (await resultOf(api.GET('/api/v1/tools', { params: { query }, signal }))).data;
		},
	};
}

export function toolById(id: string): QueryObserverOptions<Versioned<Tool>> {
	return {
		queryKey: ['tools', 'one', id],
		queryFn: ({ signal }) => versionedResultOf(api.GET('/api/v1/tools/{id}', { params: { path: { id } }, signal })),
	};
}

/** The assistants of the workspace with their tools, archived ones included. */
export function assistantsWithTools(): QueryObserverOptions<Resource<'Assistant'>[]> {
	return {
		queryKey: ['assistants', 'list', 'with tools'],
		queryFn: async ({ signal }) => {
			const query = { limit: LIST_LIMIT };
			return (await resultOf(api.GET('/api/v1/assistants', { params: { query }, signal }))).data;
		},
	};
}

/** What a tool offers now. An MCP server is asked once: the person decides about another time. */
export function toolFunctions(id: string): QueryObserverOptions<ToolFunction[]> {
	return {
		queryKey: ['tools', 'functions', id],
		retry: false,
		queryFn: async ({ signal }) => {
			const call = api.GET('/api/v1/tools/{id}/functions', { params: { path: { id } }, signal });
			return (await resultOf(call)).data;
		},
	};
}

/** Shows another version of a tool everywhere. */
export function keepTool(tool: Versioned<Tool>): void {
	queryClient.setQueryData(toolById(tool.value.id).queryKey, tool);
	void invalidate('tools', 'list');
	void invalidate('tools', 'functions', tool.value.id);
	void invalidate('assistants', 'attachable');
}
