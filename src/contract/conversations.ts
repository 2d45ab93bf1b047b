import { type Static, Type } from 'typebox';
import { Message, MessageListQuery } from './messages.ts';
import { type OperationTable, withKey } from './operation.ts';
import {
	Id,
	NullableObject,
	NullableText,
	NullableTimestamp,
	OneOf,
	PageOf,
	PageQueryWith,
	Strict,
	Timestamp,
} from './shapes.ts';

const status = OneOf(['active', 'archived']);

export const EndUser = Type.Object({ id: Type.String(), name: NullableText(), email: NullableText() });
export type EndUser = Static<typeof EndUser>;

export const Conversation = Type.Object({
	id: Type.String(),
	deployment_id: Type.String(),
	assistant_id: Type.String(),
	channel: OneOf(['api', 'widget']),
	status,
	title: NullableText(),
	metadata: Type.Record(Type.String(), Type.Unknown()),
	end_user: NullableObject(EndUser),
	handled_by: OneOf(['model', 'human']),
	message_count: Type.Integer(),
	last_message_at: NullableTimestamp,
	created_at: Timestamp,
	updated_at: Timestamp,
	archived_at: NullableTimestamp,
});
export type Conversation = Static<typeof Conversation>;

export const ConversationListQuery = PageQueryWith({
	deployment_id: Type.Optional(Id('Only conversations of this deployment.')),
	assistant_id: Type.Optional(Id('Only conversations with this assistant.')),
	status: Type.Optional(status),
	end_user_id: Type.Optional(Type.String({ maxLength: 500 })),
	created_after: Type.Optional(Type.String({ format: 'date-time' })),
	created_before: Type.Optional(Type.String({ format: 'date-time' })),
});

/** The query of an event stream. */
export const EventStreamQuery = Strict({
	last_event_id: Type.Optional(
		Type.String({ maxLength: 50, description: 'For clients that cannot send the Last-Event-ID header.' }),
	),
});

/** The events of a conversation's stream, by their SSE event name. */
export const STREAM_EVENTS = [
	'message.created',
	'message.delta',
	'message.completed',
	'message.failed',
	'message.reset',
] as const;
export type StreamEventName = (typeof STREAM_EVENTS)[number];

/** Conversations. */
export const conversationOperations = {
	listConversations: {
		method: 'GET',
		path: '/api/v1/conversations',
		summary: 'List conversations',
		tag: 'Conversations',
		access: withKey('conversations:read'),
		query: ConversationListQuery,
		result: PageOf(Conversation),
	},
	getConversation: {
		versioned: true,
		method: 'GET',
		path: '/api/v1/conversations/{id}',
		summary: 'Get a conversation',
		tag: 'Conversations',
		access: withKey('conversations:read'),
		result: Conversation,
	},
	listConversationMessages: {
		method: 'GET',
		path: '/api/v1/conversations/{id}/messages',
		summary: 'List the messages of a conversation, oldest first',
		tag: 'Conversations',
		access: withKey('conversations:read'),
		query: MessageListQuery,
		result: PageOf(Message),
	},
	followConversation: {
		method: 'GET',
		path: '/api/v1/conversations/{id}/events',
		summary: 'Follow a conversation as an event stream',
		tag: 'Conversations',
		access: withKey('conversations:read'),
		query: EventStreamQuery,
		result: Type.Unknown(),
		streams: 'always',
	},
	stopReply: {
		versioned: true,
		method: 'POST',
		path: '/api/v1/conversations/{id}/stop',
		summary: 'Stop the reply that is being written',
		tag: 'Conversations',
		access: withKey('conversations:write'),
		result: Conversation,
	},
} as const satisfies OperationTable;
