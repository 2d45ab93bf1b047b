import type { QueryObserverOptions } from '@tanstack/query-core';
import { api, type Resource, resultOf, type Versioned, versionedResultOf } from '../../api/client.ts';
import { invalidate, queryClient } from '../../api/queries.ts';

export type Deployment = Resource<'Deployment'>;

/** The most that a list shows at once. */
const LIST_LIMIT = 100;

/** All deployments of a state, newest first. */
export function deploymentList(status: Deployment['status']): QueryObserverOptions<Deployment[]> {
	return {
		queryKey: ['deployments', 'list', status],
		queryFn: async ({ signal }) => {
			const query = { status, limit: LIST_LIMIT };
			return (await resultOf(api.GET('/api/v1/deployments', { params: { query }, signal }))).data;
		},
	};
}

export function deploymentById(id: string): QueryObserverOptions<Versioned<Deployment>> {
	return {
		queryKey: ['deployments', 'one', id],
		queryFn: ({ signal }) =>
			versionedResultOf(api.GET('/api/v1/deployments/{id}', { params: { path: { id } }, signal })),
	};
}

/** The assistants that a deployment can have, by name. */
export function assistantChoices(): QueryObserverOptions<Resource<'Assistant'>[]> {
	return {
		queryKey: ['assistants', 'choices'],
		queryFn: async ({ signal }) => {
			const query = { status: 'active', limit: LIST_LIMIT } as const;
			const { data } = await resultOf(api.GET('/api/v1/assistants', { params: { query }, signal }));
			return data.toSorted((a, b) => a.name.localeCompare(b.name));
		},
	};
}

/** Shows another version of a deployment everywhere. */
export function showDeployment(deployment: Versioned<Deployment>): void {
	queryClient.setQueryData(deploymentById(deployment.value.id).queryKey, deployment);
	void invalidate('deployments', 'list');
}
