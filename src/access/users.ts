import { AppError, type Clock, newId } from '../base/index.ts';
import type { Scope, UserCreate, UserPatch } from '../contract/index.ts';
import {
	type Commit,
	decideAndCommit,
	expectVersion,
	type IdempotencyRecord,
	requireVersion,
	type Store,
	type UserRecord,
	type Write,
} from '../store/index.ts';
import type { Passwords } from './passwords.ts';
import { requireGrantable, scopesOf } from './roles.ts';
import { createToken, hashToken, isTokenShaped } from './secret-token.ts';
import { workspaceGuardParts } from './workspace-guard.ts';

export interface UsersOptions {
	store: Pick<Store, 'access' | 'commit' | 'get' | 'list'>;
	passwords: Passwords;
	clock: Clock;
}

/** A user with the token of the link by which a password is set. */
export interface Invitation {
	user: UserRecord;
	token: string;
}

/** Who makes a user or a link. Nobody makes anybody who may do more than themselves. */
export interface Grantor {
	scopes: ReadonlyArray<'*' | Scope>;
	/** The part of the commit that lets a repeat of the request be answered the same. */
	receipt?: (invited: Invitation) => IdempotencyRecord | undefined;
}

/** Under which conditions a user is changed. */
export interface UserChange {
	scopes: ReadonlyArray<'*' | Scope>;
	/** Those of the user that may be changed; null: any. */
	versions: readonly number[] | null;
	/** A session that stays where the others end. */
	exceptSessionId?: string | undefined;
}

const PASSWORD_LINK_LIFETIME_MS = 24 * 3_600_000;
const NO_PASSWORD_LINK = { password_link_hash: null, password_link_expires_at: null };
const MAX_NAME = 200;
/** Accounts of one email, each in another workspace, that are looked at. */
const MAX_ACCOUNTS_PER_EMAIL = 20;

/**
 * The email by which people are told apart: typed in another case, or with letters put together of others, it is the same.
 * A normal form is its own: small letters may go together where their capitals do not (a J and a caron, say).
 */
export function normaliseEmail(email: string): string {
	const form = email.toLowerCase().normalize('NFC');
	return form === email ? form : normaliseEmail(form);
}

/** A user who has yet to set a password, by the link with this token. */
export function newUser(
	workspaceId: string,
	{ email, name, role }: UserCreate,
	token: string,
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
		...passwordLinkFields(token, now),
		created_at: now,
		updated_at: now,
	};
}

/** The people of a workspace: who they are, what they may do, and how they come by a password. */
export class Users {
	readonly #store: UsersOptions['store'];
	readonly #passwords: Passwords;
	readonly #clock: Clock;

	constructor({ store, passwords, clock }: UsersOptions) {
		this.#store = store;
		this.#passwords = passwords;
		this.#clock = clock;
	}

	/** @throws AppError `not_found`, also for a user of another workspace */
	async get(workspaceId: string, id: string): Promise<UserRecord> {
		const user = await this.#store.get('users', id);
		if (user?.workspace_id !== workspaceId) throw new AppError('not_found', 'The user does not exist.');
		return user;
	}

	/** Whoever has this email: in one workspace, or the oldest few of all. */
	findByEmail(email: string, workspaceId?: string): Promise<UserRecord[]> {
		const where = { email: normaliseEmail(email), ...(workspaceId === undefined ? {} : { workspace_id: workspaceId }) };
		return this.#store.list('users', { where, order: 'asc', limit: MAX_ACCOUNTS_PER_EMAIL });
	}

