import type { UnansweredReply } from '../../statistics/event-counter.ts';
import { MAX_QUESTION_CHARS, MAX_QUESTIONS } from '../../statistics/limits.ts';
import type { Prepare } from '../statements.ts';

/** Stores the question of a reply that has no answer, unless it is stored already or its message is gone. */
export function storeQuestion(prepare: Prepare, reply: UnansweredReply): void {
	prepare(
		`INSERT OR IGNORE INTO unanswered_questions
			(message_id, workspace_id, conversation_id, deployment_id, assistant_id, question, asked_at)
		 SELECT @message_id, @workspace_id, @conversation_id, @deployment_id, @assistant_id,
			substr(question.content, 1, ${MAX_QUESTION_CHARS}), question.created_at
		 FROM messages AS reply JOIN messages AS question ON question.conversation_id = reply.conversation_id
		 WHERE reply.id = @message_id AND question.seq < reply.seq AND question.role = 'user'
		 ORDER BY question.seq DESC LIMIT 1`,
	).run(reply);
}

/** Removes the oldest questions of a workspace that has too many. */
export function trimQuestions(prepare: Prepare, workspaceId: string): void {
	const { changes } = prepare(
		`DELETE FROM unanswered_questions WHERE message_id IN (
			SELECT message_id FROM unanswered_questions WHERE workspace_id = ?
			ORDER BY asked_at DESC, message_id DESC LIMIT -1 OFFSET ${MAX_QUESTIONS}
		)`,
	).run(workspaceId);
	if (changes > 0) removeEmptyGroups(prepare, workspaceId);
}

/** Removes the questions of a conversation, and the groups that have no other question. Returns how many questions there were. */
export function eraseQuestions(prepare: Prepare, conversationId: string): number {
	const workspaces = prepare('SELECT DISTINCT workspace_id FROM unanswered_questions WHERE conversation_id = ?')
		.pluck()
		.all(conversationId) as string[];
	const { changes } = prepare('DELETE FROM unanswered_questions WHERE conversation_id = ?').run(conversationId);
	for (const workspaceId of workspaces) removeEmptyGroups(prepare, workspaceId);
	return changes;
}

function removeEmptyGroups(prepare: Prepare, workspaceId: string): void {
	prepare(
		`DELETE FROM question_groups WHERE workspace_id = ?
		 AND NOT EXISTS (SELECT 1 FROM unanswered_questions WHERE group_id = question_groups.id)`,
	).run(workspaceId);
}

/** Puts a question into a group, with the terms that it was compared by. */
export function assignGroup(prepare: Prepare, messageId: string, groupId: string, terms: readonly string[]): void {
	prepare('UPDATE unanswered_questions SET group_id = ?, terms = ? WHERE message_id = ? AND group_id IS NULL').run(
		groupId,
		JSON.stringify(terms),
		messageId,
	);
}
