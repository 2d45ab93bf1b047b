import { AppError, type Clock, newId } from '../base/index.ts';
import { decideAndCommit, type Store, type Write } from '../store/index.ts';
import { createApiKey, isApiKey } from './api-keys.ts';
import { insertKey } from './key-record.ts';
import { createToken } from './secret-token.ts';
import { newUser } from './user-record.ts';

/** Secrets that the first start created. They are shown once and cannot be read again. */
export interface FirstStartSecrets {
	/** The first API key. */
	key: string;
	/** The token of the link by which the owner sets a password. */
	passwordToken: string;
}

/** Name and email of the first user until they are changed. */
export const FIRST_OWNER = 'owner@localhost';

/** Rejects a malformed key before anything is created with it. */
export function requireKeyForm(key: string): void {
	if (isApiKey(key)) return;
	throw new AppError(
		'invalid_request',
		'PARLEY_API_KEY is not a valid key: it must be sk_, 43 letters or digits, and 6 characters of checksum. "parley keys generate" makes one.',
	);
}

/**
 * Creates the first workspace with its owner and a key, where there is no workspace.
 * @param configuredKey the key to use; otherwise one is generated
 * @param save receives the secrets before the commit, so that a crash cannot lose them
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

/** The writes that create a workspace. */
export function insertWorkspace(id: string, name: string, now: number): Write[] {
	const record = {
		id,
		name,
		plan: 'unlimited',
		retention_days: null,
		budget: null,
		require_totp: false,
		created_at: now,
		updated_at: now,
	};
	return [
		{ op: 'insert', kind: 'workspaces', record },
		{ op: 'insert', kind: 'workspace_guards', record: { id, created_at: now } },
	];
}

/**
 * The link by which a user sets a password.
 * @param base the server's own address, as browsers see it
 */
export function passwordLink(base: string, token: string): string {
	// The token is in the fragment, which browsers do not send: no log on the way holds it.
	return `${base}/set-password#${token}`;
}
