import { type Static, Type } from 'typebox';
import { EVENT_TYPES } from './events.ts';
import { type OperationTable, withKey } from './operation.ts';
import { URL_PATTERN } from './patterns.ts';
import {
	Deleted,
	NullableInteger,
	NullableText,
	OneOf,
	PageOf,
	PageQuery,
	Patch,
	Strict,
	Timestamp,
} from './shapes.ts';
import { NullableMultilineText } from './text-shapes.ts';

const url = Type.String({
	minLength: 1,
	maxLength: 4000,
	pattern: URL_PATTERN,
	description: 'Receives the deliveries. https, unless the server may connect to private networks.',
	examples: ['https://example.com/hooks/parley'],
});
const events = Type.Array(OneOf([...EVENT_TYPES, '*']), {
	minItems: 1,
	uniqueItems: true,
	description: 'The types of events that it receives, or `["*"]`: all types, also those of later versions.',
	examples: [['message.created']],
});
const description = NullableMultilineText({ maxLength: 2000 });
const status = OneOf(['active', 'disabled'], {
	description:
		'A disabled endpoint receives nothing. The server disables an endpoint whose attempts have all failed for 120 hours.',
});

const SECRET = '`whsec_` and Base64: the key of the signatures.';

export const Webhook = Type.Object({
	id: Type.String(),
	url,
	events,
	description,
	status,
	disabled_reason: NullableText({ description: 'Why it is disabled, for people.' }),
	created_at: Timestamp,
	updated_at: Timestamp,
});
export type Webhook = Static<typeof Webhook>;

/** A webhook endpoint with its secret, which only its creation returns. */
export const NewWebhook = Type.Object({
	...Webhook.properties,
	signing_secret: Type.String({
		description: `${SECRET} It is shown only here.`,
		examples: ['whsec_C2FVsBQIhrscChlQIMV+b5sSYspob7oD'],
	}),
});
export type NewWebhook = Static<typeof NewWebhook>;

export const WebhookCreate = Strict({ url, events, description: Type.Optional(description) });
export type WebhookCreate = Static<typeof WebhookCreate>;

export const WebhookPatch = Patch({
	url,
	events,
	secret: Type.String({
		maxLength: 200,
		description: `\`whsec_\` and the standard Base64 of 24 to 64 bytes. For 24 hours the former secret also signs.`,
		examples: ['whsec_C2FVsBQIhrscChlQIMV+b5sSYspob7oD'],
	}),
	description,
	status,
});
export type WebhookPatch = Static<typeof WebhookPatch>;

export const RotatedSecret = Type.Object({
	new_secret: Type.String({
		description: `${SECRET} It is shown only here.`,
		examples: ['whsec_C2FVsBQIhrscChlQIMV+b5sSYspob7oD'],
	}),
});

/** The result of a ping. */
export const WebhookTest = Type.Object({
	delivered: Type.Boolean({ description: 'Whether the endpoint responded with a status of 2xx within 5 seconds.' }),
	status_code: NullableInteger({ description: 'Null without a response.' }),
	duration_ms: Type.Integer({ minimum: 0 }),
	error: NullableText({ description: 'Why it was not delivered, for people.' }),
});
export type WebhookTest = Static<typeof WebhookTest>;

/** Webhooks. */
export const webhookOperations = {
	listWebhooks: {
		method: 'GET',
		path: '/api/v1/webhooks',
		summary: 'List webhook endpoints',
		tag: 'Webhooks',
		access: withKey('webhooks:read'),
		query: PageQuery,
		result: PageOf(Webhook),
	},
	createWebhook: {
		versioned: true,
		secret: true,
		method: 'POST',
		path: '/api/v1/webhooks',
		summary: 'Register a webhook endpoint',
		description:
			'Each delivery is a `POST` of `{id, type, created_at, data}`, signed twice: `X-Service-Signature` is the hexadecimal HMAC-SHA256 of the raw body, keyed with the whole secret; `webhook-id`, `webhook-timestamp` and `webhook-signature` follow Standard Webhooks, whose libraries verify them. A workspace has at most 50 endpoints.',
		tag: 'Webhooks',
		access: withKey('webhooks:write'),
		body: WebhookCreate,
		status: 201,
		result: NewWebhook,
		errors: ['url_not_allowed', 'plan_limit_exceeded'],
	},
	getWebhook: {
		versioned: true,
		method: 'GET',
		path: '/api/v1/webhooks/{id}',
		summary: 'Get a webhook endpoint',
		tag: 'Webhooks',
		access: withKey('webhooks:read'),
		result: Webhook,
	},
	updateWebhook: {
		versioned: true,
		method: 'PATCH',
		path: '/api/v1/webhooks/{id}',
		summary: 'Change a webhook endpoint, disable or enable it',
		tag: 'Webhooks',
		access: withKey('webhooks:write'),
		body: WebhookPatch,
		result: Webhook,
		errors: ['url_not_allowed'],
	},
	deleteWebhook: {
		method: 'DELETE',
		path: '/api/v1/webhooks/{id}',
		summary: 'Delete a webhook endpoint',
		tag: 'Webhooks',
		access: withKey('webhooks:write'),
		result: Deleted,
	},
	rotateWebhookSecret: {
		secret: true,
		method: 'POST',
		path: '/api/v1/webhooks/{id}/rotate-secret',
		summary: 'Replace the signing secret',
		description:
			'For 24 hours the former secret signs in addition to the new one: `webhook-signature` has a value for each. After several changes within a day, up to ten former secrets sign, each for its own 24 hours.',
		tag: 'Webhooks',
		access: withKey('webhooks:write'),
		result: RotatedSecret,
	},
	testWebhook: {
		method: 'POST',
		path: '/api/v1/webhooks/{id}/test',
		summary: 'Send a ping to a webhook endpoint',
		description:
			'Sent at once, without retries, signed like every delivery, also to a disabled endpoint. `type` is `ping`.',
		tag: 'Webhooks',
		access: withKey('webhooks:write'),
		result: WebhookTest,
	},
} as const satisfies OperationTable;
