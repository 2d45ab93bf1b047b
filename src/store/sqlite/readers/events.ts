import { setImmediate as yieldToEventLoop } from 'node:timers/promises';
import type { StoredEvent } from '../../commit.ts';
import type { EventsReader } from '../../readers.ts';
import { ExpiredEventScanner } from '../expired-events.ts';
import { LOG_END } from '../log-end.ts';
import type { Prepare } from '../statements.ts';
import { unionAll } from './list.ts';

/** Events whose times are read in one step, before the event loop may go on. */
const EVENTS_PER_STEP = 5_000;

/** The condition of the index by type, which has the events of workspaces only. */
const IS_OF_WORKSPACE = " AND stream GLOB 'ws_*'";

/** Queries about the log of events. Long ones yield to the event loop between steps. */
export class SqliteEventsReader implements EventsReader {
	readonly #prepare: Prepare;
	readonly #expiredEvents = new ExpiredEventScanner();

	constructor(prepare: Prepare) {
		this.#prepare = prepare;
	}

	async after(stream: string, seq: number, limit: number, types: readonly string[] = []): Promise<StoredEvent[]> {
		const ofType = types.length === 0 ? '' : ` AND type = ?${stream.startsWith('ws_') ? IS_OF_WORKSPACE : ''}`;
		const sql = `SELECT seq, id, stream, type, data, created_at FROM events WHERE stream = ? AND seq > ?${ofType}`;
		const values = types.length === 0 ? [stream, seq] : types.flatMap((type) => [stream, seq, type]);
		const rows = this.#prepare(`${unionAll(sql, Math.max(1, types.length))} ORDER BY seq LIMIT ?`).all(
			...values,
			limit,
		) as Array<StoredEvent & { data: string }>;
		return rows.map((row) => ({ ...row, data: JSON.parse(row.data) }));
	}

	async at(seq: number): Promise<StoredEvent | undefined> {
		const row = this.#prepare('SELECT seq, id, stream, type, data, subject, created_at FROM events WHERE seq = ?').get(
			seq,
		) as (StoredEvent & { data: string }) | undefined;
		return row && { ...row, data: JSON.parse(row.data) };
	}

	async lastSeq(): Promise<number> {
		return this.#prepare(`SELECT ${LOG_END}`).pluck().get() as number;
	}

	async range(since: number, until: number): Promise<{ first: number; last: number } | null> {
		let [first, last] = [Number.POSITIVE_INFINITY, 0];
		let cursor = { at: since, seq: 0 };
		for (;;) {
			const page = this.#timesAfter(cursor, until);
			for (const { seq } of page) {
				first = Math.min(first, seq);
				last = Math.max(last, seq);
			}
			if (page.length < EVENTS_PER_STEP) return last === 0 ? null : { first, last };
			await yieldToEventLoop();
			cursor = page.at(-1) ?? cursor;
		}
	}

	async hasExpired(before: number): Promise<boolean> {
		for (;;) {
			const { seqs, isEnd } = this.#expiredEvents.find(this.#prepare, before, 1);
			if (seqs.length > 0) return true;
			if (isEnd) return false;
			await yieldToEventLoop();
		}
	}

	/**
	 * One step of `range`. The query has two halves because SQLite would use only the first column of one comparison of both
	 * columns, and would read events of equal times again.
	 */
	#timesAfter(cursor: { at: number; seq: number }, until: number): { at: number; seq: number }[] {
		return this.#prepare(
			`SELECT created_at AS at, seq FROM events WHERE created_at = @at AND seq > @seq AND created_at <= @until
			 UNION ALL SELECT created_at, seq FROM events WHERE created_at > @at AND created_at <= @until
			 ORDER BY at, seq LIMIT ${EVENTS_PER_STEP}`,
		).all({ ...cursor, until }) as { at: number; seq: number }[];
	}
}
