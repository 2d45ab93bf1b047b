import { newId } from '../base/index.ts';
import type { Scope } from '../contract/index.ts';
import type { ApiKeyRecord, Write } from '../store/index.ts';
import { displayPrefixOf, hashApiKey } from './api-keys.ts';

/** The properties of a new key. */
export interface ApiKeyProperties {
	name: string;
	scopes: ('*' | Scope)[];
	/** Milliseconds since the epoch; null or absent: never. */
	expires_at?: number | null;
	now: number;
}

/** The record of a key: it holds the hash, never the key. */
export function keyRecord(
	workspaceId: string,
	key: string,
	{ name, scopes, expires_at, now }: ApiKeyProperties,
): ApiKeyRecord {
	return {
		id: newId('api_key'),
		version: 1,
		workspace_id: workspaceId,
		name,
		hash: hashApiKey(key),
		prefix: displayPrefixOf(key),
		scopes: scopes.includes('*') ? ['*'] : scopes,
		last_used_at: null,
		expires_at: expires_at ?? null,
		created_at: now,
	};
}

/** The write that stores a key. */
export function insertKey(workspaceId: string, key: string, terms: ApiKeyProperties): Write {
	return { op: 'insert', kind: 'api_keys', record: keyRecord(workspaceId, key, terms) };
}
