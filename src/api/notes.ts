import { AppError } from '../base/index.ts';
import type { Operations } from '../contract/index.ts';
import { type Conversations, presentNote } from '../conversations/index.ts';
import type { Store } from '../store/index.ts';
import { type Handler, personOf } from './call.ts';
import { byCreation, type Cursors } from './cursors.ts';

export interface NoteHandlersOptions {
	store: Store;
	conversations: Conversations;
	cursors: Cursors;
}

/** Internal notes in conversations. */
export function noteHandlers({ store, conversations, cursors }: NoteHandlersOptions): {
	[K in 'listNotes' | 'createNote' | 'deleteNote']: Handler<Operations[K]>;
} {
	return {
		async listNotes({ caller, params, query }) {
			const conversation = await store.get('conversations', params.id);
			if (conversation?.workspace_id !== caller.workspaceId) {
				throw new AppError('not_found', 'The conversation does not exist.');
			}
			const list = `notes ${conversation.id}`;
			const page = cursors.read(list, query, 'asc');
			const where = { conversation_id: conversation.id };
			const records = await store.list('notes', { ...page, limit: page.limit + 1, where });
			return cursors.page(list, page, records, byCreation, presentNote);
		},

		async createNote({ caller, params, body, requestReceipt }) {
			const note = { workspaceId: caller.workspaceId, author: personOf(caller), content: body.content };
			return presentNote(await conversations.addNote(params.id, note, requestReceipt()));
		},

		async deleteNote({ caller, params, auditWrites }) {
			const writes = auditWrites({ id: params.note_id });
			await conversations.removeNote(params.id, { workspaceId: caller.workspaceId, noteId: params.note_id, writes });
			return { id: params.note_id, deleted: true as const };
		},
	};
}
