import {
	type Caller,
	type CredentialMonitor,
	hasTotp,
	type Invitation,
	passwordLink,
	resetTotp,
	type Users,
} from '../access/index.ts';
import { AppError, type Clock, timestamp } from '../base/index.ts';
import type { InvitedUser, Operations, User } from '../contract/index.ts';
import type { Store, UserRecord } from '../store/index.ts';
import { type Handler, type VersionedResult, withVersion } from './call.ts';
import { byCreation, type Cursors } from './cursors.ts';

type UserOperation =
	| 'listUsers'
	| 'createUser'
	| 'getUser'
	| 'updateUser'
	| 'deleteUser'
	| 'createPasswordLink'
	| 'resetUserTotp';

export interface UsersOptions {
	store: Store;
	users: Users;
	clock: Clock;
	cursors: Cursors;
	credentialMonitor: CredentialMonitor;
	/** This server's address as browsers see it, with which links begin. */
	address: () => string;
}

/** A user as the API shows it. */
export function presentUser(record: UserRecord): User {
	return {
		id: record.id,
		email: record.email,
		name: record.name,
		role: record.role,
		status: record.deactivated_at === null ? 'active' : 'deactivated',
		has_password: record.password_hash !== null,
		has_oidc: record.oidc_subject !== null,
		has_totp: hasTotp(record),
		created_at: timestamp(record.created_at),
		updated_at: timestamp(record.updated_at),
	};
}

/**
 * A session is no proof of the password: a thief of a session must not replace what protects the account.
 * @throws AppError `invalid_request` for the account of the session
 */
function requireOtherUser({ userSession }: Caller, id: string, sentence: string): void {
	if (userSession?.user.id === id) throw new AppError('invalid_request', sentence);
}

/** Users: invite, read, change, remove. */
export function userHandlers({ store, users, clock, cursors, credentialMonitor, address }: UsersOptions): {
	[K in UserOperation]: Handler<Operations[K]>;
} {
	const presentInvited = ({ user, token }: Invitation): VersionedResult<InvitedUser> =>
		withVersion(
			{
				...presentUser(user),
				password_link: passwordLink(address(), token),
				password_link_expires_at: timestamp(user.password_link_expires_at as number),
			},
			user,
		);

	return {
		async listUsers({ caller, query }) {
			const list = `users ${caller.workspaceId} ${query.role ?? ''}`;
			const page = cursors.read(list, query);
			const where = { workspace_id: caller.workspaceId, role: query.role };
			const records = await store.list('users', { ...page, limit: page.limit + 1, where });
			return cursors.page(list, page, records, byCreation, presentUser);
		},

		createUser: ({ caller, body, commit }) => commit(users.create(caller.workspaceId, body, caller), presentInvited),

		async getUser({ caller, params }) {
			const record = await users.get(caller.workspaceId, params.id);
			return withVersion(presentUser(record), record);
		},

		async updateUser({ caller, params, body, ifMatchVersions, commit }) {
			const { scopes, userSession } = caller;
			const change = { scopes, versions: ifMatchVersions, exceptSessionId: userSession?.session.id };
			const changed = await commit(users.change(caller.workspaceId, params.id, body, change), (record) =>
				withVersion(presentUser(record), record),
			);
			await credentialMonitor.recheckAll();
			return changed;
		},

		async deleteUser({ caller, params, ifMatchVersions, commit }) {
			const removal = users.remove(caller.workspaceId, params.id, { scopes: caller.scopes, versions: ifMatchVersions });
			const deleted = await commit(removal, ({ id }) => ({ id, deleted: true as const }));
			await credentialMonitor.recheckAll();
			return deleted;
		},

		async resetUserTotp({ caller, params, commit }) {
			requireOtherUser(caller, params.id, 'Remove your own second factor with POST /api/v1/session/totp/disable.');
			const reset = resetTotp({ store, users, clock }, caller.workspaceId, params.id, caller);
			const changed = await commit(reset, (record) => withVersion(presentUser(record), record));
			await credentialMonitor.recheckAll();
			return changed;
		},

		async createPasswordLink({ caller, params, commit }) {
			requireOtherUser(caller, params.id, 'Change your own password with PATCH /api/v1/session/account.');
			return commit(users.invite(caller.workspaceId, params.id, caller), presentInvited);
		},
	};
}
