import { type Static, Type } from 'typebox';
import { type OperationTable, SCOPES, withKey } from './operation.ts';
import { Deleted, NullableText, NullableTimestamp, OneOf, PageOf, PageQuery, Strict, Timestamp } from './shapes.ts';
import { SingleLineText } from './text-shapes.ts';

const name = SingleLineText({ maxLength: 200, examples: ['Ada'] });
const scopes = Type.Array(OneOf(SCOPES), {
	minItems: 1,
	maxItems: SCOPES.length,
	uniqueItems: true,
	description: '`*` is every scope, also those of later versions.',
	examples: [['assistants:read', 'conversations:read']],
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

/** A key with its secret, which only its creation returns. */
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
			description:
				'Null: never. Absent: when the creating key expires, if it does. A later time than that is rejected.',
		}),
	),
});
export type ApiKeyCreate = Static<typeof ApiKeyCreate>;

/** API keys. */
export const apiKeyOperations = {
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
		description: 'A key can have only scopes that its creator has. The key itself is shown only here.',
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
		description: 'Takes effect at once, also on open connections; event streams that were opened with the key end.',
		tag: 'API keys',
		access: withKey('settings:write'),
		result: Deleted,
	},
} as const satisfies OperationTable;
