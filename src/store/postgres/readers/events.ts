import type { StoredEvent } from '../../commit.ts';
import type { EventsReader } from '../../readers.ts';
import type { Sql } from '../sql.ts';

type EventRow = StoredEvent & { data: string };

/** Queries about the log of events. */
export class PostgresEventsReader implements EventsReader {
	readonly #sql: Sql;

	constructor(sql: Sql) {
		this.#sql = sql;
	}

	async after(stream: string, seq: number, limit: number, types: readonly string[] = []): Promise<StoredEvent[]> {
		const ofType = types.length === 0 ? '' : ' AND type = ANY(@types)';
		const rows = await this.#sql.all<EventRow>(
			`SELECT seq, id, stream, type, data, created_at FROM events WHERE stream = @stream AND seq > @seq${ofType}
			 ORDER BY seq LIMIT @limit`,
			{ stream, seq, limit, types },
		);
		return rows.map(decodeEvent);
	}

	async at(seq: number): Promise<StoredEvent | undefined> {
		const row = await this.#sql.get<EventRow>(
			'SELECT seq, id, stream, type, data, subject, created_at FROM events WHERE seq = @seq',
			{ seq },
		);
		return row && decodeEvent(row);
	}

	async lastSeq(): Promise<number> {
		return (await this.#sql.get<{ seq: number }>('SELECT seq FROM log_end'))?.seq ?? 0;
	}

	async range(since: number, until: number): Promise<{ first: number; last: number } | null> {
		const range = await this.#sql.get<{ first: number | null; last: number | null }>(
			'SELECT min(seq) AS first, max(seq) AS last FROM events WHERE created_at BETWEEN @since AND @until',
			{ since, until },
		);
		if (!range || range.first === null || range.last === null) return null;
		return { first: range.first, last: range.last };
	}

	async hasExpired(before: number): Promise<boolean> {
		const found = await this.#sql.get(`SELECT 1 FROM events WHERE ${IS_EXPIRED} LIMIT 1`, {
			before,
			overdue: before - MAX_PENDING_MS,
		});
		return found !== undefined;
	}
}

/** Events with pending deliveries are kept this much longer, so that an endpoint that never keeps up cannot fill the disk. */
export const MAX_PENDING_MS = 30 * 24 * 3_600_000;

/** SQL: an event is older than `@before` and has no pending delivery, or is older than `@overdue`. */
export const IS_EXPIRED = `created_at < @before AND (created_at < @overdue OR NOT EXISTS (
	SELECT 1 FROM deliveries WHERE event_seq = events.seq AND status = 'pending'
))`;

function decodeEvent(row: EventRow): StoredEvent {
	return { ...row, data: JSON.parse(row.data) };
}
