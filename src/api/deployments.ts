import type { VisitorTokens } from '../access/index.ts';
import { AppError, timestamp } from '../base/index.ts';
import type { Deployment, DeploymentJwt, DeploymentPatch, Operations, TokenCheck } from '../contract/index.ts';
import { checkOrigin, type Deployments, presentDeployment } from '../deployments/index.ts';
import type { DeploymentRecord, Store } from '../store/index.ts';
import { type Call, type Handler, type VersionedResult, withVersion } from './call.ts';
import { byCreation, type Cursors } from './cursors.ts';

type DeploymentOperation =
	| 'listDeployments'
	| 'createDeployment'
	| 'getDeployment'
	| 'updateDeployment'
	| 'archiveDeployment'
	| 'checkDeploymentOrigin'
	| 'checkDeploymentToken';

type ChangeOperation = Operations['updateDeployment' | 'archiveDeployment'];

export interface DeploymentHandlersOptions {
	store: Store;
	deployments: Deployments;
	visitorTokens: VisitorTokens;
	cursors: Cursors;
}

/** Deployments: create, read, change, archive; check whom they let in. */
export function deploymentHandlers({ store, deployments, visitorTokens, cursors }: DeploymentHandlersOptions): {
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

		async checkDeploymentOrigin({ caller, params, body }) {
			const { allowed_domains } = await find(caller.workspaceId, params.id);
			return checkOrigin(body.allowed_domains ?? allowed_domains, body.url);
		},

		async checkDeploymentToken({ caller, params, body }) {
			const { jwt } = await find(caller.workspaceId, params.id);
			return checkToken(visitorTokens, jwt, body.token);
		},
	};
}

/** Whether a deployment's visitors may use a token. A key set that cannot be downloaded is a problem, too: visitors get an error. */
async function checkToken(tokens: VisitorTokens, settings: DeploymentJwt | null, token: string): Promise<TokenCheck> {
	try {
		const { end_user, expiresAt } = await tokens.verifyToken(settings, token);
		return { valid: true, problem: null, end_user, expires_at: timestamp(expiresAt) };
	} catch (error) {
		const isProblem = error instanceof AppError && (error.code === 'invalid_jwt' || error.code === 'unavailable');
		if (!isProblem) throw error;
		return { valid: false, problem: error.message, end_user: null, expires_at: null };
	}
}
