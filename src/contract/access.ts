import { type Static, Type } from 'typebox';
import { asAnyone, asUser, type OperationTable, SCOPES, SMALL_BODY, withKey } from './operation.ts';
import { EMAIL_PATTERN } from './patterns.ts';
import {
	Deleted,
	NullableInteger,
	NullableText,
	NullableTimestamp,
	OneOf,
	PageOf,
	PageQuery,
	PageQueryWith,
	Patch,
	Strict,
	Timestamp,
} from './shapes.ts';
import { SingleLineText } from './text-shapes.ts';

const name = SingleLineText({ maxLength: 200, examples: ['Ada'] });
const scopes = Type.Array(OneOf(SCOPES), {
	minItems: 1,
	maxItems: SCOPES.length,
	uniqueItems: true,
	description: '`*` is every scope, those of later versions included.',
	examples: [['assistants:read', 'conversations:read']],
});
const email = Type.String({
	maxLength: 254,
	pattern: EMAIL_PATTERN,
	description: 'Kept in lower case.',
	examples: ['ada@example.com'],
});
const role = OneOf(['owner', 'member'], {
	description: 'Owners may do everything; members everything but settings: keys, users and the workspace.',
});
const retention_days = NullableInteger({
	minimum: 1,
	maximum: 36_500,
	description:
		'Days for which conversations are kept after what was said in them last, whatever their status. Then they are erased for good, without an event, and their open streams end; a change takes effect within a minute. Null: for ever.',
});

export const ApiKey = Type.Object({
	id: Type.String(),
	name,
	prefix: Type.String({ description: 'The first characters, to tell keys apart.', examples: ['sk_4fK9q'] }),
	scopes,
	last_used_at: NullableText({ format: 'date-time', description: 'To the minute.' }),
	expires_at: NullableTimestamp,
	created_at: Timestamp,
});
export type ApiKey = Static<typeof ApiKey>;

/** A key as its creation answers it, and nothing else. */
export const NewApiKey = Type.Object({
	...ApiKey.properties,
	key: Type.String({
		description: 'The key itself. It is shown only here.',
		examples: ['sk_4fK9qT2mXw7Lr8Nc5Vb1Hj6Gd3Ps0Yz4Ua9Ie2Ok7Qx1Wf00a1b2'],
	}),
});
export type NewApiKey = Static<typeof NewApiKey>;

export const ApiKeyCreate = Strict({
	name: Type.Optional(name),
	scopes: Type.Optional(scopes),
	expires_at: Type.Optional(
		NullableText({
			format: 'date-time',
			description: 'Null: never. Absent: when the key expires that makes it, if it does; later is refused.',
		}),
	),
});
export type ApiKeyCreate = Static<typeof ApiKeyCreate>;

export const User = Type.Object({
	id: Type.String(),
	email,
	name,
	role,
	has_password: Type.Boolean({ description: 'False until the person has set one by the link.' }),
	created_at: Timestamp,
	updated_at: Timestamp,
});
export type User = Static<typeof User>;

