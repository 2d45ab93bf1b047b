import type { Database } from 'better-sqlite3';
import { checkStatement } from './check-statements.ts';
import { Violation } from './violation.ts';

/** Each returns the rows that break a rule of a conversation, named by @id. No row is the rule kept. */
const RULES: ReadonlyArray<readonly [rule: string, sql: string]> = [
	[
		'the messages are numbered from 1 without a gap, and counted',
		`SELECT message_count, (SELECT count(*) FROM messages WHERE conversation_id = @id) AS found,
			(SELECT max(seq) FROM messages WHERE conversation_id = @id) AS last
		 FROM conversations WHERE id = @id AND (message_count <> found OR coalesce(last, 0) <> message_count)`,
	],
	[
		'at most one reply is unfinished',
		`SELECT count(*) AS unfinished FROM messages WHERE conversation_id = @id AND status = 'in_progress'
		 HAVING count(*) > 1`,
	],
	[
		'a person who handles the conversation is never interrupted by a reply of the model',
		`SELECT messages.id FROM messages JOIN conversations ON conversations.id = conversation_id
		 WHERE conversation_id = @id AND messages.status = 'in_progress' AND handled_by = 'human'`,
	],
	[
		'each reply of the model follows its question',
		`SELECT reply.id FROM messages AS reply
		 LEFT JOIN messages AS question ON question.conversation_id = @id AND question.seq = reply.seq - 1
		 WHERE reply.conversation_id = @id AND reply.author ->> 'type' = 'model' AND question.role IS NOT 'user'`,
	],
	[
		'each question has a reply of the model, unless a person has it',
		`SELECT question.id FROM messages AS question
		 LEFT JOIN messages AS reply ON reply.conversation_id = @id AND reply.seq = question.seq + 1
		 WHERE question.conversation_id = @id AND question.role = 'user' AND question.answered_by IS NOT 'human'
		 AND reply.author ->> 'type' IS NOT 'model'`,
	],
	[
		'a message that has ended says so',
		`SELECT id FROM messages WHERE conversation_id = @id
		 AND ((status = 'in_progress') <> (completed_at IS NULL) OR (status = 'failed') <> (error IS NOT NULL))`,
	],
	[
		'a reply is started twice at most',
		'SELECT id, attempts FROM messages WHERE conversation_id = @id AND attempts > 2',
	],
	[
		'rounds and calls are kept for unfinished and failed replies only',
		`SELECT messages.id FROM messages WHERE conversation_id = @id AND status IN ('completed', 'stopped') AND (
			EXISTS (SELECT 1 FROM reply_rounds WHERE message_id = messages.id)
			OR EXISTS (SELECT 1 FROM reply_calls WHERE message_id = messages.id)
		 )`,
	],
	[
		'who handles the conversation is known',
		`SELECT handled_by FROM conversations WHERE id = @id
		 AND ((handled_by = 'human') <> (taken_over_by IS NOT NULL) OR (status = 'archived') <> (archived_at IS NOT NULL))`,
	],
	[
		'a text is open in the log exactly while its reply is unfinished',
		`SELECT opened.data, messages.status FROM events AS opened
		 JOIN messages ON messages.id = opened.data ->> 'message_id'
		 WHERE opened.seq = (SELECT max(seq) FROM events WHERE stream = @id AND data ->> 'text' IS NOT NULL)
		 AND (opened.data ->> 'text' = 'opens') <> (messages.status = 'in_progress')`,
	],
];

/** Checks a conversation after a commit that has changed it. */
export function checkConversation(db: Database, id: string): void {
	for (const [rule, sql] of RULES) {
		const found = checkStatement(db, sql).get({ id });
		if (found !== undefined) throw new Violation(`Rule: ${rule}. In ${id}: ${JSON.stringify(found)}`);
	}
}
