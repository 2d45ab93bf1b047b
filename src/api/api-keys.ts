import { type CredentialMonitor, createApiKey, keyRecord, requireGrantable } from '../access/index.ts';
import { AppError, type Clock, timestamp, timestampOrNull } from '../base/index.ts';
import type { ApiKey, Operations } from '../contract/index.ts';
import { type ApiKeyRecord, expectVersion, prepareChange, requireVersion, type Store } from '../store/index.ts';
import { type Handler, withVersion } from './call.ts';
import { byCreation, type Cursors } from './cursors.ts';

type ApiKeyOperation = 'listApiKeys' | 'createApiKey' | 'getApiKey' | 'revokeApiKey';

export interface ApiKeysOptions {
	store: Store;
	cursors: Cursors;
	clock: Clock;
	credentialMonitor: CredentialMonitor;
}

export function presentApiKey(record: ApiKeyRecord): ApiKey {
	return {
		id: record.id,
		name: record.name,
		prefix: record.prefix,
		scopes: record.scopes,
		last_used_at: timestampOrNull(record.last_used_at),
		expires_at: timestampOrNull(record.expires_at),
		created_at: timestamp(record.created_at),
	};
}

/** When a new key expires: not later than the key that creates it, which could otherwise prolong itself. */
function expiryOf(given: string | null | undefined, makersExpiry: number | null, now: number): number | null {
	if (given === undefined) return makersExpiry;
	const at = given === null ? null : Date.parse(given);
	if (at !== null && at <= now) throw invalidExpiryError('must be in the future');
	if (makersExpiry === null || (at !== null && at <= makersExpiry)) return at;
	throw invalidExpiryError(`must not be later than ${timestamp(makersExpiry)}, when the key that makes it expires`);
}

function invalidExpiryError(message: string): AppError {
	return new AppError('invalid_request', `/expires_at ${message}.`, { details: [{ path: '/expires_at', message }] });
}

/** API keys: create, read, revoke. */
export function apiKeyHandlers({ store, cursors, clock, credentialMonitor }: ApiKeysOptions): {
	[K in ApiKeyOperation]: Handler<Operations[K]>;
} {
	const find = async (workspaceId: string, id: string): Promise<ApiKeyRecord> => {
		const record = await store.get('api_keys', id);
		if (record?.workspace_id !== workspaceId) throw new AppError('not_found', 'The API key does not exist.');
		return record;
	};

	return {
		async listApiKeys({ caller, query }) {
			const list = `api keys ${caller.workspaceId}`;
			const page = cursors.read(list, query);
			const where = { workspace_id: caller.workspaceId };
			const records = await store.list('api_keys', { ...page, limit: page.limit + 1, where });
			return cursors.page(list, page, records, byCreation, presentApiKey);
		},

		async createApiKey({ caller, body, commit }) {
			const { name = 'API key', scopes = ['*'] } = body;
			const now = clock.now();
			const expires_at = expiryOf(body.expires_at, caller.expiresAt, now);
			requireGrantable(caller.scopes, scopes);
			const key = createApiKey();
			const record = keyRecord(caller.workspaceId, key, { name, scopes, expires_at, now });
			const change = prepareChange(store, async () => ({
				commit: { write: [{ op: 'insert', kind: 'api_keys', record }] },
				result: record,
			}));
			return commit(change, (created) => withVersion({ ...presentApiKey(created), key }, created));
		},

		async getApiKey({ caller, params }) {
			const record = await find(caller.workspaceId, params.id);
			return withVersion(presentApiKey(record), record);
		},

		async revokeApiKey({ caller, params, ifMatchVersions, commit }) {
			const change = prepareChange(store, async () => {
				const record = await find(caller.workspaceId, params.id);
				requireVersion(record, ifMatchVersions);
				const write = [{ op: 'remove', kind: 'api_keys', id: record.id } as const];
				return { commit: { expect: [expectVersion('api_keys', record)], write }, result: record };
			});
			const deleted = await commit(change, ({ id }) => ({ id, deleted: true as const }));
			await credentialMonitor.recheckAll();
			return deleted;
		},
	};
}
