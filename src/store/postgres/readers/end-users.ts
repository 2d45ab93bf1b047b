import { columnsOf, decodeRow } from '../../columns/columns.ts';
import type { StoredEvent } from '../../commit.ts';
import type { EndUsersReader, StoredAnswer, UnansweredQuestion } from '../../readers.ts';
import type { DeliveryRecord } from '../../records.ts';
import type { SpendingDay } from '../../spending.ts';
import type { Sql } from '../sql.ts';
import { decodeEvent, type EventRow } from './events.ts';

/** Queries about what is stored with the conversations of an end user. */
export class PostgresEndUsersReader implements EndUsersReader {
	readonly #sql: Sql;

	constructor(sql: Sql) {
		this.#sql = sql;
	}

	async eventsAbout(conversationId: string, seq: number, limit: number): Promise<StoredEvent[]> {
		const rows = await this.#sql.all<EventRow>(
			`SELECT seq, id, stream, type, data, subject, created_at FROM events WHERE seq IN (
				(SELECT seq FROM events WHERE subject = @id AND seq > @seq ORDER BY seq LIMIT @limit)
				UNION (SELECT seq FROM events WHERE stream = @id AND seq > @seq ORDER BY seq LIMIT @limit)
			 ) ORDER BY seq LIMIT @limit`,
			{ id: conversationId, seq, limit },
		);
		return rows.map(decodeEvent);
	}

	async deliveriesOf(seq: number): Promise<DeliveryRecord[]> {
		const rows = await this.#sql.all(`SELECT ${columnsOf('deliveries')} FROM deliveries WHERE event_seq = @seq`, {
			seq,
		});
		return rows.map((row) => decodeRow('deliveries', row));
	}

	answersAbout(
		conversationId: string,
		after: Pick<StoredAnswer, 'scope' | 'key'>,
		limit: number,
	): Promise<StoredAnswer[]> {
		return this.#sql.all(
			`SELECT scope, key, status, body, expires_at FROM idempotency
			 WHERE subject = @id AND (scope, key) > (@scope, @key) ORDER BY scope, key LIMIT @limit`,
			{ id: conversationId, scope: after.scope, key: after.key, limit },
		);
	}

	questionsIn(conversationId: string): Promise<UnansweredQuestion[]> {
		return this.#sql.all(
			`SELECT message_id, workspace_id, conversation_id, assistant_id, question, asked_at FROM unanswered_questions
			 WHERE conversation_id = @id ORDER BY asked_at, message_id`,
			{ id: conversationId },
		);
	}

	costsOf(workspaceId: string, visitorId: string): Promise<SpendingDay[]> {
		return this.#sql.all(
			`SELECT day, spent, reserved FROM spending
			 WHERE workspace_id = @workspace_id AND dimension = 'visitor' AND account = @visitor_id ORDER BY day`,
			{ workspace_id: workspaceId, visitor_id: visitorId },
		);
	}
}
