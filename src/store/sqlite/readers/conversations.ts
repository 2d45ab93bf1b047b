import { columnsOf, decodeRow } from '../../columns/columns.ts';
import type { MessageRecord } from '../../conversation-records.ts';
import type { ConversationsReader, IdleConversation, ListPosition, TranscriptMessage } from '../../readers.ts';
import { hasUnerasedRows } from '../conversation-erasure.ts';
import type { Prepare } from '../statements.ts';
import { LIST_START } from './list.ts';

/** A reply in progress is the last message, unless an earlier reply is being written again. */
const HAS_NO_REPLY_IN_PROGRESS = `NOT EXISTS (
	SELECT 1 FROM messages INDEXED BY messages_in_order
	WHERE conversation_id = conversations.id AND seq = conversations.message_count AND status = 'in_progress'
)`;

/** Queries about conversations and their messages. */
export class SqliteConversationsReader implements ConversationsReader {
	readonly #prepare: Prepare;

	constructor(prepare: Prepare) {
		this.#prepare = prepare;
	}

	async messagesBefore(conversationId: string, seq: number, limit: number): Promise<TranscriptMessage[]> {
		// Tool results may be a thousand times as long as the text, so the query does not read them.
		const rows = this.#prepare(
			`SELECT seq, role, content, status FROM messages WHERE conversation_id = ? AND seq < ? ORDER BY seq DESC LIMIT ?`,
		).all(conversationId, seq, limit);
		return (rows as TranscriptMessage[]).reverse();
	}

	async unfinishedReplies(): Promise<MessageRecord[]> {
		// The index is named because the planner would take the index of all messages, which has the order already.
		const rows = this.#prepare(
			`SELECT ${columnsOf('messages')} FROM messages INDEXED BY messages_unfinished
			 WHERE status = 'in_progress' ORDER BY id`,
		).all();
		return rows.map((row) => decodeRow('messages', row));
	}

	async unfinishedReply(conversationId: string): Promise<MessageRecord | undefined> {
		// The index is named because it has only the few replies in progress; the other index has every message of the conversation.
		const row = this.#prepare(
			`SELECT ${columnsOf('messages')} FROM messages INDEXED BY messages_unfinished
			 WHERE status = 'in_progress' AND conversation_id = ? LIMIT 1`,
		).get(conversationId);
		return row === undefined ? undefined : decodeRow('messages', row);
	}

	async idle(
		workspaceId: string,
		since: number,
		after: ListPosition | undefined,
		limit: number,
	): Promise<IdleConversation[]> {
		const { at, id } = after ?? LIST_START;
		return this.#prepare(
			`SELECT id, coalesce(last_message_at, created_at) AS at, message_count,
				coalesce((SELECT version FROM deployments WHERE id = deployment_id), 0) AS deployment_version
			 FROM conversations
			 WHERE workspace_id = ? AND coalesce(last_message_at, created_at) < ?
			 AND (coalesce(last_message_at, created_at), id) > (?, ?)
			 AND (SELECT retention_days FROM deployments WHERE id = deployment_id) IS NULL
			 AND ${HAS_NO_REPLY_IN_PROGRESS}
			 ORDER BY coalesce(last_message_at, created_at), id LIMIT ?`,
		).all(workspaceId, since, at, id, limit) as IdleConversation[];
	}

	async idleInDeployment(
		deployment: { id: string; version: number },
		since: number,
		after: ListPosition | undefined,
		limit: number,
	): Promise<IdleConversation[]> {
		const { at, id } = after ?? LIST_START;
		// By creation: an index by activity would change with each message. What was created before and is not idle is little.
		return this.#prepare(
			`SELECT id, created_at AS at, message_count, @version AS deployment_version
			 FROM conversations INDEXED BY conversations_by_deployment
			 WHERE deployment_id = @deployment_id AND created_at < @since AND (created_at, id) > (@at, @id)
			 AND coalesce(last_message_at, created_at) < @since AND ${HAS_NO_REPLY_IN_PROGRESS}
			 ORDER BY created_at, id LIMIT @limit`,
		).all({
			...{ deployment_id: deployment.id, version: deployment.version },
			...{ since, at, id, limit },
		}) as IdleConversation[];
	}

	async hasDeploymentRetention(workspaceId: string): Promise<boolean> {
		const found = this.#prepare(
			`SELECT 1 FROM deployments INDEXED BY deployments_by_retention
			 WHERE workspace_id = ? AND retention_days IS NOT NULL LIMIT 1`,
		).get(workspaceId);
		return found !== undefined;
	}

	async hasUnerasedRows(conversationId: string): Promise<boolean> {
		return hasUnerasedRows(this.#prepare, conversationId);
	}

	async closingEventSeq(conversationId: string, messageId: string): Promise<number | undefined> {
		const row = this.#prepare(
			`SELECT seq FROM events WHERE stream = ? AND type IN ('message.completed', 'message.failed')
			 AND data ->> 'message_id' = ? ORDER BY seq DESC LIMIT 1`,
		).get(conversationId, messageId) as { seq: number } | undefined;
		return row?.seq;
	}
}
