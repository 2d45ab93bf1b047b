import { type Static, Type } from 'typebox';
import { asUser, type OperationTable, SMALL_BODY } from './operation.ts';
import { SecondFactorCode } from './session.ts';
import { Deleted, NullableText, PageOf, PageQuery, Strict, Timestamp } from './shapes.ts';
import { SingleLineText } from './text-shapes.ts';
import { User } from './users.ts';

export const OwnSession = Type.Object({
	id: Type.String(),
	is_current: Type.Boolean({ description: 'Whether it is the session of this request.' }),
	user_agent: NullableText({ description: 'The `User-Agent` of the browser that signed in.' }),
	last_used_at: Type.String({ format: 'date-time', description: 'To the hour.' }),
	created_at: Timestamp,
	expires_at: Timestamp,
});
export type OwnSession = Static<typeof OwnSession>;

export const AccountPatch = Strict({
	name: Type.Optional(SingleLineText({ maxLength: 200, examples: ['Ada'] })),
	password: Type.Optional(
		Type.String({
			minLength: 12,
			maxLength: 200,
			description: 'The new password. It needs `current_password`.',
			examples: ['correct horse battery staple'],
		}),
	),
	current_password: Type.Optional(Type.String({ minLength: 1, maxLength: 200, examples: ['correct horse'] })),
});
export type AccountPatch = Static<typeof AccountPatch>;

const PresentPassword = Strict({
	current_password: Type.String({ minLength: 1, maxLength: 200, examples: ['correct horse battery staple'] }),
});

export const TotpSecret = Type.Object({
	secret: Type.String({ description: 'In base32, to be typed into an app.', examples: ['JBSWY3DPEHPK3PXP'] }),
	uri: Type.String({
		description: 'For a QR code.',
		examples: ['otpauth://totp/Parley:ada%40example.com?issuer=Parley&secret=JBSWY3DPEHPK3PXP'],
	}),
});

export const RecoveryCodes = Type.Object({
	recovery_codes: Type.Array(Type.String(), {
		description: 'Each signs in once in place of a code. They are shown only here.',
		examples: [['k3vd-a7zm-pq5w-c4tz']],
	}),
});

/** The account of the signed-in user. */
export const accountOperations = {
	updateAccount: {
		setsCookie: true,
		method: 'PATCH',
		path: '/api/v1/session/account',
		summary: 'Change the own account',
		description:
			'The name, and the password with the present one. A new password signs the user out everywhere else. Wrong present passwords count as failed sign-ins, with the same limits.',
		tag: 'Session',
		access: asUser,
		body: AccountPatch,
		maxBodyBytes: SMALL_BODY,
		examples: { 'a name': { name: 'Ada' } },
		errors: ['unavailable'],
		result: User,
	},
	beginTotp: {
		secret: true,
		method: 'POST',
		path: '/api/v1/session/totp',
		summary: 'Begin to set up a second factor',
		description:
			'Makes the secret of an authenticator app (TOTP, RFC 6238: SHA-1, six digits, 30 seconds). It has no effect until a code of it is confirmed.',
		tag: 'Session',
		access: asUser,
		body: PresentPassword,
		maxBodyBytes: SMALL_BODY,
		errors: ['unavailable'],
		result: TotpSecret,
	},
	confirmTotp: {
		secret: true,
		setsCookie: true,
		method: 'POST',
		path: '/api/v1/session/totp/confirm',
		summary: 'Confirm a second factor',
		description:
			'From now on signing in needs a code. Signs the user out everywhere else, and makes this browser the only known device of the account (`parley_device`). Wrong codes count as failed sign-ins.',
		tag: 'Session',
		access: asUser,
		body: SecondFactorCode,
		maxBodyBytes: SMALL_BODY,
		errors: ['unavailable'],
		result: RecoveryCodes,
	},
	disableTotp: {
		setsCookie: true,
		method: 'POST',
		path: '/api/v1/session/totp/disable',
		summary: 'Remove the second factor',
		description:
			'With the present password: signing in needs it alone again. This browser stays a known device of the account (`parley_device`); others are so after their next sign-in. Wrong passwords count as failed sign-ins.',
		tag: 'Session',
		access: asUser,
		body: PresentPassword,
		maxBodyBytes: SMALL_BODY,
		errors: ['unavailable'],
		result: User,
	},
	listSessions: {
		method: 'GET',
		path: '/api/v1/sessions',
		summary: 'List the own sessions',
		description: 'Those that are valid, at most 50.',
		tag: 'Session',
		access: asUser,
		query: PageQuery,
		result: PageOf(OwnSession),
	},
	endSession: {
		method: 'DELETE',
		path: '/api/v1/sessions/{id}',
		summary: 'End one of the own sessions',
		description: 'Takes effect at once, also on open connections.',
		tag: 'Session',
		access: asUser,
		result: Deleted,
	},
	endOtherSessions: {
		method: 'DELETE',
		path: '/api/v1/sessions',
		summary: 'End all other sessions of the user',
		description: 'The session of the request stays. The other browsers of the user must sign in again.',
		tag: 'Session',
		access: asUser,
		result: Type.Object({ ended: Type.Integer({ description: 'How many sessions were ended.' }) }),
	},
} as const satisfies OperationTable;
