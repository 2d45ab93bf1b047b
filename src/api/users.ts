import {
	type Caller,
	type CredentialWatch,
	type Invited,
	type Maker,
	passwordLink,
	type Users,
} from '../access/index.ts';
import { timestamp } from '../base/index.ts';
import type { InvitedUser, Operations, User } from '../contract/index.ts';
import type { IdempotencyRecord, Store, UserRecord } from '../store/index.ts';
import { type Handler, type Versioned, versioned } from './call.ts';
import { byCreation, type Cursors } from './cursors.ts';

type UserOperation = 'listUsers' | 'createUser' | 'getUser' | 'updateUser' | 'deleteUser' | 'createPasswordLink';

export interface UsersOptions {
	store: Store;
	users: Users;
	cursors: Cursors;
	watch: CredentialWatch;
	/** This server's address as browsers see it: what links begin with. */
	address: () => string;
}

/** A user as the API shows one. */
export function presentUser(record: UserRecord): User {
	return {
		id: record.id,
		email: record.email,
		name: record.name,
		role: record.role,
		has_password: record.password_hash !== null,
		created_at: timestamp(record.created_at),
		updated_at: timestamp(record.updated_at),
	};
}

/** Users: invite, look at, change, remove. */
export function userHandlers({ store, users, cursors, watch, address }: UsersOptions): {
	[K in UserOperation]: Handler<Operations[K]>;
} {
	const presentInvited = ({ user, token }: Invited): Versioned<InvitedUser> =>
		versioned(
			{
				...presentUser(user),
				password_link: passwordLink(address(), token),
				password_link_expires_at: timestamp(user.password_link_expires_at as number),
			},
			user,
		);

	const makerOf = (
		caller: Caller,
		receipt: (answer: Versioned<InvitedUser>) => IdempotencyRecord | undefined,
	): Maker => ({ scopes: caller.scopes, receipt: (invited) => receipt(presentInvited(invited)) });

	return {
		async listUsers({ caller, query }) {
			const list = `users ${caller.workspaceId} ${query.role ?? ''}`;
			const page = cursors.read(list, query);
			const where = { workspace_id: caller.workspaceId, role: query.role };
			const records = await store.list('users', { ...page, limit: page.limit + 1, where });
			return cursors.page(list, page, records, byCreation, presentUser);
		},

		createUser: async ({ caller, body, receipt }) =>
			presentInvited(await users.create(caller.workspaceId, body, makerOf(caller, receipt))),

		async getUser({ caller, params }) {
			const record = await users.get(caller.workspaceId, params.id);
			return versioned(presentUser(record), record);
		},

		async updateUser({ caller, params, body, ifVersion }) {
			const { scopes, signedIn } = caller;
			const change = { scopes, versions: ifVersion, sparing: signedIn?.session.id };
			const record = await users.change(caller.workspaceId, params.id, body, change);
			await watch.look();
			return versioned(presentUser(record), record);
		},

		async deleteUser({ caller, params, ifVersion }) {
			await users.remove(caller.workspaceId, params.id, ifVersion);
			await watch.look();
			return { id: params.id, deleted: true as const };
		},

		createPasswordLink: async ({ caller, params, receipt }) =>
			presentInvited(await users.invite(caller.workspaceId, params.id, makerOf(caller, receipt))),
	};
}
