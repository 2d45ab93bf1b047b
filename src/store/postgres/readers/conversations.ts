import { columnsOf, decodeRow } from '../../columns/columns.ts';
import type { MessageRecord } from '../../conversation-records.ts';
import type { ConversationsReader, IdleConversation, ListPosition, TranscriptMessage } from '../../readers.ts';
import { hasUnerasedRows } from '../conversation-erasure.ts';
import type { Sql } from '../sql.ts';
import { LIST_START } from './list.ts';

/**
 * A reply in progress is the last message, unless an earlier reply is being written again. A subquery for each row keeps the order of
 * the index: a join may read and sort all conversations for one page.
 */
const HAS_NO_REPLY_IN_PROGRESS = `(
	SELECT status FROM messages WHERE conversation_id = conversations.id AND seq = conversations.message_count
) IS DISTINCT FROM 'in_progress'`;

/** Queries about conversations and their messages. */
export class PostgresConversationsReader implements ConversationsReader {
	readonly #sql: Sql;

	constructor(sql: Sql) {
		this.#sql = sql;
	}

	async messagesBefore(conversationId: string, seq: number, limit: number): Promise<TranscriptMessage[]> {
		// Tool results may be a thousand times as long as the text, so the query does not read them.
		const rows = await this.#sql.all<TranscriptMessage>(
			`SELECT seq, role, content, status FROM messages WHERE conversation_id = @id AND seq < @seq ORDER BY seq DESC LIMIT @limit`,
			{ id: conversationId, seq, limit },
		);
		return rows.reverse();
	}

	async unfinishedReplies(): Promise<MessageRecord[]> {
		const rows = await this.#sql.all(
			`SELECT ${columnsOf('messages')} FROM messages WHERE status = 'in_progress' ORDER BY id`,
		);
		return rows.map((row) => decodeRow('messages', row));
	}

	async unfinishedReply(conversationId: string): Promise<MessageRecord | undefined> {
		const row = await this.#sql.get(
			`SELECT ${columnsOf('messages')} FROM messages WHERE status = 'in_progress' AND conversation_id = @id LIMIT 1`,
			{ id: conversationId },
		);
		return row === undefined ? undefined : decodeRow('messages', row);
	}

	idle(
		workspaceId: string,
		since: number,
		after: ListPosition | undefined,
		limit: number,
	): Promise<IdleConversation[]> {
		return this.#sql.all(
			`SELECT id, coalesce(last_message_at, created_at) AS at, message_count,
				coalesce((SELECT version FROM deployments WHERE id = deployment_id), 0) AS deployment_version
			 FROM conversations
			 WHERE workspace_id = @workspace_id AND coalesce(last_message_at, created_at) < @since
			 AND (coalesce(last_message_at, created_at), id) > (@at, @id)
			 AND deployment_id NOT IN (SELECT id FROM deployments WHERE workspace_id = @workspace_id AND retention_days IS NOT NULL)
			 AND ${HAS_NO_REPLY_IN_PROGRESS}
			 ORDER BY coalesce(last_message_at, created_at), id LIMIT @limit`,
			{ workspace_id: workspaceId, since, ...(after ?? LIST_START), limit },
		);
	}

	idleInDeployment(
		deployment: { id: string; version: number },
		since: number,
		after: ListPosition | undefined,
		limit: number,
	): Promise<IdleConversation[]> {
		// By creation: an index by activity would change with each message. What was created before and is not idle is little.
		return this.#sql.all(
			`SELECT id, created_at AS at, message_count, @version::bigint AS deployment_version
			 FROM conversations
			 WHERE deployment_id = @deployment_id AND created_at < @since AND (created_at, id) > (@at, @id)
			 AND coalesce(last_message_at, created_at) < @since AND ${HAS_NO_REPLY_IN_PROGRESS}
			 ORDER BY created_at, id LIMIT @limit`,
			{ deployment_id: deployment.id, version: deployment.version, since, ...(after ?? LIST_START), limit },
		);
	}

	async hasDeploymentRetention(workspaceId: string): Promise<boolean> {
		const found = await this.#sql.get(
			'SELECT 1 FROM deployments WHERE workspace_id = @workspace_id AND retention_days IS NOT NULL LIMIT 1',
			{ workspace_id: workspaceId },
		);
		return found !== undefined;
	}

	hasUnerasedRows(conversationId: string): Promise<boolean> {
		return hasUnerasedRows(this.#sql, conversationId);
	}

	async closingEventSeq(conversationId: string, messageId: string): Promise<number | undefined> {
		const row = await this.#sql.get<{ seq: number }>(
			`SELECT seq FROM events WHERE stream = @stream AND type IN ('message.completed', 'message.failed')
			 AND data::json ->> 'message_id' = @message_id ORDER BY seq DESC LIMIT 1`,
			{ stream: conversationId, message_id: messageId },
		);
		return row?.seq;
	}
}
