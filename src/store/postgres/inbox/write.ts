import type { InboxWrite } from '../../inbox.ts';
import type { Sql } from '../sql.ts';
import { deriveRows } from './derive-rows.ts';
import { indexMessages } from './index-messages.ts';

/** Carries out one change of the inbox, inside the caller's transaction. */
export async function applyInboxWrite(sql: Sql, write: InboxWrite): Promise<void> {
	switch (write.op) {
		case 'inbox.project':
			await project(sql, write.limit);
			return;
		case 'inbox.refresh':
			await lockProgress(sql);
			await deriveRows(sql, [write.conversation_id]);
			return;
		case 'inbox.read':
			// Nothing may stay of a conversation that is erased meanwhile.
			await sql.run(
				`INSERT INTO inbox_reads (reader, conversation_id, seq)
				 SELECT @reader, id, @seq::bigint FROM conversations WHERE id = @conversation_id FOR KEY SHARE
				 ON CONFLICT (reader, conversation_id) DO UPDATE SET seq = excluded.seq`,
				{ reader: write.reader, conversation_id: write.conversation_id, seq: write.seq },
			);
			return;
		case 'inbox.read_before':
			await sql.run(
				`INSERT INTO inbox_readers (reader, read_before) VALUES (@reader, @at)
				 ON CONFLICT (reader) DO UPDATE SET read_before = excluded.read_before`,
				{ reader: write.reader, at: write.at },
			);
			return;
		case 'inbox.rebuild':
			await lockProgress(sql);
			await sql.run('TRUNCATE inbox_rows, searchable_messages');
			await sql.run("UPDATE inbox_progress SET filled_conversation = '', filled_seq = 0");
	}
}

interface Progress {
	seq: number;
	/** The last message of the past that is in the inbox; null: all are. */
	filled_conversation: string | null;
	filled_seq: number;
}

/**
 * Reads how far the inbox is, and locks that until the transaction ends. Every write of derived rows does this first, and so does the
 * removal of a message or conversation: no row is derived from what another node changes or removes meanwhile.
 */
async function lockProgress(sql: Sql): Promise<Progress> {
	const progress = await sql.get<Progress>(
		'SELECT seq, filled_conversation, filled_seq FROM inbox_progress FOR UPDATE',
	);
	if (progress === undefined) throw new Error('The database has no progress of the inbox.');
	return progress;
}

async function project(sql: Sql, limit: number): Promise<void> {
	const progress = await lockProgress(sql);
	// Before the events: those up to this number are committed by now, or were erased.
	const end = (await sql.get<{ seq: number }>('SELECT seq FROM log_end'))?.seq ?? 0;
	// The data is read here: JSON of PostgreSQL has no escape of the character NUL, which the text of a message may have.
	const events = await sql.all<{ seq: number; subject: string | null; data: string | null }>(
		`SELECT seq, subject, CASE type WHEN 'message.created' THEN data END AS data
		 FROM events WHERE seq > @seq ORDER BY seq LIMIT @limit`,
		{ seq: progress.seq, limit },
	);
	await indexMessages(sql, [...new Set(events.flatMap(({ data }) => messageOf(data) ?? []))]);
	await deriveRows(sql, [...new Set(events.flatMap(({ subject }) => subject ?? []))]);
	const last = events.at(-1)?.seq ?? progress.seq;
	// The last events of the log may have been erased.
	const seq = events.length < limit ? Math.max(last, end) : last;
	if (seq > progress.seq) await sql.run('UPDATE inbox_progress SET seq = @seq', { seq });
	if (progress.filled_conversation !== null && events.length < limit) {
		await fill(sql, progress.filled_conversation, progress.filled_seq, limit - events.length);
	}
}

/** The message that an event reports. Events of a conversation's own stream name none. */
function messageOf(data: string | null): string | null {
	if (data === null) return null;
	const { id } = (JSON.parse(data) ?? {}) as { id?: unknown };
	return typeof id === 'string' ? id : null;
}

/** Adds messages from before the inbox existed, in the order of conversations. */
async function fill(sql: Sql, conversation: string, seq: number, limit: number): Promise<void> {
	const messages = await sql.all<{ conversation_id: string; seq: number; id: string }>(
		`SELECT conversation_id, seq, id FROM messages WHERE (conversation_id, seq) > (@conversation, @seq)
		 ORDER BY conversation_id, seq LIMIT @limit`,
		{ conversation, seq, limit },
	);
	await indexMessages(
		sql,
		messages.map(({ id }) => id),
	);
	await deriveRows(sql, [...new Set(messages.map(({ conversation_id }) => conversation_id))]);
	const last = messages.length < limit ? undefined : messages.at(-1);
	await sql.run('UPDATE inbox_progress SET filled_conversation = @conversation, filled_seq = @seq', {
		conversation: last?.conversation_id ?? null,
		seq: last?.seq ?? 0,
	});
}
