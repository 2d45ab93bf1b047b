import { columnsOf, decodeRow } from '../../columns/columns.ts';
import type { StoredEvent } from '../../commit.ts';
import type { EndUsersReader, StoredAnswer, UnansweredQuestion } from '../../readers.ts';
import type { DeliveryRecord } from '../../records.ts';
import type { SpendingDay } from '../../spending.ts';
import type { Prepare } from '../statements.ts';

const EVENT = 'SELECT seq, id, stream, type, data, subject, created_at FROM events';

/** Queries about what is stored with the conversations of an end user. */
export class SqliteEndUsersReader implements EndUsersReader {
	readonly #prepare: Prepare;

	constructor(prepare: Prepare) {
		this.#prepare = prepare;
	}

	async eventsAbout(conversationId: string, seq: number, limit: number): Promise<StoredEvent[]> {
		const rows = this.#prepare(
			`SELECT * FROM (${EVENT} WHERE subject = @id AND seq > @seq ORDER BY seq LIMIT @limit)
			 UNION SELECT * FROM (${EVENT} WHERE stream = @id AND seq > @seq ORDER BY seq LIMIT @limit)
			 ORDER BY seq LIMIT @limit`,
		).all({ id: conversationId, seq, limit }) as Array<StoredEvent & { data: string }>;
		return rows.map((row) => ({ ...row, data: JSON.parse(row.data) }));
	}

	async deliveriesOf(seq: number): Promise<DeliveryRecord[]> {
		const rows = this.#prepare(`SELECT ${columnsOf('deliveries')} FROM deliveries WHERE event_seq = ?`).all(seq);
		return rows.map((row) => decodeRow('deliveries', row));
	}

	async answersAbout(
		conversationId: string,
		after: Pick<StoredAnswer, 'scope' | 'key'>,
		limit: number,
	): Promise<StoredAnswer[]> {
		return this.#prepare(
			`SELECT scope, key, status, body, expires_at FROM idempotency
			 WHERE subject = ? AND (scope, key) > (?, ?) ORDER BY scope, key LIMIT ?`,
		).all(conversationId, after.scope, after.key, limit) as StoredAnswer[];
	}

	async questionsIn(conversationId: string): Promise<UnansweredQuestion[]> {
		return this.#prepare(
			`SELECT message_id, workspace_id, conversation_id, assistant_id, question, asked_at FROM unanswered_questions
			 WHERE conversation_id = ? ORDER BY asked_at, message_id`,
		).all(conversationId) as UnansweredQuestion[];
	}

	async costsOf(workspaceId: string, visitorId: string): Promise<SpendingDay[]> {
		return this.#prepare(
			`SELECT day, spent, reserved FROM spending
			 WHERE workspace_id = ? AND dimension = 'visitor' AND account = ? ORDER BY day`,
		).all(workspaceId, visitorId) as SpendingDay[];
	}
}
