import { setImmediate as yieldToEventLoop } from 'node:timers/promises';
import type { Sql } from '../sql.ts';
import { toJson } from '../to-json.ts';
import { indexEntry } from './message-index.ts';

/** Of a longer message the beginning is indexed. */
const MAX_INDEXED_CHARS = 32_000;
/** Characters that are separated into words before the event loop may go on. */
const CHARS_PER_STEP = 50_000;

interface MessageText {
	message_id: string;
	workspace_id: string;
	conversation_id: string;
	created_at: number;
	text: string;
}

/**
 * Adds messages to the index, unless they are in it or erased. A failed reply is not in it, because it may be written again with another
 * text. The caller holds the lock of the inbox.
 */
export async function indexMessages(sql: Sql, ids: readonly string[]): Promise<void> {
	if (ids.length === 0) return;
	const messages = await sql.all<MessageText>(
		`SELECT id AS message_id, workspace_id, conversation_id, created_at, left(content, ${MAX_INDEXED_CHARS}) AS text
		 FROM messages WHERE id = ANY(@ids) AND status IN ('completed', 'stopped') AND content <> ''
		 AND NOT EXISTS (SELECT 1 FROM searchable_messages WHERE message_id = messages.id)`,
		{ ids },
	);
	if (messages.length === 0) return;
	const entries: object[] = [];
	let chars = 0;
	for (const { text, ...message } of messages) {
		entries.push({ ...message, ...indexEntry(message.workspace_id, message.created_at, text) });
		chars += text.length;
		if (chars < CHARS_PER_STEP) continue;
		chars = 0;
		await yieldToEventLoop();
	}
	await sql.run(
		`INSERT INTO searchable_messages (message_id, workspace_id, conversation_id, created_at, words, lexemes)
		 SELECT message_id, workspace_id, conversation_id, created_at, words,
			array_to_tsvector(ARRAY(SELECT jsonb_array_elements_text(lexemes)))
		 FROM jsonb_to_recordset(@entries) AS entry (
			message_id text, workspace_id text, conversation_id text, created_at bigint, words text, lexemes jsonb
		 )`,
		{ entries: toJson(entries) },
	);
}
