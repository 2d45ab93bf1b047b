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

/** What the log shows, and what webhooks carry. */
export const Event = Type.Object({
	id: Type.String(),
	type: OneOf(EVENT_TYPES),
	created_at: Timestamp,
	data: AnyObject({ description: 'The resource concerned, as it was then.' }),
});
export type Event = Static<typeof Event>;

const { limit, cursor } = PageQuery.properties;

export const EventListQuery = Strict({
	limit,
	cursor,
	types: Type.Optional(
		Type.String({ maxLength: 500, description: `Only these, separated by commas: ${EVENT_TYPES.join(', ')}.` }),
	),
});

/** The event log. */
export const eventOperations = {
	listEvents: {
		method: 'GET',
		path: '/api/v1/events',
		summary: 'Read the log of events, oldest first',
		description:
			'In the order in which they happened. Keep `next_cursor` and ask with it again: what has happened since comes next, and nothing is skipped. Without a cursor the log is read from its oldest event. Events are kept for 30 days. Where the server was brought back from a backup, a cursor from after it is refused (`invalid_cursor`): read the log anew.',
		tag: 'Events',
		access: withKey('webhooks:read'),
		query: EventListQuery,
		result: Type.Object({
			data: Type.Array(Event),
			next_cursor: Type.String({
				description: 'Never null: at the end of the log it is where to go on later.',
				examples: ['NDcxMQ'],
			}),
		}),
	},
} as const satisfies OperationTable;
