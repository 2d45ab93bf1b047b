import { type Static, Type } from 'typebox';
import { type OperationTable, withKey } from './operation.ts';
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
] as const;

export type EventType = (typeof EVENT_TYPES)[number];

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
			'Events are in the order of their commits. Keep `next_cursor` and send it with the next request to get the events since then; none is skipped. Without a cursor the log is read from its oldest event. Events are kept for 30 days. After the server was restored from a backup, a cursor from after the backup is rejected (`invalid_cursor`): read the log from its beginning.\n\nWith `stream=true`, or with `Accept: text/event-stream`, the response is an event stream: the events after the cursor, and then each new one as soon as it is committed. Without a cursor it starts with the next event. The `id` of each event, which clients send as `Last-Event-ID` when they reconnect, is a cursor. At most 1,000 clients may follow the events of a workspace at once.',
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
