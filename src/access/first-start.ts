import { AppError, type Clock, newId } from '../base/index.ts';
import type { Scope } from '../contract/index.ts';
import { type ApiKeyRecord, decideAndCommit, type Store, type Write } from '../store/index.ts';
import { createApiKey, hashApiKey, isApiKey, prefixOf } from './api-keys.ts';

/** Refuses a key of the wrong form, before anything is made of it. */
export function requireKeyForm(key: string): void {
	if (isApiKey(key)) return;
	throw new AppError(
		'invalid_request',
		'PARLEY_API_KEY is not a valid key: it must be sk_, 43 letters or digits, and 6 characters of checksum. "parley keys generate" makes one.',
	);
}

/**
 * Makes the first workspace and key where there are none.
 * @param given the key to use; otherwise one is generated
 * @returns the key, to be shown once; null where there was a workspace already
 */
export async function firstStart(
	store: Pick<Store, 'commit' | 'list'>,
	clock: Clock,
	given: string | undefined,
): Promise<string | null> {
	if (given !== undefined) requireKeyForm(given);
	const existing = await store.list('workspaces', { where: {}, order: 'asc', limit: 1 });
	if (existing.length > 0) return null;
	const now = clock.now();
	const key = given ?? createApiKey();
	const workspaceId = newId('workspace');
	return decideAndCommit(store, async () => ({
		commit: {
			write: [
				...insertWorkspace(workspaceId, 'Default workspace', now),
				insertKey(workspaceId, key, { name: 'First key', scopes: ['*'], now }),
			],
		},
		result: key,
	}));
}

/** The writes that make a workspace. */
export function insertWorkspace(id: string, name: string, now: number): Write[] {
	const record = { id, name, plan: 'unlimited', retention_days: null, created_at: now, updated_at: now };
	return [
		{ op: 'insert', kind: 'workspaces', record },
		{ op: 'insert', kind: 'workspace_guards', record: { id, created_at: now } },
	];
}

/** The write that stores a key, as its hash alone. */
export function insertKey(
	workspaceId: string,
	key: string,
	{ name, scopes, now }: { name: string; scopes: ('*' | Scope)[]; now: number },
): Write {
	const record: ApiKeyRecord = {
		id: newId('api_key'),
		version: 1,
		workspace_id: workspaceId,
		name,
		hash: hashApiKey(key),
		prefix: prefixOf(key),
		scopes,
		last_used_at: null,
		expires_at: null,
		created_at: now,
	};
	return { op: 'insert', kind: 'api_keys', record };
}
