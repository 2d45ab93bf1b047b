import { AppError, type Clock, mergedFields, timestamp } from '../base/index.ts';
import type { Operations, Workspace } from '../contract/index.ts';
import { decideAndCommit, expectVersion, requireVersion, type Store, type WorkspaceRecord } from '../store/index.ts';
import { type Handler, withVersion } from './call.ts';

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

/** The workspace of a caller. It exists, because every caller acts in a workspace. */
export async function requireWorkspace(store: Pick<Store, 'get'>, id: string): Promise<WorkspaceRecord> {
	const record = await store.get('workspaces', id);
	if (!record) throw new AppError('not_found', 'The workspace does not exist.');
	return record;
}

/** The caller's workspace: read, change. */
export function workspaceHandlers({ store, clock }: WorkspaceOptions): {
	[K in 'getWorkspace' | 'updateWorkspace']: Handler<Operations[K]>;
} {
	return {
		async getWorkspace({ caller }) {
			const record = await requireWorkspace(store, caller.workspaceId);
			return withVersion(presentWorkspace(record), record);
		},

		updateWorkspace: ({ caller, body, ifMatchVersions }) =>
			decideAndCommit(store, async () => {
				const record = await requireWorkspace(store, caller.workspaceId);
				requireVersion(record, ifMatchVersions);
				const set = { ...mergedFields(record, body), updated_at: clock.now() };
				const next = { ...record, ...set, version: record.version + 1 };
				return {
					commit: {
						expect: [expectVersion('workspaces', record)],
						write: [{ op: 'patch', kind: 'workspaces', id: record.id, set }],
					},
					result: withVersion(presentWorkspace(next), next),
				};
			}),
	};
}
