import { type Static, Type } from 'typebox';
import { TakenOverBy } from './conversations.ts';
import { type OperationTable, withKey } from './operation.ts';
import { Deleted, PageOf, PageQuery, Strict, Timestamp } from './shapes.ts';
import { MultilineText } from './text-shapes.ts';

const content = MultilineText({
	maxLength: 10_000,
	examples: ['She has called twice about this order.'],
	description: 'Never shown to visitors, sent to models or delivered to webhooks.',
});

/** An internal note of the workspace in a conversation. */
export const Note = Type.Object({
	id: Type.String(),
	conversation_id: Type.String(),
	author: TakenOverBy,
	content,
	created_at: Timestamp,
});
export type Note = Static<typeof Note>;

export const NoteCreate = Strict({ content });

/** Internal notes. */
export const noteOperations = {
	listNotes: {
		method: 'GET',
		path: '/api/v1/conversations/{id}/notes',
		summary: 'List the internal notes of a conversation, oldest first',
		tag: 'Conversations',
		access: withKey('conversations:read'),
		query: PageQuery,
		result: PageOf(Note),
	},
	createNote: {
		unaudited: true,
		method: 'POST',
		path: '/api/v1/conversations/{id}/notes',
		summary: 'Add an internal note to a conversation',
		description: 'Followers of the conversation with an API key or a session get `note.created`; visitors get nothing.',
		tag: 'Conversations',
		access: withKey('conversations:write'),
		body: NoteCreate,
		status: 201,
		result: Note,
	},
	deleteNote: {
		method: 'DELETE',
		path: '/api/v1/conversations/{id}/notes/{note_id}',
		summary: 'Delete an internal note',
		tag: 'Conversations',
		access: withKey('conversations:write'),
		result: Deleted,
	},
} as const satisfies OperationTable;
