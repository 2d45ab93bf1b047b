import { type Static, Type } from 'typebox';
import { asAnyone, asUser, type OperationTable, SCOPES, SMALL_BODY } from './operation.ts';
import { Deleted, OneOf, Strict, Timestamp } from './shapes.ts';
import { User } from './users.ts';
import { Workspace } from './workspace.ts';

/** The signed-in user and the workspace. */
export const Session = Type.Object({
	id: Type.String(),
	user: User,
	workspace: Workspace,
	scopes: Type.Array(OneOf(SCOPES), {
		description: 'What the user’s role permits, as the scopes of an API key do. `*` is every scope.',
		examples: [['*']],
	}),
	needs_totp_setup: Type.Boolean({
		description:
			'Whether the workspace requires a second factor that the user has not set up. Until then operations beyond the own account are 403 `second_factor_setup_required`.',
	}),
	expires_at: Timestamp,
});
export type Session = Static<typeof Session>;

/** A sign-in. The rules for passwords apply only when one is set. */
export const SignIn = Strict({
	email: Type.String({ minLength: 1, maxLength: 254, examples: ['ada@example.com'] }),
	password: Type.String({ minLength: 1, maxLength: 200, examples: ['correct horse battery staple'] }),
	workspace_id: Type.Optional(
		Type.String({ minLength: 1, maxLength: 100, description: 'For people with accounts in several workspaces.' }),
	),
});
export type SignIn = Static<typeof SignIn>;

export const PasswordSet = Strict({
	token: Type.String({
		minLength: 1,
		maxLength: 100,
		description: 'The part of the link after the #.',
		examples: ['4fK9qT2mXw7Lr8Nc5Vb1Hj6Gd3Ps0Yz4Ua9Ie2Ok7Qx'],
	}),
	password: Type.String({ minLength: 12, maxLength: 200, examples: ['correct horse battery staple'] }),
});
export type PasswordSet = Static<typeof PasswordSet>;

/** A code of an authenticator app, or a recovery code. */
export const SecondFactorCode = Strict({
	code: Type.String({ minLength: 6, maxLength: 40, pattern: '^[A-Za-z0-9 -]*$', examples: ['492039'] }),
});

/** The ways to sign in. */
export const SignInMethods = Type.Object({
	password: Type.Boolean({ description: 'Whether this browser may sign in with a password.' }),
	oidc: Type.Union(
		[
			Type.Object({
				label: Type.String({ description: 'The name of the identity provider.', examples: ['Example ID'] }),
			}),
			Type.Null(),
		],
		{ description: 'Sign-in by OpenID Connect; null where it is not configured.' },
	),
});

/** An authorization request of OpenID Connect. */
export const AuthorizationRequest = Type.Object({
	url: Type.String({
		description: 'The page of the identity provider, to which the browser goes.',
		examples: ['https://login.example.com/authorize?client_id=parley&response_type=code'],
	}),
});

const parameter = (example: string, description?: string) =>
	Type.Optional(
		Type.String({ minLength: 1, maxLength: 4_000, examples: [example], ...(description && { description }) }),
	);

/** The parameters with which the identity provider sends the browser back. */
export const AuthorizationAnswer = Strict({
	state: Type.String({ minLength: 1, maxLength: 200, examples: ['W1Ze2qXkZ1pUo8kTQ4oN5d2m0aJ7cS9vR3yL6hB8gEI'] }),
	code: parameter('SplxlOBeZQQYbYS6WxSbIA'),
	iss: parameter('https://login.example.com', 'The issuer (RFC 9207).'),
	error: parameter('access_denied', 'In place of the code.'),
	error_description: parameter('The person has cancelled the sign-in.', 'It is ignored.'),
});

/** The user whose password was set. */
export const PasswordOwner = Type.Object({ user: User, workspace: Workspace });