/** A user with the link for setting a password, as what makes the link answers it, and nothing else. */
export const InvitedUser = Type.Object({
	...User.properties,
	password_link: Type.String({
		description: 'Where the person sets a password, once. It is shown only here.',
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

export const UserPatch = Patch({ email, name, role });
export type UserPatch = Static<typeof UserPatch>;

export const UserListQuery = PageQueryWith({
	role: Type.Optional(OneOf(['owner', 'member'], { description: 'Only users with this role.' })),
});

export const Workspace = Type.Object({
	id: Type.String(),
	name,
	plan: Type.String({
		description: 'What the workspace may use; the server’s operator sets it.',
		examples: ['unlimited'],
	}),
	retention_days,
	created_at: Timestamp,
	updated_at: Timestamp,
});
export type Workspace = Static<typeof Workspace>;

export const WorkspacePatch = Patch({ name, retention_days });
export type WorkspacePatch = Static<typeof WorkspacePatch>;

/** Who is signed in, and where. */
export const Session = Type.Object({
	id: Type.String(),
	user: User,
	workspace: Workspace,
	expires_at: Timestamp,
});
export type Session = Static<typeof Session>;

/** What is typed in, which may be anything: only a password that is set must be a good one. */
export const SignIn = Strict({
	email: Type.String({ minLength: 1, maxLength: 254, examples: ['ada@example.com'] }),
	password: Type.String({ minLength: 1, maxLength: 200, examples: ['correct horse battery staple'] }),
	workspace_id: Type.Optional(
		Type.String({ minLength: 1, maxLength: 100, description: 'For who has an account in several.' }),
	),
});
export type SignIn = Static<typeof SignIn>;

export const PasswordSet = Strict({
	token: Type.String({
		minLength: 1,
		maxLength: 100,
		description: 'What follows the # in the link.',
		examples: ['4fK9qT2mXw7Lr8Nc5Vb1Hj6Gd3Ps0Yz4Ua9Ie2Ok7Qx'],
	}),
	password: Type.String({ minLength: 12, maxLength: 200, examples: ['correct horse battery staple'] }),
});
export type PasswordSet = Static<typeof PasswordSet>;

/** Whose password was set. */
export const PasswordOwner = Type.Object({ user: User, workspace: Workspace });

/** API keys, users, the workspace, and signing in. */
export const accessOperations = {
	listApiKeys: {
		method: 'GET',
		path: '/api/v1/api-keys',
		summary: 'List API keys',
		tag: 'API keys',
		access: withKey('settings:read'),
		query: PageQuery,
		result: PageOf(ApiKey),
	},
	createApiKey: {
		versioned: true,
		secret: true,
		method: 'POST',
		path: '/api/v1/api-keys',
		summary: 'Create an API key',
		description: 'A key grants only scopes that its maker has. The key itself is answered here, and never again.',
		tag: 'API keys',
		access: withKey('settings:write'),
		body: ApiKeyCreate,
		status: 201,
		result: NewApiKey,
	},
	getApiKey: {
		versioned: true,
		method: 'GET',
		path: '/api/v1/api-keys/{id}',
		summary: 'Get an API key',
		tag: 'API keys',
		access: withKey('settings:read'),
		result: ApiKey,
	},
	revokeApiKey: {
		method: 'DELETE',
		path: '/api/v1/api-keys/{id}',
		summary: 'Revoke an API key',
		description: 'At once: also on connections that are open, and event streams that were opened with it end.',
		tag: 'API keys',
		access: withKey('settings:write'),
		result: Deleted,
	},
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
		description: 'The link in the answer lets the person set a password, once, for a day. It is shown only here.',
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
			'A change of role signs the person out everywhere; a change of role or email ends the link for setting a password. The last owner stays one.',
		tag: 'Users',
		access: withKey('settings:write'),
		body: UserPatch,
		result: User,
	},
	deleteUser: {
		method: 'DELETE',
		path: '/api/v1/users/{id}',
		summary: 'Delete a user',
		description: 'Signs the person out everywhere. The last owner cannot be deleted.',
		tag: 'Users',
		access: withKey('settings:write'),
		result: Deleted,
	},
	createPasswordLink: {
		versioned: true,
		secret: true,
		method: 'POST',
		path: '/api/v1/users/{id}/password-link',
		summary: 'Make a new link for setting a password',
		description: 'The link before it is good no more; the password stays until a new one is set.',
		tag: 'Users',
		access: withKey('settings:write'),
		result: InvitedUser,
	},
	getWorkspace: {
		versioned: true,
		method: 'GET',
		path: '/api/v1/workspace',
		summary: 'Get the workspace',
		tag: 'Workspace',
		access: withKey('settings:read'),
		result: Workspace,
	},
	updateWorkspace: {
		versioned: true,
		method: 'PATCH',
		path: '/api/v1/workspace',
		summary: 'Change the workspace',
		tag: 'Workspace',
		access: withKey('settings:write'),
		body: WorkspacePatch,
		result: Workspace,
	},
	createSession: {
		setsCookie: true,
		method: 'POST',
		path: '/api/v1/session',
		summary: 'Sign in',
		description:
			'Sets the cookie `parley_session`. Of several accounts that the email and the password fit, `workspace_id` picks one; without it, it is the oldest. An account that has three older namesakes elsewhere is found by its `workspace_id` alone.\n\nFive sign-ins a minute may fail from one client address (of IPv6: from one /64), and twenty an hour for one account from all addresses together; then the answer is a 429. A browser that has signed in to the account before has the cookie `parley_device`: it may fail five times a minute of its own, whatever others have used up. A new password ends the account’s earlier device cookies.',
		tag: 'Session',
		access: asAnyone,
		body: SignIn,
		maxBodyBytes: SMALL_BODY,
		errors: ['unauthorized', 'csrf_failed', 'rate_limit_exceeded', 'unavailable'],
		status: 201,
		result: Session,
	},
	getSession: {
		method: 'GET',
		path: '/api/v1/session',
		summary: 'Tell who is signed in',
		description: 'The user and the workspace of the session cookie.',
		tag: 'Session',
		access: asUser,
		result: Session,
	},
	deleteSession: {
		setsCookie: true,
		method: 'DELETE',
		path: '/api/v1/session',
		summary: 'Sign out',
		description: 'Ends the session of the cookie and removes the cookie.',
		tag: 'Session',
		access: asUser,
		errors: ['csrf_failed'],
		result: Deleted,
	},
	setPassword: {
		setsCookie: true,
		method: 'POST',
		path: '/api/v1/session/password',
		summary: 'Set a password by its link',
		description:
			'Signs the person out everywhere; the link is good no more. Sets the cookie `parley_device`, by which sign-ins from this browser are counted by themselves.',
		tag: 'Session',
		access: asAnyone,
		body: PasswordSet,
		maxBodyBytes: SMALL_BODY,
		errors: ['csrf_failed', 'rate_limit_exceeded', 'unavailable'],
		result: PasswordOwner,
	},
} as const satisfies OperationTable;
