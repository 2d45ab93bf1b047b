import { AppError, type Clock, newId } from '../base/index.ts';
import { decideAndCommit, type Store, type Write } from '../store/index.ts';
import { createApiKey, isApiKey } from './api-keys.ts';
import { insertKey } from './key-record.ts';
import { createToken } from './secret-token.ts';
import { newUser } from './users.ts';

/** What the first start made that cannot be had again: to be shown once. */
export interface FirstStartSecrets {
	/** The first API key. */
	key: string;
	/** Of the link by which the owner sets a password. */
	passwordToken: string;
}

/** Whom the first user is until somebody says better. */
export const FIRST_OWNER = 'owner@localhost';

/** Refuses a key of the wrong form, before anything is made of it. */
export function requireKeyForm(key: string): void {
	if (isApiKey(key)) return;
	throw new AppError(
		'invalid_request',
		'PARLEY_API_KEY is not a valid key: it must be sk_, 43 letters or digits, and 6 characters of checksum. "parley keys generate" makes one.',
	);
}

/**
 * Makes the first workspace with its owner and a key, where there is no workspace.
 * @param configuredKey the key to use; otherwise one is generated
 * @param save is given it before it is stored: from then on nothing may be lost
 * @returns null where there was a workspace already
 */
export async function createFirstWorkspace(
	store: Pick<Store, 'commit' | 'list'>,
	clock: Clock,
	configuredKey: string | undefined,
	save: (first: FirstStartSecrets) => Promise<void> = async () => {},
): Promise<FirstStartSecrets | null> {
	if (configuredKey !== undefined) requireKeyForm(configuredKey);
	const existing = await store.list('workspaces', { where: {}, order: 'asc', limit: 1 });
	if (existing.length > 0) return null;
	const now = clock.now();
	const key = configuredKey ?? createApiKey();
	const passwordToken = createToken();
	const workspaceId = newId('workspace');
	const owner = newUser(workspaceId, { email: FIRST_OWNER, name: 'Owner', role: 'owner' }, passwordToken, now);
	const first: FirstStartSecrets = { key, passwordToken };
	await save(first);
	return decideAndCommit(store, async () => ({
		commit: {
			write: [
				...insertWorkspace(workspaceId, 'Default workspace', now),
				{ op: 'insert', kind: 'users', record: owner },
				insertKey(workspaceId, key, { name: 'First key', scopes: ['*'], now }),
			],
		},
		result: first,
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

/**
 * Where a person sets a password.
 * @param base the server's own address, as browsers see it
 */
export function passwordLink(base: string, token: string): string {
	// In the fragment, which browsers keep to themselves: no log on the way has it.
	return `${base}/set-password#${token}`;
}
