import type { Store, UserRecord } from '../store/index.ts';

/** Whether a workspace has an active owner beside this user. */
export async function hasOtherOwner(
	store: Pick<Store, 'list'>,
	{ id, workspace_id }: Pick<UserRecord, 'id' | 'workspace_id'>,
): Promise<boolean> {
	const where = { workspace_id, role: 'owner', deactivated_at: null } as const;
	const owners = await store.list('users', { where, order: 'asc', limit: 2 });
	return owners.some((owner) => owner.id !== id);
}
