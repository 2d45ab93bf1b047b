import type { QueryObserverOptions } from '@tanstack/query-core';
import { PAGE_SIZE } from '../../api/all-rows.ts';
import { api, type Resource, resultOf, type Versioned, versionedResultOf } from '../../api/client.ts';
import { type PagedList, usePages } from '../../api/pages.ts';
import { invalidate, queryClient } from '../../api/queries.ts';

export type Tool = Resource<'Tool'>;
export type ToolType = Tool['type'];
export type ToolFunction = Resource<'ToolFunctionDescription'>;

/** The tools of the workspace, newest first. */
export function useTools(): PagedList<Tool> {
	return usePages(['tools', 'list'], (cursor, signal) => {
		const query = { limit: PAGE_SIZE, ...(cursor && { cursor }) };
		return resultOf(api.GET('/api/v1/tools', { params: { query }, signal }));
	});
}

export function toolById(id: string): QueryObserverOptions<Versioned<Tool>> {
	return {
		queryKey: ['tools', 'one', id],
		queryFn: ({ signal }) => versionedResultOf(api.GET('/api/v1/tools/{id}', { params: { path: { id } }, signal })),
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
}
