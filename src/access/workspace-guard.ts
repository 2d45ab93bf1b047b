import { type Commit, expectVersion, type Store } from '../store/index.ts';

/**
 * Parts of a commit whose decision depends on a count or on uniqueness within a workspace: of two concurrent decisions, one conflicts
 * and is repeated. Call it before reading what the decision depends on.
 */
export async function workspaceGuardParts(
	store: Pick<Store, 'get'>,
	workspaceId: string,
): Promise<Required<Pick<Commit, 'expect' | 'write'>>> {
	const guard = await store.get('workspace_guards', workspaceId);
	if (!guard) throw new Error(`The workspace ${workspaceId} has no guard.`);
	return {
		expect: [expectVersion('workspace_guards', guard)],
		write: [{ op: 'patch', kind: 'workspace_guards', id: guard.id, set: {} }],
	};
}
