import { AppError } from '../base/index.ts';
import type { Operations } from '../contract/index.ts';
import { type Deployments, presentDeployment } from '../deployments/index.ts';
import type { Store } from '../store/index.ts';
import { type Handler, withVersion } from './call.ts';
import { byCreation, type Cursors } from './cursors.ts';

type DeploymentOperation =
	| 'listDeployments'
	| 'createDeployment'
	| 'getDeployment'
	| 'updateDeployment'
	| 'archiveDeployment';

export interface DeploymentHandlersOptions {
	store: Store;
	deployments: Deployments;
	cursors: Cursors;
}

/** Deployments: create, read, change, archive. */
export function deploymentHandlers({ store, deployments, cursors }: DeploymentHandlersOptions): {
	[K in DeploymentOperation]: Handler<Operations[K]>;
} {
	return {
		async listDeployments({ caller, query }) {
			const { status, assistant_id } = query;
			const list = `deployments ${caller.workspaceId} ${status ?? ''} ${assistant_id ?? ''}`;
			const page = cursors.read(list, query);
			const records = await store.list('deployments', {
				...page,
				limit: page.limit + 1,
				where: { workspace_id: caller.workspaceId, status, assistant_id },
			});
			return cursors.page(list, page, records, byCreation, presentDeployment);
		},

		createDeployment: ({ caller, body, commit }) =>
			commit(deployments.create(caller.workspaceId, body), (created) =>
				withVersion(presentDeployment(created), created),
			),

		async getDeployment({ caller, params }) {
			const record = await store.get('deployments', params.id);
			if (record?.workspace_id !== caller.workspaceId) {
				throw new AppError('not_found', 'The deployment does not exist.');
			}
			return withVersion(presentDeployment(record), record);
		},

		async updateDeployment({ caller, params, body, ifMatchVersions }) {
			const record = await deployments.change(caller.workspaceId, params.id, body, ifMatchVersions);
			return withVersion(presentDeployment(record), record);
		},

		async archiveDeployment({ caller, params, ifMatchVersions }) {
			const patch = { status: 'archived' } as const;
			const record = await deployments.change(caller.workspaceId, params.id, patch, ifMatchVersions);
			return withVersion(presentDeployment(record), record);
		},
	};
}
