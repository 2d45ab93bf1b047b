import type { UnansweredReply } from '../../statistics/event-counter.ts';
import { MAX_QUESTION_CHARS, MAX_QUESTIONS } from '../../statistics/limits.ts';
import type { Sql, Values } from '../sql.ts';

/**
 * Stores the questions of replies that have no answer, unless they are stored already or their messages are gone.
 * @returns the workspaces that have more questions than before
 */
export async function storeQuestions(sql: Sql, replies: readonly UnansweredReply[]): Promise<string[]> {
	const stored = await sql.all<{ workspace_id: string }>(
		`INSERT INTO unanswered_questions
			(message_id, workspace_id, conversation_id, deployment_id, assistant_id, question, asked_at)
		 SELECT reply.id, conversation.workspace_id, conversation.id, deployment_id, assistant_id,
			left(question.content, ${MAX_QUESTION_CHARS}), question.created_at
		 FROM messages AS reply JOIN conversations AS conversation ON conversation.id = reply.conversation_id
		 CROSS JOIN LATERAL (
			SELECT content, created_at FROM messages
			WHERE conversation_id = reply.conversation_id AND seq < reply.seq AND role = 'user' ORDER BY seq DESC LIMIT 1
		 ) AS question
		 WHERE reply.id = ANY(@ids) ON CONFLICT DO NOTHING RETURNING workspace_id`,
		{ ids: replies.map(({ message_id }) => message_id) },
	);
	return [...new Set(stored.map(({ workspace_id }) => workspace_id))];
}

/** Removes the oldest questions of workspaces that have too many. */
export async function trimQuestions(sql: Sql, workspaceIds: readonly string[]): Promise<void> {
	if (workspaceIds.length === 0) return;
	const surplus = `message_id IN (
		SELECT oldest.message_id FROM unnest(@workspaces::text[]) AS workspace (id) CROSS JOIN LATERAL (
			SELECT message_id FROM unanswered_questions WHERE workspace_id = workspace.id
			ORDER BY asked_at DESC, message_id DESC OFFSET ${MAX_QUESTIONS}
		) AS oldest
	)`;
	await removeQuestions(sql, surplus, { workspaces: workspaceIds });
}

/** Removes the questions of a conversation, and the groups that have no other question. Returns how many questions there were. */
export async function eraseQuestions(sql: Sql, id: string): Promise<number> {
	return removeQuestions(sql, 'conversation_id = @id', { id });
}

/** Groups are locked before their questions, as by a node that puts a question into a group. */
async function removeQuestions(sql: Sql, condition: string, values: Values): Promise<number> {
	await sql.all(
		`SELECT id FROM question_groups WHERE id IN (SELECT group_id FROM unanswered_questions WHERE ${condition})
		 ORDER BY id FOR UPDATE`,
		values,
	);
	const removed = await sql.all<{ group_id: string | null }>(
		`DELETE FROM unanswered_questions WHERE ${condition} RETURNING group_id`,
		values,
	);
	const groupIds = new Set(removed.flatMap(({ group_id }) => group_id ?? []));
	if (groupIds.size > 0) await removeEmptyGroups(sql, [...groupIds]);
	return removed.length;
}

const IS_EMPTY = `id = ANY(@ids) AND NOT EXISTS (
	SELECT 1 FROM unanswered_questions WHERE group_id = question_groups.id
)`;

/** The second statement sees the questions that other nodes have put into the groups until they were locked. */
async function removeEmptyGroups(sql: Sql, ids: readonly string[]): Promise<void> {
	await sql.all(`SELECT id FROM question_groups WHERE ${IS_EMPTY} ORDER BY id FOR UPDATE`, { ids });
	await sql.run(`DELETE FROM question_groups WHERE ${IS_EMPTY}`, { ids });
}

/**
 * Puts a question into a group, with the terms that it was compared by. A group that was made for a question that is gone meanwhile,
 * or that another node has put elsewhere, does not stay.
 */
export async function assignGroup(
	sql: Sql,
	messageId: string,
	groupId: string,
	terms: readonly string[],
): Promise<void> {
	const assigned = await sql.run(
		`UPDATE unanswered_questions SET group_id = @group_id, terms = @terms WHERE message_id = @message_id AND group_id IS NULL`,
		{ message_id: messageId, group_id: groupId, terms: JSON.stringify(terms) },
	);
	if (assigned === 0) await removeEmptyGroups(sql, [groupId]);
}
