import type { QueryObserverOptions } from '@tanstack/query-core';
import { type AllRows, PAGE_SIZE } from '../../api/all-rows.ts';
import { api, type Resource, resultOf, type Versioned, versionedResultOf } from '../../api/client.ts';
import { type PagedList, usePages } from '../../api/pages.ts';
import { invalidate, queryClient } from '../../api/queries.ts';
import { type Option, optionsOf } from '../../components/options.ts';

export type Deployment = Resource<'Deployment'>;

/** The deployments of a state, newest first. */
export function useDeployments(status: Deployment['status']): PagedList<Deployment> {
	return usePages(['deployments', 'list', status], (cursor, signal) => {
		const query = { status, limit: PAGE_SIZE, ...(cursor && { cursor }) };
		return resultOf(api.GET('/api/v1/deployments', { params: { query }, signal }));
	});
}

export function deploymentById(id: string): QueryObserverOptions<Versioned<Deployment>> {
	return {
		queryKey: ['deployments', 'one', id],
		queryFn: ({ signal }) =>
			versionedResultOf(api.GET('/api/v1/deployments/{id}', { params: { path: { id } }, signal })),
	};
}

/** The assistants that a deployment can have: the active ones. */
export function assistantOptions(assistants: AllRows<Resource<'Assistant'>> | undefined): Option[] {
	const rows = assistants?.rows.filter(({ status }) => status === 'active');
	return optionsOf(assistants && { ...assistants, rows: rows ?? [] });
}

/** Shows another version of a deployment everywhere. */
export function showDeployment(deployment: Versioned<Deployment>): void {
	queryClient.setQueryData(deploymentById(deployment.value.id).queryKey, deployment);
	void invalidate('deployments', 'list');
}
