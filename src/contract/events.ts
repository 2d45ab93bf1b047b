import { type Static, Type } from 'typebox';
import { type OperationTable, type Scope, withKey } from './operation.ts';
import { AnyObject, OneOf, PageQuery, Strict, Timestamp } from './shapes.ts';

/** The types of events that webhooks and the event log carry (section 6 of the specification). */
export const EVENT_TYPES = [
	'conversation.created',
	'conversation.updated',
	'conversation.closed',
	'message.created',
	'assistant.updated',
	'knowledge_base.indexed',
	'tool.execution_failed',
	'budget.warning',
	'budget.reached',
] as const;

export type EventType = (typeof EVENT_TYPES)[number];

/** The types of notices, which a stream of events has in addition if it asks for them. They are not stored. */
export const NOTICE_TYPES = ['document.updated', 'knowledge_base.updated', 'webhook_delivery.updated'] as const;

export type NoticeType = (typeof NOTICE_TYPES)[number];

/** The scope that reads the resource of a notice. */
export const NOTICE_SCOPES: Readonly<Record<NoticeType, Scope>> = {
	'document.updated': 'knowledge_bases:read',
	'knowledge_base.updated': 'knowledge_bases:read',
	'webhook_delivery.updated': 'webhooks:read',
};

/** An event in the log and in webhooks. */
export const Event = Type.Object({
	id: Type.String(),
	type: OneOf(EVENT_TYPES),
	created_at: Timestamp,
	data: AnyObject({ description: 'The resource as it was at the time of the event.' }),
});
export type Event = Static<typeof Event>;

const { limit, cursor } = PageQuery.properties;

export const EventListQuery = Strict({
	limit,
	cursor,
	stream: Type.Optional(
		Type.Boolean({ description: 'Whether the response is an event stream. Default: by the `Accept` header.' }),
	),
	notices: Type.Optional(
		Type.Boolean({
			description: `Whether an event stream has notices too: ${NOTICE_TYPES.join(', ')}. Default false. Without effect on a page.`,
		}),
	),
	types: Type.Optional(
		Type.String({
			maxLength: 500,
			description: `Only events of these types, separated by commas: ${EVENT_TYPES.join(', ')}.`,
		}),
	),
});

/** The event log. */
export const eventOperations = {
	listEvents: {
		method: 'GET',
		path: '/api/v1/events',
		summary: 'Read the log of events, oldest first',
		description:
			'Events are in the order of their commits. Keep `next_cursor` and send it with the next request to get the events since then; none is skipped. Without a cursor the log is read from its oldest event. Events are kept for 30 days. After the server was restored from a backup, a cursor from after the backup is rejected (`invalid_cursor`): read the log from its beginning.\n\nWith `stream=true`, or with `Accept: text/event-stream`, the response is an event stream: the events after the cursor, and then each new one as soon as it is committed. Without a cursor it starts with the next event. The `id` of each event, which clients send as `Last-Event-ID` when they reconnect, is a cursor. At most 1,000 clients may follow the events of a workspace at once.\n\nWith `notices=true` the stream also has notices: the type as `event`, and in `data` the `type` and the resource as `data`. `document.updated` and `knowledge_base.updated` report each change of a document or knowledge base, also of its status while it is indexed. A notice is not an event: it is not stored, has no `id`, is not sent again after a reconnection, and goes to no webhook. Several changes of a resource in quick succession are one notice with its latest state. `data` of a removed knowledge base is `{"id", "deleted": true}`; a removed document is reported by a notice of its knowledge base. They need the scope `knowledge_bases:read`, too. `webhook_delivery.updated` reports a delivery after an attempt, or when it is sent again; a new delivery is reported by its event.',
		tag: 'Events',
		access: withKey('webhooks:read'),
		query: EventListQuery,
		result: Type.Object({
			data: Type.Array(Event),
			next_cursor: Type.String({
				description: 'Never null: at the end of the log it is the position from which to continue.',
				examples: ['NDcxMQ'],
			}),
		}),
		streams: 'asked',
	},
} as const satisfies OperationTable;
