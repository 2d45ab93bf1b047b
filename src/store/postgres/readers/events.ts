import type { StoredEvent } from '../../commit.ts';
import type { EventsReader } from '../../readers.ts';
import { hasExpiredEvents } from '../expired-events.ts';
import type { Sql } from '../sql.ts';

/** An event as the table has it. */
export type EventRow = StoredEvent & { data: string };

/** Queries about the log of events. */
export class PostgresEventsReader implements EventsReader {
	readonly #sql: Sql;

	constructor(sql: Sql) {
		this.#sql = sql;
	}

	async after(stream: string, seq: number, limit: number, types: readonly string[] = []): Promise<StoredEvent[]> {
		const page = (condition: string) =>
			`SELECT seq, id, stream, type, data, created_at FROM events WHERE stream = @stream AND seq > @seq${condition}
			 ORDER BY seq LIMIT @limit`;
		// The index by type has the events of workspaces only. A page of each type is in its order.
		const ofType = page(` AND type = wanted${stream.startsWith('ws_') ? " AND stream LIKE 'ws\\_%'" : ''}`);
		const ofTypes = `SELECT found.* FROM unnest(@types::text[]) AS wanted CROSS JOIN LATERAL (${ofType}) AS found
			ORDER BY seq LIMIT @limit`;
		const rows = await this.#sql.all<EventRow>(types.length === 0 ? page('') : ofTypes, { stream, seq, limit, types });
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

	hasExpired(before: number): Promise<boolean> {
		return hasExpiredEvents(this.#sql, before);
	}
}

export function decodeEvent(row: EventRow): StoredEvent {
	return { ...row, data: JSON.parse(row.data) };
}
