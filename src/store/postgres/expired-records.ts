import { eraseDroppedIndexes, hasDroppedIndexes } from './search/index.ts';
import { eraseOldSpending, hasOldSpending } from './spending/index.ts';
import type { Sql } from './sql.ts';

/** Tables whose rows expire. */
const TABLES = ['idempotency', 'sessions', 'audit_log', 'budget_notices'] as const;

/** What another node erases, or renews, at this moment is left out. The rows are found again by their place in the table. */
const ERASE = `WITH ${TABLES.map(
	(table) => `erased_${table} AS (
		DELETE FROM ${table} WHERE ctid = ANY(ARRAY(
			SELECT ctid FROM ${table} WHERE expires_at <= @before ORDER BY expires_at LIMIT @limit FOR UPDATE SKIP LOCKED
		))
	)`,
).join(', ')} SELECT 1`;

/** When the first of all rows expires. */
const FIRST_EXPIRY = `least(${TABLES.map((table) => `(SELECT min(expires_at) FROM ${table})`).join(', ')})`;

/**
 * Removes what expired before a time, and rows of indexes that were dropped, at most `limit` rows of each kind; see the write
 * `erase_expired`.
 */
export async function eraseExpiredRecords(sql: Sql, before: number, limit: number): Promise<void> {
	await sql.run(ERASE, { before, limit });
	await eraseOldSpending(sql, before, limit);
	await eraseDroppedIndexes(sql, limit);
}

/** Whether `eraseExpiredRecords` would remove any. */
export async function hasExpiredRecords(sql: Sql, before: number): Promise<boolean> {
	const first = await sql.get<{ at: number | null }>(`SELECT ${FIRST_EXPIRY} AS at`);
	const hasExpired = first !== undefined && first.at !== null && first.at <= before;
	return hasExpired || (await hasDroppedIndexes(sql)) || hasOldSpending(sql, before);
}
