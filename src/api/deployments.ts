import { AppError } from '../base/index.ts';
import type { Deployment, DeploymentPatch, Operations } from '../contract/index.ts';
import { type Deployments, presentDeployment } from '../deployments/index.ts';
import type { DeploymentRecord, Store } from '../store/index.ts';
import { type Call, type Handler, type VersionedResult, withVersion } from './call.ts';
import { byCreation, type Cursors } from './cursors.ts';

type DeploymentOperation =
	| 'listDeployments'
	| 'createDeployment'
	| 'getDeployment'
	| 'updateDeployment'
	| 'archiveDeployment';

type ChangeOperation = Operations['updateDeployment' | 'archiveDeployment'];

export interface DeploymentHandlersOptions {
	store: Store;
	deployments: Deployments;
	cursors: Cursors;
}

/** Deployments: create, read, change, archive. */
export function deploymentHandlers({ store, deployments, cursors }: DeploymentHandlersOptions): {
	[K in DeploymentOperation]: Handler<Operations[K]>;
} {
	const find = async (workspaceId: string, id: string): Promise<DeploymentRecord> => {
		const record = await store.get('deployments', id);
		if (record?.workspace_id !== workspaceId) throw new AppError('not_found', 'The deployment does not exist.');
		return record;
	};

	const change = async (call: Call<ChangeOperation>, patch: DeploymentPatch): Promise<VersionedResult<Deployment>> => {
		const { caller, params, ifMatchVersions, auditWrites } = call;
		const { id, name } = await find(caller.workspaceId, params.id);
		const writes = auditWrites({ id, name });
		const record = await deployments.change(caller.workspaceId, id, patch, ifMatchVersions, writes);
		return withVersion(presentDeployment(record), record);
	};

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
			const record = await find(caller.workspaceId, params.id);
			return withVersion(presentDeployment(record), record);
		},

		updateDeployment: (call) => change(call, call.body),

		archiveDeployment: (call) => change(call, { status: 'archived' }),
	};
}
