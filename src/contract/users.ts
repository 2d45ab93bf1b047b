import { type Static, Type } from 'typebox';
import { type OperationTable, withKey } from './operation.ts';
import { EMAIL_PATTERN } from './patterns.ts';
import { Deleted, OneOf, PageOf, PageQueryWith, Patch, Strict, Timestamp } from './shapes.ts';
import { SingleLineText } from './text-shapes.ts';

const name = SingleLineText({ maxLength: 200, examples: ['Ada'] });
const email = Type.String({
	maxLength: 254,
	pattern: EMAIL_PATTERN,
	description: 'Kept in lower case.',
	examples: ['ada@example.com'],
});

/** The roles of users, the most powerful first. `ROLE_SCOPES` in access/ says what each may do. */
export const ROLES = ['owner', 'admin', 'member', 'agent', 'viewer'] as const;
export type Role = (typeof ROLES)[number];

const role = OneOf(ROLES, {
	description:
		'Owners may do everything; admins everything but change owners; members everything but settings (keys, users, the workspace, the audit log); agents read assistants, knowledge bases, deployments and events, and read and change conversations; viewers read everything but settings.',
});

export const USER_STATUSES = ['active', 'deactivated'] as const;

const status = OneOf(USER_STATUSES, {
	description: 'A deactivated person cannot sign in, by any way. The account and its name stay.',
});

export const User = Type.Object({
	id: Type.String(),
	email,
	name,
	role,
	status,
	has_password: Type.Boolean({ description: 'False until the person has set one by the link.' }),
	has_oidc: Type.Boolean({ description: 'Whether the person has signed in by OpenID Connect.' }),
	has_totp: Type.Boolean({ description: 'Whether signing in needs a code of an authenticator app.' }),
	created_at: Timestamp,
	updated_at: Timestamp,
});
export type User = Static<typeof User>;

/** A user with the link for setting a password, which only the operation that creates the link returns. */
export const InvitedUser = Type.Object({
	...User.properties,
	password_link: Type.String({
		description: 'The page on which the person sets a password, once. It is shown only here.',
		examples: ['https://chat.example.com/set-password#4fK9qT2mXw7Lr8Nc5Vb1Hj6Gd3Ps0Yz4Ua9Ie2Ok7Qx'],
	}),
	password_link_expires_at: Timestamp,
});
export type InvitedUser = Static<typeof InvitedUser>;

export const UserCreate = Strict({
	email,
	name: Type.Optional(name),
	role: Type.Optional(role),
});
export type UserCreate = Static<typeof UserCreate>;

export const UserPatch = Patch({ email, name, role, status });
export type UserPatch = Static<typeof UserPatch>;

export const UserListQuery = PageQueryWith({
	role: Type.Optional(OneOf(ROLES, { description: 'Only users with this role.' })),
});

/** Users. */
export const userOperations = {
	listUsers: {
		method: 'GET',
		path: '/api/v1/users',
		summary: 'List users',
		tag: 'Users',
		access: withKey('settings:read'),
		query: UserListQuery,
		result: PageOf(User),
	},
	createUser: {
		versioned: true,
		secret: true,
		method: 'POST',
		path: '/api/v1/users',
		summary: 'Create a user',
		description: 'The link in the response lets the person set a password, once, within a day. It is shown only here.',
		tag: 'Users',
		access: withKey('settings:write'),
		body: UserCreate,
		status: 201,
		result: InvitedUser,
	},
	getUser: {
		versioned: true,
		method: 'GET',
		path: '/api/v1/users/{id}',
		summary: 'Get a user',
		tag: 'Users',
		access: withKey('settings:read'),
		result: User,
	},
	updateUser: {
		versioned: true,
		method: 'PATCH',
		path: '/api/v1/users/{id}',
		summary: 'Change a user',
		description:
			'A change of role or the status `deactivated` signs the person out everywhere. A change of role or email, and the status `deactivated`, revoke the link for setting a password. Only an owner, or a key with every scope, may change an owner. The last active owner cannot get another role or be deactivated.',
		tag: 'Users',
		access: withKey('settings:write'),
		body: UserPatch,
		result: User,
	},
	deleteUser: {
		method: 'DELETE',
		path: '/api/v1/users/{id}',
		summary: 'Delete a user',
		description:
			'Signs the person out everywhere. Only an owner, or a key with every scope, may delete an owner. The last active owner cannot be deleted.',
		tag: 'Users',
		access: withKey('settings:write'),
		result: Deleted,
	},
	resetUserTotp: {
		versioned: true,
		method: 'POST',
		path: '/api/v1/users/{id}/reset-totp',
		summary: 'Remove the second factor of a user',
		description:
			'For people who have lost their authenticator app and their recovery codes. Signs the person out everywhere. Only an owner, or a key with every scope, may do it for an owner. A session cannot do it for its own account: [remove the own second factor](#operation/disableTotp) with the password.',
		tag: 'Users',
		access: withKey('settings:write'),
		result: User,
	},
	createPasswordLink: {
		versioned: true,
		secret: true,
		method: 'POST',
		path: '/api/v1/users/{id}/password-link',
		summary: 'Make a new link for setting a password',
		description:
			'Revokes the former link. The password stays valid until a new one is set. A session cannot do it for its own account: [change the own password](#operation/updateAccount) with the present one.',
		tag: 'Users',
		access: withKey('settings:write'),
		result: InvitedUser,
	},
} as const satisfies OperationTable;
