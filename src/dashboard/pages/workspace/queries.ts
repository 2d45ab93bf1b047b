import type { QueryObserverOptions } from '@tanstack/query-core';
import { api, type Resource, resultOf, type Versioned, versionedResultOf } from '../../api/client.ts';

export type Workspace = Resource<'Workspace'>;

export function workspace(): QueryObserverOptions<Versioned<Workspace>> {
	return {
		queryKey: ['workspace', 'one'],
		queryFn: ({ signal }) => versionedResultOf(api.GET('/api/v1/workspace', { signal })),
	};
}

export function usage(): QueryObserverOptions<Resource<'WorkspaceUsage'>> {
	return {
		queryKey: ['workspace', 'usage'],
		queryFn: ({ signal }) => resultOf(api.GET('/api/v1/workspace/usage', { signal })),
	};
}
