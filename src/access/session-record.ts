import { newId } from '../base/index.ts';
import type { SessionRecord, UserRecord } from '../store/index.ts';
import { hashToken } from './secret-token.ts';

const HOUR = 3_600_000;
/** A session of a password, since its last use. */
const LIFETIME_MS = 14 * 24 * HOUR;
/** A session is renewed when this much of its lifetime has passed. */
const RENEW_AFTER_MS = HOUR;
/** A session of an identity, since the sign-in: then the identity provider says again what the person may do. */
const IDENTITY_LIFETIME_MS = 12 * HOUR;
const MAX_USER_AGENT = 300;

export interface NewSessionOptions {
	/** The value of the cookie. */
	token: string;
	userAgent: string | undefined;
	signedInBy: SessionRecord['signed_in_by'];
	now: number;
}

/** A session that begins now. */
export function newSession(
	{ id, workspace_id }: UserRecord,
	{ token, userAgent, signedInBy, now }: NewSessionOptions,
): SessionRecord {
	return {
		id: newId('session'),
		version: 1,
		workspace_id,
		user_id: id,
		hash: hashToken(token),
		user_agent: userAgent?.slice(0, MAX_USER_AGENT) ?? null,
		signed_in_by: signedInBy,
		expires_at: now + (signedInBy === 'oidc' ? IDENTITY_LIFETIME_MS : LIFETIME_MS),
		created_at: now,
	};
}

/** The new end of a session that is used now; null where it stays as it is. */
export function renewedExpiry({ signed_in_by, expires_at }: SessionRecord, now: number): number | null {
	if (signed_in_by === 'oidc' || expires_at > now + LIFETIME_MS - RENEW_AFTER_MS) return null;
	return now + LIFETIME_MS;
}

/** When a session was last used, to the hour: its use renews it. Where nothing renews it, when it began. Milliseconds since the epoch. */
export function lastUseOf({ signed_in_by, expires_at, created_at }: SessionRecord): number {
	return signed_in_by === 'oidc' ? created_at : expires_at - LIFETIME_MS;
}
