import { newId } from '../base/index.ts';
import type { UserCreate } from '../contract/index.ts';
import type { UserRecord } from '../store/index.ts';
import { hashToken } from './secret-token.ts';

const PASSWORD_LINK_LIFETIME_MS = 24 * 3_600_000;
/** The fields of a user without a link for setting a password. */
export const NO_PASSWORD_LINK = { password_link_hash: null, password_link_expires_at: null };
const MAX_NAME = 200;

/**
 * The normal form of an email, which identifies a user: emails that differ in case or in Unicode composition are equal. The
 * form is stable: lower-case letters may compose where their capitals do not (J and a caron), so it is computed until it no longer
 * changes.
 */
export function normaliseEmail(email: string): string {
	const form = email.toLowerCase().normalize('NFC');
	return form === email ? form : normaliseEmail(form);
}

/** A user without a password. @param token of the link by which the person sets one; null: no link */
export function newUser(
	workspaceId: string,
	{ email, name, role }: UserCreate,
	token: string | null,
	now: number,
): UserRecord {
	const address = normaliseEmail(email);
	return {
		id: newId('user'),
		version: 1,
		workspace_id: workspaceId,
		email: address,
		name: name ?? address.slice(0, address.lastIndexOf('@')).slice(0, MAX_NAME),
		role: role ?? 'member',
		password_hash: null,
		...(token === null ? NO_PASSWORD_LINK : passwordLinkFields(token, now)),
		totp: null,
		oidc_issuer: null,
		oidc_subject: null,
		deactivated_at: null,
		created_at: now,
		updated_at: now,
	};
}

/** The fields of a user with a link for setting a password. */
export function passwordLinkFields(
	token: string,
	now: number,
): Pick<UserRecord, 'password_link_hash' | 'password_link_expires_at'> {
	return { password_link_hash: hashToken(token), password_link_expires_at: now + PASSWORD_LINK_LIFETIME_MS };
}
