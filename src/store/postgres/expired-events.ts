import { eraseEvents } from './deliveries.ts';
import type { Sql } from './sql.ts';
import { recordExpiry } from './statistics/index.ts';

/** Events that one write reads. It bounds how long other commits wait. */
const SCAN_STEP = 2_000;
/** Events with pending deliveries are kept this much longer, so that an endpoint that never keeps up cannot fill the disk. */
const MAX_PENDING_MS = 30 * 24 * 3_600_000;

/**
 * SQL: the event must be kept for a pending delivery. Neither EXISTS nor a condition on the status: with them, the plan may read all
 * pending deliveries instead of those of the event.
 */
const IS_KEPT = `(created_at >= @overdue AND coalesce(
	(SELECT bool_or(status = 'pending') FROM deliveries WHERE event_seq = events.seq), false
))`;

/** A place in the order of creation. */
interface Position {
	at: number;
	seq: number;
}

/** Before the oldest event. */
const SCAN_START: Position = { at: Number.MIN_SAFE_INTEGER, seq: 0 };

/**
 * Erases events that are older than a time and have no pending delivery, at most `limit`, the oldest first. The database keeps how
 * far this came: events with pending deliveries are not read again before the end of the log. There it starts again, because
 * deliveries end in any order.
 */
export async function eraseExpiredEvents(sql: Sql, before: number, limit: number): Promise<void> {
	const times = { before, overdue: before - MAX_PENDING_MS };
	// The lock lasts until the end of the transaction: each node goes on where the last one has ended.
	const from = (await sql.get<Position>('SELECT at, seq FROM expiry_progress FOR UPDATE')) ?? SCAN_START;
	const old = await sql.all<Position & { is_kept: boolean }>(
		`SELECT created_at AS at, seq, ${IS_KEPT} AS is_kept FROM events
		 WHERE created_at < @before AND (created_at, seq) > (@at, @seq) ORDER BY created_at, seq LIMIT ${SCAN_STEP}`,
		{ ...times, ...from },
	);
	const found: number[] = [];
	let to = from;
	for (const { at, seq, is_kept } of old) {
		if (found.length === limit) break;
		to = { at, seq };
		if (!is_kept) found.push(seq);
	}
	const isEnd = old.length < SCAN_STEP && found.length < limit;
	await sql.run('UPDATE expiry_progress SET at = @at, seq = @seq', { ...(isEnd ? SCAN_START : to) });
	const seqs = await lockExpired(sql, found, times);
	if (seqs.length > 0) await recordExpiry(sql, before);
	await eraseEvents(sql, seqs);
}

/** No transaction makes a delivery of a locked event pending again. @returns the events of which none has done so before */
async function lockExpired(
	sql: Sql,
	seqs: readonly number[],
	times: { before: number; overdue: number },
): Promise<number[]> {
	if (seqs.length === 0) return [];
	await sql.run('SELECT 1 FROM events WHERE seq = ANY(@seqs) ORDER BY seq FOR UPDATE', { seqs });
	const expired = await sql.all<{ seq: number }>(`SELECT seq FROM events WHERE seq = ANY(@seqs) AND NOT ${IS_KEPT}`, {
		seqs,
		overdue: times.overdue,
	});
	return expired.map(({ seq }) => seq);
}

/**
 * Whether `eraseExpiredEvents` would erase any, now or after some steps. It looks first where the next step begins: what stands before
 * that is mostly kept.
 */
export async function hasExpiredEvents(sql: Sql, before: number): Promise<boolean> {
	const find = (condition: string) =>
		// Without the order, a scan of the whole table could look cheaper.
		sql.get(
			`SELECT 1 FROM events WHERE created_at < @before AND ${condition} AND NOT ${IS_KEPT} ORDER BY created_at, seq LIMIT 1`,
			{ before, overdue: before - MAX_PENDING_MS },
		);
	const next = await find('(created_at, seq) > (SELECT at, seq FROM expiry_progress)');
	return (next ?? (await find('true'))) !== undefined;
}