/** Sessions: signing in and out. */
export const sessionOperations = {
	createSession: {
		setsCookie: true,
		method: 'POST',
		path: '/api/v1/session',
		summary: 'Sign in',
		description:
			'Sets the cookie `parley_session`. If the email and the password match several accounts, `workspace_id` selects one; without it, the oldest is used. An account with three older accounts of the same email in other workspaces is found only by its `workspace_id`.\n\nFive sign-ins per minute may fail from one client address (IPv6: from one /64), and twenty per hour for one account from all addresses together. After that the response is a 429. A browser that has signed in to the account before has the cookie `parley_device`: it has its own limit of five failures per minute, independent of other clients. A new password, or a new second factor, revokes the account’s earlier device cookies. The first wrong password of an hour for an account is in the audit log: action `refusePassword`.\n\nFor an account with a second factor, the response to the right password is a 401 `second_factor_required` with the cookie `parley_sign_in`, which is valid for five minutes and for `POST /api/v1/session/second-factor` only.',
		tag: 'Session',
		access: asAnyone,
		body: SignIn,
		maxBodyBytes: SMALL_BODY,
		errors: [
			'unauthorized',
			'second_factor_required',
			'csrf_failed',
			'password_sign_in_disabled',
			'account_deactivated',
			'address_not_allowed',
			'rate_limit_exceeded',
			'unavailable',
		],
		status: 201,
		result: Session,
	},
	continueSignIn: {
		setsCookie: true,
		method: 'POST',
		path: '/api/v1/session/second-factor',
		summary: 'Sign in with the second factor',
		description:
			'The second step, with the cookie `parley_sign_in` of the first. A code is accepted once, a recovery code likewise. Wrong codes count as failed sign-ins, with the same limits; on browsers with the cookie `parley_device`, twenty per hour may also fail for one account, from all of them together. The first wrong code of an hour for an account is in the audit log: action `refuseSecondFactor`.',
		tag: 'Session',
		access: asAnyone,
		body: SecondFactorCode,
		maxBodyBytes: SMALL_BODY,
		errors: [
			'unauthorized',
			'csrf_failed',
			'account_deactivated',
			'address_not_allowed',
			'rate_limit_exceeded',
			'unavailable',
		],
		status: 201,
		result: Session,
	},
	getSignInMethods: {
		method: 'GET',
		path: '/api/v1/session/methods',
		summary: 'Get the ways to sign in',
		description: 'For the page on which people sign in.',
		tag: 'Session',
		access: asAnyone,
		errors: ['address_not_allowed', 'rate_limit_exceeded'],
		result: SignInMethods,
	},
	beginOidcSignIn: {
		setsCookie: true,
		reads: true,
		method: 'POST',
		path: '/api/v1/session/oidc',
		summary: 'Begin a sign-in by OpenID Connect',
		description:
			'The cookie `parley_oidc` binds the sign-in to this browser for ten minutes. The identity provider sends the browser back to `/dashboard`, whose page sends the parameters to `POST /api/v1/session/oidc/callback`. The response is a 404 where the server has no identity provider.',
		tag: 'Session',
		access: asAnyone,
		errors: ['csrf_failed', 'address_not_allowed', 'not_found', 'rate_limit_exceeded', 'identity_provider_failed'],
		result: AuthorizationRequest,
	},
	finishOidcSignIn: {
		setsCookie: true,
		method: 'POST',
		path: '/api/v1/session/oidc/callback',
		summary: 'End a sign-in by OpenID Connect',
		description:
			'With the cookie `parley_oidc` and what the identity provider has added to the address. Each `state` is accepted once. The account is that of the issuer and subject, else that of the verified email address, else a new one; the identity provider gives its role at each sign-in. The session ends after twelve hours.',
		tag: 'Session',
		access: asAnyone,
		body: AuthorizationAnswer,
		examples: {
			'a code': {
				state: 'W1Ze2qXkZ1pUo8kTQ4oN5d2m0aJ7cS9vR3yL6hB8gEI',
				code: 'SplxlOBeZQQYbYS6WxSbIA',
				iss: 'https://login.example.com',
			},
			'an error': { state: 'W1Ze2qXkZ1pUo8kTQ4oN5d2m0aJ7cS9vR3yL6hB8gEI', error: 'access_denied' },
		},
		maxBodyBytes: 4 * SMALL_BODY,
		errors: [
			'unauthorized',
			'csrf_failed',
			'sign_in_refused',
			'account_deactivated',
			'address_not_allowed',
			'not_found',
			'rate_limit_exceeded',
			'identity_provider_failed',
		],
		status: 201,
		result: Session,
	},
	getSession: {
		method: 'GET',
		path: '/api/v1/session',
		summary: 'Get the signed-in user',
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
			'Signs the person out everywhere and revokes the link. Sets the cookie `parley_device`, which gives this browser its own limit of failed sign-ins. On a server that has switched passwords off, only the link of an owner works; the cookie `parley_password` then lets this browser sign in with the password for a quarter of an hour.',
		tag: 'Session',
		access: asAnyone,
		body: PasswordSet,
		maxBodyBytes: SMALL_BODY,
		errors: ['csrf_failed', 'password_sign_in_disabled', 'address_not_allowed', 'rate_limit_exceeded', 'unavailable'],
		result: PasswordOwner,
	},
} as const satisfies OperationTable;
