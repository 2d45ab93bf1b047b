import { AppError, newId } from '../base/index.ts';
import type { TakenOverBy } from '../contract/index.ts';
import { type Commit, type ConversationRecord, expectVersion, type NoteRecord, type Write } from '../store/index.ts';
import { noteEvent } from './conversation-events.ts';
import { requireSameWorkspace } from './not-found.ts';

/** An internal note on its way into a conversation. */
export interface NewNote {
	workspaceId: string;
	author: TakenOverBy;
	content: string;
}

/** An internal note to delete. */
export interface NoteRemoval {
	workspaceId: string;
	noteId: string;
	/** Written with it. */
	writes?: readonly Write[];
}

/**
 * The commit that adds an internal note. Its event is for the followers of the conversation only, and visitors among them do not get
 * it: no webhook and no log of the workspace has a note. The conversation itself does not change.
 * @throws AppError `not_found`
 */
export function addNote(
	record: ConversationRecord,
	{ workspaceId, author, content }: NewNote,
	now: number,
): { commit: Commit; note: NoteRecord } {
	requireSameWorkspace(record, workspaceId);
	const note: NoteRecord = {
		id: newId('note'),
		version: 1,
		workspace_id: workspaceId,
		conversation_id: record.id,
		author,
		content,
		created_at: now,
	};
	const commit: Commit = {
		expect: [expectVersion('conversations', record)],
		write: [{ op: 'insert', kind: 'notes', record: note }],
		events: [noteEvent(record, 'note.created', note.id, now)],
	};
	return { commit, note };
}

/**
 * The commit that deletes an internal note.
 * @throws AppError `not_found`
 */
export function removeNote(
	record: ConversationRecord,
	{ workspaceId, writes = [] }: NoteRemoval,
	note: NoteRecord | undefined,
	now: number,
): Commit {
	requireSameWorkspace(record, workspaceId);
	if (note?.conversation_id !== record.id) throw new AppError('not_found', 'The note does not exist.');
	return {
		expect: [expectVersion('conversations', record)],
		write: [{ op: 'remove', kind: 'notes', id: note.id }, ...writes],
		events: [noteEvent(record, 'note.deleted', note.id, now)],
	};
}
