import { type OutgoingEvent, outgoingEvents } from '../outgoing-events.ts';
import type { Components, JsonSchema } from './components.ts';
import { exampleId, exampleOf } from './examples.ts';
import { pascalCase } from './names.ts';

const text = (example: string) => ({ type: 'string', examples: [example] });

const HEADERS: Readonly<Record<string, { description: string; schema: JsonSchema }>> = {
	'X-Service-Signature': {
		description:
			'Lower-case hexadecimal HMAC-SHA256 of the raw body, keyed with the newest secret: the whole text as UTF-8.',
		schema: {
			type: 'string',
			pattern: '^[0-9a-f]{64}$',
			examples: ['3d7c1a0e9b5f42c86ad0e17f5b9c2d4e8f6a3b1c0d9e7f5a2b4c6d8e0f1a3b5c'],
		},
	},
	'X-Service-Timestamp': { description: 'Unix seconds of this attempt.', schema: text('1795176000') },
	'X-Service-Event': { description: 'The type of the event.', schema: text('message.created') },
	'webhook-id': {
		description: 'The id of the event, the same in every attempt. Receivers recognise repeats by it.',
		schema: text(exampleId('event')),
	},
	'webhook-timestamp': {
		description: 'Unix seconds of this attempt. They are signed: reject old ones, which may be replays.',
		schema: text('1795176000'),
	},
	'webhook-signature': {
		description:
			'Standard Webhooks: `v1,` and the Base64 HMAC-SHA256 of `webhook-id.webhook-timestamp.body`, keyed with the bytes behind `whsec_`. Two of them, separated by a space, for 24 hours after a change of the secret.',
		schema: text('v1,K5oZfzN95Z9UVu1EsfQmfVNQhnkZ2pj9o9NDN/H/pI4='),
	},
};

/** What this server sends to webhook endpoints, as the `webhooks` of an OpenAPI document (3.1), by type. */
export function outgoingWebhooks(components: Components): Record<string, object> {
	return Object.fromEntries(
		Object.entries(outgoingEvents).map(([type, event]) => [type, { post: describe(type, event, components) }]),
	);
}

function describe(type: string, { summary, body }: OutgoingEvent, components: Components): object {
	const name = pascalCase(type);
	return {
		operationId: `on${name}`,
		summary,
		description:
			type === 'ping'
				? 'Sent once, by `testWebhook`.'
				: 'Sent, in order, to the active endpoints that are registered for it. Failed attempts are retried with growing delays for up to 72 hours.',
		tags: ['Webhooks'],
		// The signature authenticates the sender.
		security: [],
		parameters: Object.entries(HEADERS).map(([header, its]) =>
			components.shared('parameters', header, () => ({ name: header, in: 'header', required: true, ...its })),
		),
		requestBody: {
			required: true,
			content: {
				'application/json': {
					schema: components.named(`${name}Delivery`, () => components.schema(body)),
					example: exampleOf(body, 'event'),
				},
			},
		},
		responses: {
			default: {
				description:
					'A status of 2xx within 5 seconds is a success. Any other response, redirects included, is a failure; its `Retry-After` may lengthen the delay before the next attempt up to twofold. The first 2 KiB of the body are stored with the delivery.',
			},
		},
	};
}
