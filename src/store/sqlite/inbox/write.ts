import type { InboxWrite } from '../../inbox.ts';
import { LOG_END } from '../log-end.ts';
import type { Prepare } from '../statements.ts';
import { deriveRow } from './derive-row.ts';
import { indexedText, placeOf } from './tables.ts';

/** Rows of the index for each millisecond. The greatest row is an integer that JavaScript represents exactly. */
const ROWS_PER_MS = 4096;

/** Carries out one change of the inbox, inside the caller's transaction. */
export function applyInboxWrite(prepare: Prepare, write: InboxWrite): void {
	switch (write.op) {
		case 'inbox.project':
			project(prepare, write.limit);
			return;
		case 'inbox.refresh':
			deriveRow(prepare, write.conversation_id);
			return;
		case 'inbox.read':
			// Nothing may stay of a conversation that was erased meanwhile.
			prepare(
				`INSERT OR REPLACE INTO inbox_reads (reader, conversation_id, seq)
				 SELECT @reader, id, @seq FROM conversations WHERE id = @conversation_id`,
			).run({ reader: write.reader, conversation_id: write.conversation_id, seq: write.seq });
			return;
		case 'inbox.read_before':
			prepare('INSERT OR REPLACE INTO inbox_readers (reader, read_before) VALUES (?, ?)').run(write.reader, write.at);
			return;
		case 'inbox.rebuild':
			prepare('DELETE FROM inbox_rows').run();
			prepare('DELETE FROM searchable_messages').run();
			prepare("INSERT INTO message_search (message_search) VALUES ('delete-all')").run();
			prepare("UPDATE inbox_progress SET filled_conversation = '', filled_seq = 0").run();
	}
}

interface Progress {
	seq: number;
	/** The last message of the past that is in the inbox; null: all are. */
	filled_conversation: string | null;
	filled_seq: number;
}

function project(prepare: Prepare, limit: number): void {
	const progress = prepare('SELECT seq, filled_conversation, filled_seq FROM inbox_progress').get() as Progress;
	const events = prepare(
		`SELECT seq, subject, CASE type WHEN 'message.created' THEN data ->> 'id' END AS message_id
		 FROM events WHERE seq > ? ORDER BY seq LIMIT ?`,
	).all(progress.seq, limit) as { seq: number; subject: string | null; message_id: string | null }[];
	const changed = new Set<string>();
	for (const { subject, message_id } of events) {
		if (subject !== null) changed.add(subject);
		if (message_id !== null) indexMessage(prepare, message_id);
	}
	for (const id of changed) deriveRow(prepare, id);
	// The last events of the log may have been erased.
	const end = events.length < limit ? (prepare(`SELECT ${LOG_END}`).pluck().get() as number) : 0;
	const seq = Math.max(events.at(-1)?.seq ?? 0, end);
	if (seq > progress.seq) prepare('UPDATE inbox_progress SET seq = ?').run(seq);
	if (progress.filled_conversation !== null && events.length < limit) {
		fill(prepare, progress.filled_conversation, progress.filled_seq, limit - events.length);
	}
}

/** Adds messages from before the inbox existed, in the order of conversations. */
function fill(prepare: Prepare, conversation: string, seq: number, limit: number): void {
	const messages = prepare(
		`SELECT conversation_id, seq, id FROM messages WHERE (conversation_id, seq) > (?, ?)
		 ORDER BY conversation_id, seq LIMIT ?`,
	).all(conversation, seq, limit) as { conversation_id: string; seq: number; id: string }[];
	for (const { id } of messages) indexMessage(prepare, id);
	for (const id of new Set(messages.map(({ conversation_id }) => conversation_id))) deriveRow(prepare, id);
	const last = messages.length < limit ? undefined : messages.at(-1);
	prepare('UPDATE inbox_progress SET filled_conversation = ?, filled_seq = ?').run(
		last?.conversation_id ?? null,
		last?.seq ?? 0,
	);
}

/** Adds a message to the index. A failed reply is not in it, because it may be written again with another text. */
function indexMessage(prepare: Prepare, messageId: string): void {
	const { changes, lastInsertRowid } = prepare(
		`INSERT OR IGNORE INTO searchable_messages (row, message_id, conversation_id)
		 SELECT (
			SELECT coalesce(max(row) + 1, created_at * ${ROWS_PER_MS}) FROM searchable_messages
			WHERE row >= created_at * ${ROWS_PER_MS} AND row < (created_at + 1) * ${ROWS_PER_MS}
		 ), id, conversation_id
		 FROM messages WHERE id = ? AND status IN ('completed', 'stopped') AND content <> ''`,
	).run(messageId);
	if (changes === 0) return;
	prepare(
		`INSERT INTO message_search (rowid, place, text)
		 SELECT ?, ${placeOf('messages')}, ${indexedText('messages')} FROM messages WHERE id = ?`,
	).run(lastInsertRowid, messageId);
}
