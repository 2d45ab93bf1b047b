import { type Static, Type } from 'typebox';
import { Conversation } from './conversations.ts';
import { Message } from './messages.ts';
import { Note } from './notes.ts';
import { type OperationTable, SMALL_BODY, withKey } from './operation.ts';
import { Id, NullableObject, NullableTimestamp, OneOf, PageOf, PageQuery, Strict, Timestamp } from './shapes.ts';

/** The last message of a conversation, with the beginning of its text. */
export const MessagePreview = Type.Object({
	id: Type.String(),
	role: Message.properties.role,
	author: Message.properties.author,
	text: Type.String({ description: 'The first 300 characters.', examples: ['Where is my order?'] }),
	status: Message.properties.status,
	created_at: Timestamp,
});

/** The newest message that matches a search. */
export const SearchMatch = Type.Object({
	message_id: Type.String(),
	excerpt: Type.String({
		description: 'The text around the first word that was found.',
		examples: ['… Where is my order? …'],
	}),
});

/** A conversation as an inbox shows it. */
export const InboxEntry = Type.Object({
	conversation: Conversation,
	last_message: NullableObject(MessagePreview),
	unread_count: Type.Integer({ description: 'Messages that the user, or the API key, has not read.' }),
	waiting_since: Type.Unsafe<string | null>({
		...NullableTimestamp,
		description: 'Since when the visitor waits for a person; null: it does not wait.',
	}),
	rated_down: Type.Boolean({ description: 'Whether a reply was rated `down`.' }),
	unanswered: Type.Boolean({
		description:
			'Whether the last reply is of the model and failed, or says that there is no answer (`answered_by` is `none`).',
	}),
	match: NullableObject(SearchMatch, { description: 'With `search` only.' }),
});
export type InboxEntry = Static<typeof InboxEntry>;

/** A person who can take care of conversations. */
export const Assignee = Type.Object({
	id: Type.String({ examples: ['user_06gzhmza00001mjww6bbdevcx5ss2c8f'] }),
	name: Type.String({ examples: ['Ada'] }),
});

/** How many conversations need attention. */
export const InboxCounts = Type.Object({
	unread: Type.Integer(),
	waiting: Type.Integer({ description: 'Conversations whose visitor waits for a person.' }),
	assigned: Type.Integer({ description: 'Conversations that are assigned to the user.' }),
});

/** What a reader has read of a conversation. */
export const ReadPosition = Type.Object({
	conversation_id: Type.String(),
	last_read: Type.Integer({
		description: 'How many messages of the conversation are read, counted from its beginning.',
	}),
	unread_count: Type.Integer(),
});

export const ReadRequest = Strict({
	last_read: Type.Optional(
		Type.Integer({
			minimum: 0,
			description:
				'How many messages are read, from the beginning. Default: all. A smaller number marks later ones as unread.',
		}),
	),
});

/** The time before which everything counts as read. */
export const ReadBefore = Type.Object({ read_before: Timestamp });

/** A conversation as a file in JSON, with its internal notes. */
export const ConversationExport = Type.Object({
	conversation: Conversation,
	messages: Type.Array(Message),
	notes: Type.Array(Note),
});

const flag = (description: string) => Type.Optional(Type.Boolean({ description }));

export const InboxQuery = Strict({
	limit: PageQuery.properties.limit,
	cursor: PageQuery.properties.cursor,
	status: Type.Optional(
		OneOf(['active', 'archived'], { default: 'active', description: 'Only conversations in this state.' }),
	),
	deployment_id: Type.Optional(Id('Only conversations of this deployment.')),
	assignee: Type.Optional(Type.String({ maxLength: 100, description: 'The id of a user, `me`, or `none`.' })),
	unread: flag('Only conversations with, or without, unread messages.'),
	waiting: flag('Only conversations whose visitor waits, or does not wait, for a person.'),
	rated_down: flag('Only conversations with, or without, a reply that was rated `down`.'),
	unanswered: flag('Only conversations whose last reply answered nothing, or something.'),
	search: Type.Optional(
		Type.String({
			minLength: 1,
			maxLength: 200,
			description:
				'Only conversations with a message that has all of these words. Words in double quotes must follow each other. The last word may be a beginning.',
			examples: ['refund "three years"'],
		}),
	),
});

/** Conversations that people take care of. */
export const inboxOperations = {
	listInbox: {
		method: 'GET',
		path: '/api/v1/inbox',
		summary: 'List conversations by their last activity, or search in their messages',
		description:
			'The latest activity comes first; with `search`, the newest matching message. A page may have fewer entries than `limit` although `next_cursor` is not null, because each request reads a bounded number of rows: continue with the cursor. The list is derived from the event log within moments after a change.',
		tag: 'Conversations',
		access: withKey('conversations:read'),
		query: InboxQuery,
		result: PageOf(InboxEntry),
	},
	getInboxEntry: {
		method: 'GET',
		path: '/api/v1/conversations/{id}/inbox',
		summary: 'Get a conversation as the inbox shows it',
		tag: 'Conversations',
		access: withKey('conversations:read'),
		result: InboxEntry,
	},
	countInbox: {
		method: 'GET',
		path: '/api/v1/inbox/counts',
		summary: 'Count the active conversations that need attention, up to 100',
		tag: 'Conversations',
		access: withKey('conversations:read'),
		result: InboxCounts,
	},
	listAssignees: {
		method: 'GET',
		path: '/api/v1/inbox/assignees',
		summary: 'List the people to whom a conversation can be assigned',
		tag: 'Conversations',
		access: withKey('conversations:read'),
		query: Strict({ limit: PageQuery.properties.limit, cursor: PageQuery.properties.cursor }),
		result: PageOf(Assignee),
	},
	readConversation: {
		unaudited: true,
		method: 'POST',
		path: '/api/v1/conversations/{id}/read',
		summary: 'Mark messages of a conversation as read',
		description: 'For the user of the session, or for the API key. Others do not see it.',
		tag: 'Conversations',
		access: withKey('conversations:read'),
		body: ReadRequest,
		maxBodyBytes: SMALL_BODY,
		result: ReadPosition,
	},
	exportConversation: {
		method: 'GET',
		path: '/api/v1/conversations/{id}/export',
		summary: 'Export a conversation with all its messages',
		description:
			'A file: with `format=json` the conversation and its messages as the API shows them, with `format=markdown` (`text/markdown`) a text for people. Internal notes are in the JSON only.',
		tag: 'Conversations',
		access: withKey('conversations:read'),
		query: Strict({
			format: Type.Optional(OneOf(['json', 'markdown'], { default: 'json', description: 'The form of the file.' })),
		}),
		result: ConversationExport,
		textForm: 'text/markdown',
	},
	readInbox: {
		unaudited: true,
		method: 'POST',
		path: '/api/v1/inbox/read',
		summary: 'Mark every conversation as read',
		description: 'For the user of the session, or for the API key.',
		tag: 'Conversations',
		access: withKey('conversations:read'),
		result: ReadBefore,
	},
} as const satisfies OperationTable;
