import { AppError, type Clock, mergedFields, timestamp } from '../base/index.ts';
import type { Operations, Workspace } from '../contract/index.ts';
import { decideAndCommit, expectVersion, requireVersion, type Store, type WorkspaceRecord } from '../store/index.ts';
import { type Handler, versioned } from './call.ts';

export interface WorkspaceOptions {
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
		created_at: timestamp(record.created_at),
		updated_at: timestamp(record.updated_at),
	};
}

/** The workspace of an id that is known to be one: whoever acts does so in a workspace. */
export async function workspaceOf(store: Pick<Store, 'get'>, id: string): Promise<WorkspaceRecord> {
	const record = await store.get('workspaces', id);
	if (!record) throw new AppError('not_found', 'The workspace does not exist.');
	return record;
}

/** The workspace that a caller acts in: look at, change. */
export function workspaceHandlers({ store, clock }: WorkspaceOptions): {
	[K in 'getWorkspace' | 'updateWorkspace']: Handler<Operations[K]>;
} {
	return {
		async getWorkspace({ caller }) {
			const record = await workspaceOf(store, caller.workspaceId);
			return versioned(presentWorkspace(record), record);
		},

		updateWorkspace: ({ caller, body, ifVersion }) =>
			decideAndCommit(store, async () => {
				const record = await workspaceOf(store, caller.workspaceId);
				requireVersion(record, ifVersion);
				const set = { ...mergedFields(record, body), updated_at: clock.now() };
				const next = { ...record, ...set, version: record.version + 1 };
				return {
					commit: {
						expect: [expectVersion('workspaces', record)],
						write: [{ op: 'patch', kind: 'workspaces', id: record.id, set }],
					},
					result: versioned(presentWorkspace(next), next),
				};
			}),
	};
}
