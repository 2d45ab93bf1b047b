import { AppError } from '../base/index.ts';
import { EMAIL_PATTERN, isSingleLine, type Role } from '../contract/index.ts';
import { type Identity, type RoleMapping, roleOf } from '../oidc/index.ts';
import { type Commit, expectVersion, type Store, type UserRecord } from '../store/index.ts';
import { hasOtherOwner } from './owners.ts';
import { newUser, normaliseEmail } from './user-record.ts';
import { workspaceGuardParts } from './workspace-guard.ts';

export interface OidcAccountsOptions {
	store: Pick<Store, 'get' | 'list'>;
	roles: RoleMapping;
	/** The workspace of the people; undefined: the oldest. */
	workspaceId: string | undefined;
}

/** The account of an identity, with the changes that its sign-in makes. */
export interface IdentityAccount extends Required<Pick<Commit, 'expect' | 'write'>> {
	/** The account after the changes. */
	user: UserRecord;
	/** The role is another one: sessions with the former one end. */
	isNewRole: boolean;
	/** What the audit log says about the changes; null where the account stays as it is. */
	change: AccountChange | null;
}

/** A change of an account by a sign-in, in the words of the API: as if a person had made it with this operation. */
export interface AccountChange {
	action: 'createUser' | 'updateUser';
	fields: string[];
}

/** The identity may not sign in. Known people are signed out everywhere. */
export interface RefusedIdentity {
	refusal: AppError;
	user: UserRecord | null;
}

const EMAIL = new RegExp(EMAIL_PATTERN, 'u');
const MAX_EMAIL = 254;
const MAX_NAME = 200;

/** The accounts of people whom the identity provider authenticates, in one workspace. */
export class OidcAccounts {
	readonly #options: OidcAccountsOptions;

	constructor(options: OidcAccountsOptions) {
		this.#options = options;
	}

	/**
	 * Finds the account: by issuer and subject, else by the verified email address, else a new one. The caller commits the changes,
	 * and asks again after a conflict.
	 */
	async accountOf(identity: Identity, now: number): Promise<IdentityAccount | RefusedIdentity> {
		const { store, roles } = this.#options;
		const workspaceId = await this.#workspaceId();
		// Before the accounts are read: of two first sign-ins at once, the second finds the account.
		const guard = await workspaceGuardParts(store, workspaceId);
		const known = await this.#userOfSubject(workspaceId, identity);
		const email = usableEmail(identity);
		if (email === null) return refused(known, 'The identity provider has not verified your e-mail address.');
		const role = roleOf(identity.claims, roles);
		if (role === null) return refused(known, 'The identity provider gives you no role on this server.');
		const link = { oidc_issuer: identity.issuer, oidc_subject: identity.subject };
		const found = known ?? (await this.#userOfEmail(workspaceId, email));
		if (found === null) {
			const name = usableName(identity);
			const record = newUser(workspaceId, { email, role, ...(name === null ? {} : { name }) }, null, now);
			const user = { ...record, ...link };
			const write = [...guard.write, { op: 'insert', kind: 'users', record: user } as const];
			const change = { action: 'createUser' as const, fields: ['email', 'name', 'role', 'has_oidc'] };
			return { user, isNewRole: false, change, expect: guard.expect, write };
		}
		const isOfIssuer = found.oidc_subject !== null && found.oidc_issuer === identity.issuer;
		// Of two first sign-ins at once, one may find the account of the other by the address only.
		if (isOfIssuer && found.oidc_subject !== identity.subject) {
			return refused(null, 'Your e-mail address belongs to the account of another identity.');
		}
		if (found.deactivated_at !== null) return { refusal: new AppError('account_deactivated'), user: found };
		return this.#signedIn(found, { ...link, role }, guard, now);
	}

	/** The role of each sign-in replaces the former one, but the last owner stays owner. */
	async #signedIn(
		found: UserRecord,
		{ role, ...link }: { role: Role } & Pick<UserRecord, 'oidc_issuer' | 'oidc_subject'>,
		guard: Pick<IdentityAccount, 'expect' | 'write'>,
		now: number,
	): Promise<IdentityAccount> {
		const staysOwner = found.role === 'owner' && role !== 'owner' && !(await hasOtherOwner(this.#options.store, found));
		const next = { ...link, role: staysOwner ? ('owner' as const) : role };
		const isNewRole = next.role !== found.role;
		const isNewLink = found.oidc_issuer !== link.oidc_issuer || found.oidc_subject !== link.oidc_subject;
		const expect = [expectVersion('users', found)];
		if (!isNewRole && !isNewLink) return { user: found, isNewRole, change: null, expect, write: [] };
		// A link for a password was issued for the former role.
		const noLink = isNewRole ? { password_link_hash: null, password_link_expires_at: null } : {};
		const set = { ...next, ...noLink, updated_at: now };
		const fields = [...(isNewRole ? ['role'] : []), ...(isNewLink ? ['has_oidc'] : [])];
		return {
			user: { ...found, ...set, version: found.version + 1 },
			isNewRole,
			change: { action: 'updateUser', fields },
			expect: [...expect, ...guard.expect],
			write: [...guard.write, { op: 'patch', kind: 'users', id: found.id, set }],
		};
	}

	async #workspaceId(): Promise<string> {
		const { store, workspaceId } = this.#options;
		if (workspaceId !== undefined) {
			if (await store.get('workspaces', workspaceId)) return workspaceId;
			throw new AppError('identity_provider_failed', 'The workspace of PARLEY_OIDC_WORKSPACE does not exist.');
		}
		const [oldest] = await store.list('workspaces', { where: {}, order: 'asc', limit: 1 });
		if (oldest) return oldest.id;
		throw new Error('There is no workspace.');
	}

	async #userOfSubject(workspace_id: string, { issuer, subject }: Identity): Promise<UserRecord | null> {
		const where = { workspace_id, oidc_issuer: issuer, oidc_subject: subject };
		const [user] = await this.#options.store.list('users', { where, order: 'asc', limit: 1 });
		return user ?? null;
	}

	async #userOfEmail(workspace_id: string, email: string): Promise<UserRecord | null> {
		const [user] = await this.#options.store.list('users', { where: { workspace_id, email }, order: 'asc', limit: 1 });
		return user ?? null;
	}
}

function refused(user: UserRecord | null, sentence: string): RefusedIdentity {
	return { refusal: new AppError('sign_in_refused', sentence), user };
}

/**
 * The normal form of an address that the issuer has verified; null for others. An address that composing would change is another
 * mailbox than its normal form: with a Kelvin sign in place of a K it would be somebody else's.
 */
function usableEmail({ email, isEmailVerified }: Identity): string | null {
	if (!isEmailVerified || email === null || email.length > MAX_EMAIL || !EMAIL.test(email)) return null;
	return email.normalize('NFC') === email ? normaliseEmail(email) : null;
}

/** The name for a new account; null where it is none for a line. */
function usableName({ name }: Identity): string | null {
	return name !== null && name.length <= MAX_NAME && isSingleLine(name) ? name : null;
}
