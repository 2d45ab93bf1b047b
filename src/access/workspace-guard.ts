import { type Commit, expectVersion, type Store } from '../store/index.ts';

/**
 * What a commit holds whose decision rests on a count or on uniqueness within a workspace: of two such decisions at once one
 * is made anew. Read it before what the decision rests on.
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
