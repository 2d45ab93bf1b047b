import { type Static, Type } from 'typebox';
import { Citation, Message, MessageListQuery, Usage } from './messages.ts';
import { type OperationTable, SMALL_BODY, withKey } from './operation.ts';
import {
	AnyObject,
	Deleted,
	Id,
	NullableInteger,
	NullableObject,
	NullableText,
	NullableTimestamp,
	OneOf,
	PageOf,
	PageQueryWith,
	Patch,
	Strict,
	Timestamp,
} from './shapes.ts';
import { MultilineText, NullableSingleLineText, SingleLineText } from './text-shapes.ts';

const status = OneOf(['active', 'archived']);

export const EndUser = Type.Object({
	id: Type.String({ examples: ['customer-4711'] }),
	name: NullableText(),
	email: NullableText(),
});
export type EndUser = Static<typeof EndUser>;

/** The user or API key that has taken a conversation over. */
export const TakenOverBy = Type.Object({
	id: Type.String({
		description: 'Of the user or the API key.',
		examples: ['user_06gzhmza00001mjww6bbdevcx5ss2c8f'],
	}),
	name: Type.String({ examples: ['Anna'] }),
});
export type TakenOverBy = Static<typeof TakenOverBy>;

export const Conversation = Type.Object({
	id: Type.String(),
	deployment_id: Type.String(),
	assistant_id: Type.String(),
	channel: OneOf(['api', 'widget']),
	status,
	title: NullableText(),
	metadata: AnyObject(),
	end_user: NullableObject(EndUser, { description: 'The visitor, from the visitor’s token.' }),
	handled_by: OneOf(['model', 'human']),
	taken_over_by: NullableObject(TakenOverBy, {
		description: 'Who has taken the conversation over; null: the model answers.',
	}),
	requested_person_at: NullableText({
		format: 'date-time',
		description: 'Since when the visitor waits for a person. Null: no request, or it was withdrawn or taken over.',
	}),
	contact_email: NullableText({ description: 'The e-mail address that the visitor left with a request for a person.' }),
	message_count: Type.Integer(),
	last_message_at: NullableTimestamp,
	created_at: Timestamp,
	updated_at: Timestamp,
	archived_at: NullableTimestamp,
	assignee_id: NullableText({ description: 'The user who takes care of it.' }),
	cost_micros: NullableInteger({
		description:
			'The sum of the known costs of its replies, in millionths of the unit of the server’s currency. Null while there is none.',
	}),
	visitor_id: NullableText({
		description:
			'Whose cost it is: the `visitor_id` in `GET /api/v1/costs`, a keyed hash of the subject of the token or the network address. Null without costs, and where a client of the API has started it.',
	}),
});
export type Conversation = Static<typeof Conversation>;

export const ConversationPatch = Patch({
	title: NullableSingleLineText({ maxLength: 200 }),
	metadata: AnyObject({
		description: 'Merged member by member; null removes one. At most 16 KiB in all.',
	}),
	status,
	assignee_id: NullableText({ maxLength: 100, description: 'The id of a user of the workspace; null: no one.' }),
});
export type ConversationPatch = Static<typeof ConversationPatch>;

export const AgentSaying = Strict({
	content: MultilineText({
		maxLength: 32_000,
		examples: ['This is Kim. How can I help?'],
	}),
	name: Type.Optional(
		SingleLineText({
			maxLength: 200,
			examples: ['Kim'],
			description: "The name that the visitor sees. Default: the user's; none for an API key.",
		}),
	),
});

export const ConversationDeleteQuery = Strict({
	purge: Type.Optional(Type.Boolean({ description: 'Erase it for good, with its messages and events.' })),
});

