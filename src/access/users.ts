import { AppError, type Clock } from '../base/index.ts';
import type { Role, Scope, User, UserCreate, UserPatch } from '../contract/index.ts';
import {
	type Commit,
	decideAndCommit,
	expectVersion,
	prepareChange,
	requireVersion,
	type Store,
	type UncommittedChange,
	type UserRecord,
	type Write,
} from '../store/index.ts';
import type { AuditWrites } from './audit-writes.ts';
import { hasOtherOwner } from './owners.ts';
import type { Passwords } from './passwords.ts';
import { requireGrantable, requireOwnerRights, scopesOf } from './roles.ts';
import { createToken, hashToken, isTokenShaped } from './secret-token.ts';
import { NO_PASSWORD_LINK, newUser, normaliseEmail, passwordLinkFields } from './user-record.ts';
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

/** The caller that creates a user or a link. A created user may not have more scopes than the grantor. */
export interface Grantor {
	scopes: ReadonlyArray<'*' | Scope>;
}

/** The conditions of a change of a user. */
export interface UserChange {
	scopes: ReadonlyArray<'*' | Scope>;
	/** Versions of the user that may be changed; null: any. */
	versions: readonly number[] | null;
	/** The session that is not revoked when the others are. */
	exceptSessionId?: string | undefined;
}

/** Accounts of one email, each in another workspace, that are read. */
const MAX_ACCOUNTS_PER_EMAIL = 20;

