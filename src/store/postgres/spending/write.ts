import { DAY_MS } from '../../../base/index.ts';
import type { ErasureCounts } from '../../erasure-record.ts';
import type { SpendingDimension, SpendingWrite } from '../../spending.ts';
import { type ErasedEvents, eraseEvents } from '../deliveries.ts';
import { addErased } from '../erasures.ts';
import type { Sql } from '../sql.ts';

/** Rows that were erased. */
type ErasedSpending = ErasedEvents & Pick<ErasureCounts, 'cost_rows'>;

const NOTHING: ErasedSpending = { events: 0, deliveries: 0, delivery_attempts: 0, cost_rows: 0 };
/** Days for which sums of visitors, and all others, are kept: 62 days, 25 months. */
const VISITOR_DAYS = 62;
const OTHER_DAYS = 762;
const DIMENSIONS = ['workspace', 'deployment', 'visitor', 'model'] as const satisfies SpendingDimension[];

/** Applies one write about costs that is no part of a message. The function `apply_spending` of the database has the others. */
export async function applySpendingWrite(
	sql: Sql,
	write: Extract<SpendingWrite, { op: 'spending.erase_visitors' | 'spending.settle_abandoned' }>,
): Promise<void> {
	if (write.op === 'spending.settle_abandoned') return settleAbandoned(sql);
	for (const id of write.visitor_ids) {
		await addErased(sql, write.erasure_id, await eraseSpendingOfVisitor(sql, write.workspace_id, id));
	}
}

/**
 * Settles the reservations of a conversation that is erased: what its reply has cost will not be known.
 * @returns how many there were
 */
export async function settleErasedConversation(sql: Sql, conversationId: string): Promise<number> {
	const settled = await sql.get<{ count: number }>(
		`WITH found AS MATERIALIZED (
			SELECT ARRAY(SELECT message_id::text FROM spending_reservations WHERE conversation_id = @conversation_id) AS ids
		 )
		 SELECT cardinality(ids) AS count, settle_as_reserved(ids) FROM found`,
		{ conversation_id: conversationId },
	);
	return settled?.count ?? 0;
}

/** Whether a visitor whose messages cost something has a conversation. */
export async function hasConversation(sql: Sql, visitorId: string): Promise<boolean> {
	const found = await sql.get('SELECT 1 FROM conversations WHERE visitor_id = @visitor_id LIMIT 1', {
		visitor_id: visitorId,
	});
	return found !== undefined;
}

/** Removes the sums of a visitor without conversations, and the events about the visitor's budget. */
export async function eraseSpendingOfVisitor(
	sql: Sql,
	workspaceId: string,
	visitorId: string,
): Promise<ErasedSpending> {
	// A reply to a new conversation of the visitor is reserved before, and then the conversation is found, or afterwards.
	await sql.run('SELECT lock_spending(ARRAY[@workspace_id])', { workspace_id: workspaceId });
	if (await hasConversation(sql, visitorId)) return NOTHING;
	const erased = await sql.get<{ cost_rows: number }>(
		`WITH sums AS (
			DELETE FROM spending WHERE workspace_id = @workspace_id AND dimension = 'visitor' AND account = @visitor_id RETURNING 1
		 ), notices AS (
			DELETE FROM budget_notices WHERE account = @visitor_id RETURNING 1
		 )
		 SELECT (SELECT count(*) FROM sums) + (SELECT count(*) FROM notices) AS cost_rows`,
		{ workspace_id: workspaceId, visitor_id: visitorId },
	);
	const events = await sql.all<{ seq: number }>('SELECT seq FROM events WHERE subject = @visitor_id', {
		visitor_id: visitorId,
	});
	const seqs = events.map(({ seq }) => seq);
	return { ...(await eraseEvents(sql, seqs)), cost_rows: erased?.cost_rows ?? 0 };
}

/** Removes sums that are too old, at most `limit` of each kind. */
export async function eraseOldSpending(sql: Sql, now: number, limit: number): Promise<void> {
	await sql.run(
		`DELETE FROM spending WHERE (workspace_id, dimension, account, day) IN (
			SELECT old.* FROM unnest(@dimensions::text[], @ends::bigint[]) AS lifetimes (dimension, lasts_until)
			CROSS JOIN LATERAL (
				SELECT workspace_id, dimension, account, day FROM spending
				WHERE dimension = lifetimes.dimension AND day < lasts_until LIMIT @limit FOR UPDATE SKIP LOCKED
			) AS old
		 )`,
		{ ...lifetimes(now), limit },
	);
}

/** Whether `eraseOldSpending` would remove any. */
export async function hasOldSpending(sql: Sql, now: number): Promise<boolean> {
	const found = await sql.get(
		`SELECT 1 FROM unnest(@dimensions::text[], @ends::bigint[]) AS lifetimes (dimension, lasts_until)
		 WHERE EXISTS (SELECT 1 FROM spending WHERE dimension = lifetimes.dimension AND day < lasts_until) LIMIT 1`,
		lifetimes(now),
	);
	return found !== undefined;
}

/** Sums of a dimension from days before its end are too old. */
function lifetimes(now: number): { dimensions: readonly SpendingDimension[]; ends: number[] } {
	const ends = DIMENSIONS.map((dimension) => now - (dimension === 'visitor' ? VISITOR_DAYS : OTHER_DAYS) * DAY_MS);
	return { dimensions: DIMENSIONS, ends };
}

/**
 * The database knows of suggestions only their reservations: no message belongs to them. A suggestion has ended with its node. A reply
 * goes on at another node.
 */
async function settleAbandoned(sql: Sql): Promise<void> {
	await sql.run(
		`SELECT settle_as_reserved(ARRAY(
			SELECT message_id::text FROM spending_reservations AS r
			WHERE NOT is_alive(node_epoch) AND NOT EXISTS (SELECT 1 FROM messages WHERE id = r.message_id AND status = 'in_progress')
		 ))`,
	);
}
