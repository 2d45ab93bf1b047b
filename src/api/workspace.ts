import { type Access, planOf } from '../access/index.ts';
import { AppError, type Clock, mergedFields, timestamp } from '../base/index.ts';
import { mergeBudget, type Operations, type Workspace } from '../contract/index.ts';
import { expectVersion, prepareChange, requireVersion, type Store, type WorkspaceRecord } from '../store/index.ts';
import { type Handler, withVersion } from './call.ts';

export interface WorkspaceOptions {
	access: Pick<Access, 'requestsPerMinute'>;
	store: Store;
	clock: Clock;
}

/** A workspace as the API shows it. */
export function presentWorkspace(record: WorkspaceRecord): Workspace {
	return {
		id: record.id,
		name: record.name,
		plan: record.plan,
		retention_days: record.retention_days,
		budget: record.budget,
		require_totp: record.require_totp,
		created_at: timestamp(record.created_at),
		updated_at: timestamp(record.updated_at),
	};
}

/** The workspace of a caller. It exists, because every caller acts in a workspace. */
export async function requireWorkspace(store: Pick<Store, 'get'>, id: string): Promise<WorkspaceRecord> {
	const record = await store.get('workspaces', id);
	if (!record) throw new AppError('not_found', 'The workspace does not exist.');
	return record;
}

/** The caller's workspace: read, change. */
export function workspaceHandlers({ access, store, clock }: WorkspaceOptions): {
	[K in 'getWorkspace' | 'updateWorkspace' | 'getWorkspaceUsage']: Handler<Operations[K]>;
} {
	return {
		async getWorkspace({ caller }) {
			const record = await requireWorkspace(store, caller.workspaceId);
			return withVersion(presentWorkspace(record), record);
		},

		updateWorkspace({ caller, body, ifMatchVersions, commit }) {
			const change = prepareChange(store, async () => {
				const record = await requireWorkspace(store, caller.workspaceId);
				requireVersion(record, ifMatchVersions);
				const { budget, ...plain } = body;
				const set: Partial<WorkspaceRecord> = { ...mergedFields(record, plain), updated_at: clock.now() };
				if (budget !== undefined) set.budget = mergeBudget(record.budget, budget, '/budget');
				const next = { ...record, ...set, version: record.version + 1 };
				return {
					commit: {
						expect: [expectVersion('workspaces', record)],
						write: [{ op: 'patch', kind: 'workspaces', id: record.id, set }],
					},
					result: next,
				};
			});
			return commit(change, (next) => withVersion(presentWorkspace(next), next));
		},

		async getWorkspaceUsage({ caller }) {
			const { plan } = await requireWorkspace(store, caller.workspaceId);
			const limits = planOf(plan);
			const used = await store.assistants.planUsage(caller.workspaceId);
			return {
				plan,
				assistants: { used: used.assistants, limit: limits.assistants },
				tool_attachments: { used: used.tool_attachments, limit: limits.tool_attachments },
				requests_per_minute: await access.requestsPerMinute(caller),
			};
		},
	};
}
