import { type Static, Type } from 'typebox';
import { EVENT_TYPES, Event } from './events.ts';
import { type OperationTable, withKey } from './operation.ts';
import {
	NullableInteger,
	NullableText,
	NullableTimestamp,
	OneOf,
	PageOf,
	PageQueryWith,
	Strict,
	Timestamp,
} from './shapes.ts';

const DELIVERY_STATUSES = ['pending', 'delivered', 'failed', 'cancelled'] as const;

const status = OneOf(DELIVERY_STATUSES, {
	description:
		'`pending`: an attempt is to come. `failed`: given up after 72 hours of attempts. `cancelled`: the endpoint was disabled.',
});
const event_type = OneOf(EVENT_TYPES);
const status_code = NullableInteger({ description: 'What the endpoint answered; null where there was no answer.' });
const error = NullableText({ description: 'Why it was not delivered, for people.' });

/** What became of one event at one endpoint. */
export const Delivery = Type.Object({
	id: Type.String(),
	webhook_id: Type.String(),
	event_id: Type.String({ description: '`webhook-id` of every attempt: receivers know repeats by it.' }),
	event_type,
	status,
	attempts: Type.Integer({ minimum: 0, description: 'How many there were.' }),
	status_code: NullableInteger({ description: 'Of the last attempt; null where there was no answer.' }),
	error: NullableText({ description: 'Why the last attempt failed, for people.' }),
	next_attempt_at: NullableTimestamp,
	first_attempt_at: NullableText({
		format: 'date-time',
		description: 'Of those since it was last made due: it is tried for 72 hours from here.',
	}),
	created_at: Timestamp,
	updated_at: Timestamp,
	completed_at: NullableTimestamp,
});
export type Delivery = Static<typeof Delivery>;

export const DeliveryAttempt = Type.Object({
	number: Type.Integer({ minimum: 1 }),
	at: Timestamp,
	status_code,
	duration_ms: Type.Integer({ minimum: 0 }),
	error,
	answer: NullableText({
		description: 'The first 2 KiB of what the endpoint answered; null where there was no answer.',
	}),
});
export type DeliveryAttempt = Static<typeof DeliveryAttempt>;

/** A delivery with what was sent and what came of it. */
export const DeliveryDetail = Type.Object({
	...Delivery.properties,
	attempt_log: Type.Array(DeliveryAttempt, { description: 'Every attempt, in order; of more than 200 the last ones.' }),
	event: Event,
});
export type DeliveryDetail = Static<typeof DeliveryDetail>;

export const DeliveryListQuery = PageQueryWith({
	status: Type.Optional(OneOf(DELIVERY_STATUSES, { description: 'Only deliveries in this state.' })),
	event_type: Type.Optional(OneOf(EVENT_TYPES, { description: 'Only deliveries of events of this type.' })),
});

export const WebhookReplay = Strict({
	since: Type.String({
		format: 'date-time',
		description: 'From events of this moment on. They are kept for 30 days.',
		examples: ['2026-11-20T12:00:00.000Z'],
	}),
	until: Type.Optional(
		Type.String({
			format: 'date-time',
			description: 'Up to events of this moment. Default: now.',
			examples: ['2026-11-20T18:00:00.000Z'],
		}),
	),
});
export type WebhookReplay = Static<typeof WebhookReplay>;

export const WebhookReplayed = Type.Object({
	replayed: Type.Integer({ minimum: 0, description: 'How many events are due at the endpoint because of it.' }),
});
export type WebhookReplayed = Static<typeof WebhookReplayed>;

/** What was delivered to webhook endpoints, and what is to be delivered again. */
export const deliveryOperations = {
	listDeliveries: {
		method: 'GET',
		path: '/api/v1/webhooks/{id}/deliveries',
		summary: 'List the deliveries of a webhook endpoint',
		description: 'Kept for 30 days, with their events.',
		tag: 'Webhooks',
		access: withKey('webhooks:read'),
		query: DeliveryListQuery,
		result: PageOf(Delivery),
	},
	getDelivery: {
		method: 'GET',
		path: '/api/v1/webhooks/{id}/deliveries/{delivery_id}',
		summary: 'Get a delivery with its event and every attempt',
		tag: 'Webhooks',
		access: withKey('webhooks:read'),
		result: DeliveryDetail,
	},
	retryDelivery: {
		method: 'POST',
		path: '/api/v1/webhooks/{id}/deliveries/{delivery_id}/retry',
		summary: 'Deliver an event again',
		description:
			'It is due at once, whatever became of it, and tried for 72 hours from its next attempt on. One that is pending is only brought forward.',
		tag: 'Webhooks',
		access: withKey('webhooks:write'),
		errors: ['webhook_disabled'],
		result: Delivery,
	},
	replayWebhook: {
		method: 'POST',
		path: '/api/v1/webhooks/{id}/replay',
		summary: 'Deliver all events of a time again',
		description:
			'Every event of the workspace in this time whose type the endpoint is registered for is due, in order, also those that it has received, and those from before it was registered. Receivers know repeats by `webhook-id`.',
		tag: 'Webhooks',
		access: withKey('webhooks:write'),
		body: WebhookReplay,
		errors: ['webhook_disabled'],
		result: WebhookReplayed,
	},
} as const satisfies OperationTable;