export const ConversationListQuery = PageQueryWith({
	deployment_id: Type.Optional(Id('Only conversations of this deployment.')),
	assistant_id: Type.Optional(Id('Only conversations with this assistant.')),
	status: Type.Optional(OneOf(['active', 'archived'], { description: 'Only conversations in this state.' })),
	end_user_id: Type.Optional(Type.String({ maxLength: 500, description: 'Only conversations of this visitor.' })),
	requested_person: Type.Optional(
		Type.Boolean({ description: 'Only conversations whose visitor waits for a person, or (false) the others.' }),
	),
	created_after: Type.Optional(Type.String({ format: 'date-time', description: 'Created after this time.' })),
	created_before: Type.Optional(Type.String({ format: 'date-time', description: 'Created before this time.' })),
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
	'tool.started',
	'tool.completed',
	'message.completed',
	'message.failed',
	'message.reset',
	'note.created',
	'note.deleted',
	'presence',
] as const;
export type StreamEventName = (typeof STREAM_EVENTS)[number];

export const PresenceUpdate = Strict({
	state: OneOf(['looking', 'typing', 'left']),
});

/** A person who has a conversation open. */
export const PresentPerson = Type.Object({
	...TakenOverBy.properties,
	state: OneOf(['looking', 'typing']),
});

/** The people of a conversation, as its visitor sees them. */
export const WidgetPeople = Type.Object({
	handled_by: OneOf(['model', 'human']),
	person: NullableObject(Type.Object({ name: NullableText({ examples: ['Anna'] }), typing: Type.Boolean() }), {
		description: 'Who has taken over. The name is null where that was done with an API key.',
	}),
	requested_person_at: NullableText({ format: 'date-time', description: 'Since when the visitor waits for a person.' }),
	people_available: Type.Unsafe<boolean | null>({
		type: ['boolean', 'null'],
		description: 'Whether a person of the workspace has the dashboard open. Null: the visitor does not wait for one.',
	}),
	has_email: Type.Boolean({ description: 'Whether the visitor has left an e-mail address.' }),
});
export type WidgetPeople = Static<typeof WidgetPeople>;

/** A reply that a person may send. It is not stored. */
export const SuggestedReply = Type.Object({
	content: Type.String({ examples: ['The warranty is three years [1].'] }),
	citations: Type.Array(Citation),
	model: Type.String({ description: 'The model that wrote it.', examples: ['builtin/extractive'] }),
	usage: NullableObject(Usage),
	cost_micros: Message.properties.cost_micros,
});

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
	updateConversation: {
		versioned: true,
		method: 'PATCH',
		path: '/api/v1/conversations/{id}',
		summary: 'Change a conversation, archive or reopen it',
		tag: 'Conversations',
		access: withKey('conversations:write'),
		body: ConversationPatch,
		result: Conversation,
	},
	deleteConversation: {
		method: 'DELETE',
		path: '/api/v1/conversations/{id}',
		summary: 'Archive a conversation, or erase it for good',
		tag: 'Conversations',
		access: withKey('conversations:write'),
		query: ConversationDeleteQuery,
		result: Type.Union([Conversation, Deleted]),
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
		description:
			'At most 1,000 clients may follow a conversation at once, and one API key or session may have 20,000 open event streams and replies. Beyond that the response is a 429.',
		tag: 'Conversations',
		access: withKey('conversations:read'),
		query: EventStreamQuery,
		result: Type.Unknown(),
		streams: 'always',
	},
	takeOverConversation: {
		versioned: true,
		method: 'POST',
		path: '/api/v1/conversations/{id}/takeover',
		summary: 'Take a conversation over from the model',
		tag: 'Conversations',
		access: withKey('conversations:write'),
		result: Conversation,
	},
	releaseConversation: {
		versioned: true,
		method: 'POST',
		path: '/api/v1/conversations/{id}/release',
		summary: 'Give a conversation back to the model',
		tag: 'Conversations',
		access: withKey('conversations:write'),
		result: Conversation,
	},
	sayInConversation: {
		unaudited: true,
		errors: ['conversation_archived', 'conversation_not_taken_over'],
		method: 'POST',
		path: '/api/v1/conversations/{id}/messages',
		summary: 'Send a message as a human, in a conversation that was taken over',
		tag: 'Conversations',
		access: withKey('conversations:write'),
		body: AgentSaying,
		status: 201,
		result: Message,
	},
	setPresence: {
		reads: true,
		method: 'POST',
		path: '/api/v1/conversations/{id}/presence',
		summary: 'Show others that you look at a conversation or type in it',
		description:
			'Kept in memory: repeat `looking` within a minute and `typing` within ten seconds. Followers get a `presence` event; the visitor sees who types only if that person has taken over.',
		tag: 'Conversations',
		access: withKey('conversations:write'),
		body: PresenceUpdate,
		maxBodyBytes: SMALL_BODY,
		result: Type.Object({ people: Type.Array(PresentPerson) }),
	},
	suggestReply: {
		reads: true,
		errors: ['usage_limit_reached', 'model_error'],
		method: 'POST',
		path: '/api/v1/conversations/{id}/suggest-reply',
		summary: 'Let the assistant suggest a reply to the last message of the visitor',
		description:
			'It is written with the search and the model of a reply, without tools, and is not stored. A person or key may have 60 suggestions a minute.',
		tag: 'Conversations',
		access: withKey('conversations:write'),
		result: SuggestedReply,
	},
	stopReply: {
		unaudited: true,
		versioned: true,
		method: 'POST',
		path: '/api/v1/conversations/{id}/stop',
		summary: 'Stop the reply that is being written',
		tag: 'Conversations',
		access: withKey('conversations:write'),
		result: Conversation,
	},
} as const satisfies OperationTable;