/** The users of a workspace: their accounts, roles and password links. */
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

	/** A user of any workspace. */
	find(id: string): Promise<UserRecord | undefined> {
		return this.#store.get('users', id);
	}

	/** The accounts with this email: in one workspace, or the oldest few of all workspaces. */
	findByEmail(email: string, workspaceId?: string): Promise<UserRecord[]> {
		const where = { email: normaliseEmail(email), ...(workspaceId === undefined ? {} : { workspace_id: workspaceId }) };
		return this.#store.list('users', { where, order: 'asc', limit: MAX_ACCOUNTS_PER_EMAIL });
	}

	/** @throws AppError `invalid_request` where the email is taken, `insufficient_scope` */
	create(workspaceId: string, given: UserCreate, grantor: Grantor): UncommittedChange<Invitation> {
		const token = createToken();
		const user = newUser(workspaceId, given, token, this.#clock.now());
		return prepareChange(this.#store, async () => {
			requireMayGive(user.role, grantor);
			const { expect, write } = await workspaceGuardParts(this.#store, workspaceId);
			await this.#requireUnusedEmail(workspaceId, user.email);
			const insert = { op: 'insert', kind: 'users', record: user } as const;
			return { commit: { expect, write: [insert, ...write] }, result: { user, token } };
		});
	}

	/**
	 * Changes a user. Another role, email or status ends the link for setting a password.
	 * @throws AppError `not_found`, `precondition_failed`, `invalid_request`, `insufficient_scope`
	 */
	change(
		workspaceId: string,
		id: string,
		patch: UserPatch,
		{ scopes, versions, exceptSessionId }: UserChange,
	): UncommittedChange<UserRecord> {
		return prepareChange(this.#store, async () => {
			const user = await this.get(workspaceId, id);
			requireVersion(user, versions);
			if (user.role === 'owner') requireOwnerRights(scopes);
			const { name = user.name, role = user.role, status = statusOf(user) } = patch;
			const isNewStatus = status !== statusOf(user);
			const email = patch.email === undefined ? user.email : normaliseEmail(patch.email);
			// The link was issued for the former role and sent to the former address. It must not become an owner's link, nor stay valid
			// for a recipient who got it by mistake.
			const link = role === user.role && email === user.email && !isNewStatus ? {} : NO_PASSWORD_LINK;
			const now = this.#clock.now();
			const deactivated_at = status === 'active' ? null : (user.deactivated_at ?? now);
			const set = { email, name, role, deactivated_at, ...link, updated_at: now };
			const write: Write[] = [{ op: 'patch', kind: 'users', id, set }];
			const commit = { expect: [expectVersion('users', user)], write };
			if (role !== user.role || isNewStatus) {
				requireMayGive(role, { scopes });
				if (role !== 'owner') await this.#requireAnotherOwner(user, commit, '/role');
				else if (deactivated_at !== null) await this.#requireAnotherOwner(user, commit, '/status');
			}
			if (isNewStatus) write.push({ op: 'end_sessions', user_id: id });
			else if (role !== user.role) {
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

	/**
	 * Removes a user and revokes the user's sessions.
	 * @throws AppError `not_found`, `precondition_failed`, `invalid_request`, `insufficient_scope`
	 */
	remove(
		workspaceId: string,
		id: string,
		{ scopes, versions }: Omit<UserChange, 'exceptSessionId'>,
	): UncommittedChange<UserRecord> {
		return prepareChange(this.#store, async () => {
			const user = await this.get(workspaceId, id);
			requireVersion(user, versions);
			if (user.role === 'owner') requireOwnerRights(scopes);
			const write: Write[] = [
				{ op: 'remove', kind: 'users', id },
				{ op: 'end_sessions', user_id: id },
			];
			const commit = { expect: [expectVersion('users', user)], write };
			await this.#requireAnotherOwner(user, commit);
			return { commit, result: user };
		});
	}

	/** Replaces the user's link for setting a password. @throws AppError `not_found`, `insufficient_scope` */
	invite(workspaceId: string, id: string, grantor: Grantor): UncommittedChange<Invitation> {
		const token = createToken();
		return prepareChange(this.#store, async () => {
			const user = await this.get(workspaceId, id);
			requireMayGive(user.role, grantor);
			const set = passwordLinkFields(token, this.#clock.now());
			const commit: Commit = {
				expect: [expectVersion('users', user)],
				write: [{ op: 'patch', kind: 'users', id, set }],
			};
			return { commit, result: { user: { ...user, ...set, version: user.version + 1 }, token } };
		});
	}

	/**
	 * Sets the password of a link's user, once, and revokes the user's sessions.
	 * @param requireSettable throws for users whose password is not set by links
	 * @throws AppError `invalid_request` where the link is not valid, `unavailable`
	 */
	async setPassword(
		token: string,
		password: string,
		audit: AuditWrites = () => [],
		requireSettable: (user: UserRecord) => void = () => {},
	): Promise<UserRecord> {
		// Checked before the costly hash, which only holders of a link may cause.
		requireSettable(await this.#userOfLink(token));
		const password_hash = await this.#passwords.hash(password, 'preferred');
		return decideAndCommit(this.#store, async () => {
			const user = await this.#userOfLink(token);
			requireSettable(user);
			const set = { password_hash, ...NO_PASSWORD_LINK, updated_at: this.#clock.now() };
			const write: Write[] = [
				{ op: 'patch', kind: 'users', id: user.id, set },
				{ op: 'end_sessions', user_id: user.id },
				...audit(user, user),
			];
			const result = { ...user, ...set, version: user.version + 1 };
			return { commit: { expect: [expectVersion('users', user)], write }, result };
		});
	}

	async #userOfLink(token: string): Promise<UserRecord> {
		const user = isTokenShaped(token) ? await this.#store.access.userByPasswordLink(hashToken(token)) : undefined;
		if (user && (user.password_link_expires_at ?? 0) > this.#clock.now()) return user;
		throw new AppError('invalid_request', 'This link is not valid: it was used or replaced, or it has expired.', {
			details: [{ path: '/token', message: 'is not valid' }],
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

	/** Requires another owner where one is removed or demoted. The commit checks that this still holds. */
	async #requireAnotherOwner(user: UserRecord, commit: CommitParts, path?: string): Promise<void> {
		if (user.role !== 'owner') return;
		addGuard(commit, await workspaceGuardParts(this.#store, user.workspace_id));
		if (await hasOtherOwner(this.#store, user)) return;
		const message = path === '/status' ? 'must stay active' : 'must stay owner';
		const details = path === undefined ? {} : { details: [{ path, message }] };
		throw new AppError(
			'invalid_request',
			'This is the last active owner of the workspace. Make another user an owner first.',
			details,
		);
	}
}

/** @throws AppError `insufficient_scope` */
function requireMayGive(role: Role, { scopes }: Grantor): void {
	if (role === 'owner') requireOwnerRights(scopes);
	requireGrantable(scopes, scopesOf(role));
}

function statusOf({ deactivated_at }: UserRecord): User['status'] {
	return deactivated_at === null ? 'active' : 'deactivated';
}

type CommitParts = Required<Pick<Commit, 'expect' | 'write'>>;

/** Adds parts to a commit that it does not have yet. */
function addGuard(commit: CommitParts, { expect, write }: CommitParts): void {
	if (commit.expect.some(({ kind }) => kind === 'workspace_guards')) return;
	commit.expect.push(...expect);
	commit.write.push(...write);
}