	/** @throws AppError `invalid_request` where the email is taken, `insufficient_scope` */
	async create(workspaceId: string, given: UserCreate, grantor: Grantor): Promise<Invitation> {
		const token = createToken();
		const user = newUser(workspaceId, given, token, this.#clock.now());
		requireGrantable(grantor.scopes, scopesOf(user.role));
		return decideAndCommit(this.#store, async () => {
			const { expect, write } = await workspaceGuardParts(this.#store, workspaceId);
			await this.#requireUnusedEmail(workspaceId, user.email);
			const invitation = { user, token };
			const insert = { op: 'insert', kind: 'users', record: user } as const;
			return {
				commit: { expect, write: [insert, ...write], idempotency: grantor.receipt?.(invitation) },
				result: invitation,
			};
		});
	}

	/**
	 * Changes a user. Another role or email ends the link for setting a password.
	 * @throws AppError `not_found`, `precondition_failed`, `invalid_request`, `insufficient_scope`
	 */
	change(
		workspaceId: string,
		id: string,
		patch: UserPatch,
		{ scopes, versions, exceptSessionId }: UserChange,
	): Promise<UserRecord> {
		return decideAndCommit(this.#store, async () => {
			const user = await this.get(workspaceId, id);
			requireVersion(user, versions);
			const { name = user.name, role = user.role } = patch;
			const email = patch.email === undefined ? user.email : normaliseEmail(patch.email);
			// A link was given for the role and sent to the address that there was: to an owner's it must not grow, nor stay
			// with whom it was sent to by mistake.
			const link = role === user.role && email === user.email ? {} : NO_PASSWORD_LINK;
			const set = { email, name, role, ...link, updated_at: this.#clock.now() };
			const write: Write[] = [{ op: 'patch', kind: 'users', id, set }];
			const commit = { expect: [expectVersion('users', user)], write };
			if (role !== user.role) {
				requireGrantable(scopes, scopesOf(role));
				await this.#requireAnotherOwner(user, commit, '/role');
				write.push({
					op: 'end_sessions',
					user_id: id,
					...(exceptSessionId === undefined ? {} : { except: exceptSessionId }),
				});
			}
			if (email !== user.email) {
				addGuard(commit, await workspaceGuardParts(this.#store, workspaceId));
				await this.#requireUnusedEmail(workspaceId, email);
			}
			return { commit, result: { ...user, ...set, version: user.version + 1 } };
		});
	}

	/** Removes a user and signs the person out everywhere. @throws AppError `not_found`, `precondition_failed`, `invalid_request` */
	remove(workspaceId: string, id: string, versions: readonly number[] | null): Promise<void> {
		return decideAndCommit(this.#store, async () => {
			const user = await this.get(workspaceId, id);
			requireVersion(user, versions);
			const write: Write[] = [
				{ op: 'remove', kind: 'users', id },
				{ op: 'end_sessions', user_id: id },
			];
			const commit = { expect: [expectVersion('users', user)], write };
			await this.#requireAnotherOwner(user, commit);
			return { commit, result: undefined };
		});
	}

	/** Makes a new link for setting a password in the place of the one before. @throws AppError `not_found`, `insufficient_scope` */
	invite(workspaceId: string, id: string, grantor: Grantor): Promise<Invitation> {
		const token = createToken();
		return decideAndCommit(this.#store, async () => {
			const user = await this.get(workspaceId, id);
			requireGrantable(grantor.scopes, scopesOf(user.role));
			const set = passwordLinkFields(token, this.#clock.now());
			const invitation = { user: { ...user, ...set, version: user.version + 1 }, token };
			const commit: Commit = {
				expect: [expectVersion('users', user)],
				write: [{ op: 'patch', kind: 'users', id, set }],
				idempotency: grantor.receipt?.(invitation),
			};
			return { commit, result: invitation };
		});
	}

	/**
	 * Sets the password of whom a link was made for: once, and who is signed in with the former one is no more.
	 * @throws AppError `invalid_request` where the link is not or no more good, `unavailable`
	 */
	async setPassword(token: string, password: string): Promise<UserRecord> {
		// Before the costly part, which is for those alone who have a link.
		await this.#userOfLink(token);
		const password_hash = await this.#passwords.hash(password, 'preferred');
		return decideAndCommit(this.#store, async () => {
			const user = await this.#userOfLink(token);
			const set = { password_hash, ...NO_PASSWORD_LINK, updated_at: this.#clock.now() };
			const write: Write[] = [
				{ op: 'patch', kind: 'users', id: user.id, set },
				{ op: 'end_sessions', user_id: user.id },
			];
			const result = { ...user, ...set, version: user.version + 1 };
			return { commit: { expect: [expectVersion('users', user)], write }, result };
		});
	}

	async #userOfLink(token: string): Promise<UserRecord> {
		const user = isTokenShaped(token) ? await this.#store.access.userByPasswordLink(hashToken(token)) : undefined;
		if (user && (user.password_link_expires_at ?? 0) > this.#clock.now()) return user;
		throw new AppError('invalid_request', 'This link is not good any more: it was used, replaced, or is too old.', {
			details: [{ path: '/token', message: 'is not good any more' }],
		});
	}

	async #requireUnusedEmail(workspaceId: string, email: string): Promise<void> {
		const where = { email, workspace_id: workspaceId };
		const [other] = await this.#store.list('users', { where, order: 'asc', limit: 1 });
		if (!other) return;
		throw new AppError('invalid_request', 'A user of this workspace has this email already.', {
			details: [{ path: '/email', message: 'is the email of another user' }],
		});
	}

	/** Whoever ceases to be an owner leaves another one behind; the commit sees to it that it is still so. */
	async #requireAnotherOwner(user: UserRecord, commit: CommitParts, path?: string): Promise<void> {
		if (user.role !== 'owner') return;
		addGuard(commit, await workspaceGuardParts(this.#store, user.workspace_id));
		const where = { workspace_id: user.workspace_id, role: 'owner' } as const;
		const owners = await this.#store.list('users', { where, order: 'asc', limit: 2 });
		if (owners.length > 1) return;
		const details = path === undefined ? {} : { details: [{ path, message: 'must stay owner' }] };
		throw new AppError(
			'invalid_request',
			'This is the last owner of the workspace. Make somebody else an owner first.',
			details,
		);
	}
}

type CommitParts = Required<Pick<Commit, 'expect' | 'write'>>;

/** Adds to a commit what is not in it yet. */
function addGuard(commit: CommitParts, { expect, write }: CommitParts): void {
	if (commit.expect.some(({ kind }) => kind === 'workspace_guards')) return;
	commit.expect.push(...expect);
	commit.write.push(...write);
}

function passwordLinkFields(
	token: string,
	now: number,
): Pick<UserRecord, 'password_link_hash' | 'password_link_expires_at'> {
	return { password_link_hash: hashToken(token), password_link_expires_at: now + PASSWORD_LINK_LIFETIME_MS };
}
