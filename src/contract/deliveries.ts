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
		'`pending`: an attempt will follow. `failed`: given up after 72 hours of attempts. `cancelled`: the endpoint was disabled.',
});
const event_type = OneOf(EVENT_TYPES);
const status_code = NullableInteger({ description: 'The status of the endpoint’s response; null without a response.' });
const error = NullableText({ description: 'Why it was not delivered, for people.' });

/** The delivery of one event to one endpoint. */
export const Delivery = Type.Object({
	id: Type.String(),
	webhook_id: Type.String(),
	event_id: Type.String({ description: 'The `webhook-id` of every attempt. Receivers recognise repeats by it.' }),
	event_type,
	status,
	attempts: Type.Integer({ minimum: 0, description: 'Number of attempts so far.' }),
	status_code: NullableInteger({ description: 'Of the last attempt; null without a response.' }),
	error: NullableText({ description: 'Why the last attempt failed, for people.' }),
	next_attempt_at: NullableTimestamp,
	first_attempt_at: NullableText({
		format: 'date-time',
		description: 'Since the delivery was last made due. Retries end 72 hours after this time.',
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
		description: 'The first 2 KiB of the endpoint’s response; null without a response.',
	}),
});
export type DeliveryAttempt = Static<typeof DeliveryAttempt>;

/** A delivery with its event and its attempts. */
export const DeliveryDetail = Type.Object({
	...Delivery.properties,
	attempt_log: Type.Array(DeliveryAttempt, { description: 'The last 200 attempts, in order.' }),
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
		description: 'Replays events from this time on. Events are kept for 30 days.',
		examples: ['2026-11-20T12:00:00.000Z'],
	}),
	until: Type.Optional(
		Type.String({
			format: 'date-time',
			description: 'Replays events up to this time. Default: now.',
			examples: ['2026-11-20T18:00:00.000Z'],
		}),
	),
});
export type WebhookReplay = Static<typeof WebhookReplay>;

export const WebhookReplayed = Type.Object({
	replayed: Type.Integer({ minimum: 0, description: 'Number of events that were made due.' }),
});
export type WebhookReplayed = Static<typeof WebhookReplayed>;

/** Deliveries to webhook endpoints. */
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
			'Makes the delivery due at once, whatever its status, and retries it for 72 hours from its next attempt. The 72 hours of a pending delivery do not start again.',
		tag: 'Webhooks',
		access: withKey('webhooks:write'),
		errors: ['webhook_disabled'],
		result: Delivery,
	},
	replayWebhook: {
		method: 'POST',
		path: '/api/v1/webhooks/{id}/replay',
		summary: 'Deliver all events of a time range again',
		description:
			'Makes due, in order, every event of the workspace in this time range whose type the endpoint is registered for. This includes events that it has received and events from before its registration. Receivers recognise repeats by `webhook-id`.',
		tag: 'Webhooks',
		access: withKey('webhooks:write'),
		body: WebhookReplay,
		errors: ['webhook_disabled'],
		result: WebhookReplayed,
	},
} as const satisfies OperationTable;
