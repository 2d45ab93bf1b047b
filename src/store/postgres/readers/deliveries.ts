import { columnsOf, decodeRow } from '../../columns/columns.ts';
import type {
	DeliveriesReader,
	DueDeliveries,
	WebhooksNeedingCleanup,
	WebhookWithPendingDeliveries,
} from '../../readers.ts';
import type { DeliveryRecord } from '../../records.ts';
import type { Sql } from '../sql.ts';

/**
 * No delivery is ever postponed by more than this (the longest delay is six hours, doubled). A time further ahead comes from
 * a clock that was set back later, and counts as due.
 */
const MAX_POSTPONEMENT_MS = 24 * 3_600_000;
/** Due deliveries among which `dueExcept` looks for other ordering keys. */
const MAX_SCANNED = 4_000;

/** All endpoints that have deliveries, even if the table of endpoints lacks them; one step in the index for each. */
const ENDPOINTS_CTE = `WITH RECURSIVE endpoint (id) AS (
	SELECT min(webhook_id) FROM deliveries
	UNION ALL SELECT (SELECT min(webhook_id) FROM deliveries WHERE webhook_id > endpoint.id) FROM endpoint WHERE endpoint.id IS NOT NULL
)`;

/** One step in the index for each endpoint. EXISTS may read every pending delivery instead. */
const FIRST_PENDING =
	"LATERAL (SELECT min(due_at) AS due_at FROM deliveries WHERE webhook_id = endpoint.id AND status = 'pending') AS first";

/** Queries about deliveries to webhook endpoints. */
export class PostgresDeliveriesReader implements DeliveriesReader {
	readonly #sql: Sql;

	constructor(sql: Sql) {
		this.#sql = sql;
	}

	async due(webhookId: string, now: number, limit: number): Promise<DueDeliveries> {
		const pending = (condition: string) =>
			`(SELECT ${columnsOf('deliveries')} FROM deliveries WHERE webhook_id = @webhook_id AND status = 'pending' AND ${condition}
			  ORDER BY due_at, event_seq LIMIT @limit)`;
		const rows = await this.#sql.all(
			`SELECT * FROM (
				${pending('due_at > @latest')} UNION ALL ${pending('due_at > 0 AND due_at <= @now')} UNION ALL ${pending('due_at = 0')}
			 ) AS due ORDER BY due_at <= @now, due_at, event_seq`,
			{ webhook_id: webhookId, now, latest: now + MAX_POSTPONEMENT_MS, limit },
		);
		const found = rows.map((row) => decodeRow('deliveries', row));
		return {
			retries: found.filter(({ due_at }) => due_at !== 0).slice(0, limit),
			firstAttempts: found.filter(({ due_at }) => due_at === 0),
		};
	}

	async dueExcept(
		webhookId: string,
		now: number,
		excludedOrderingKeys: readonly string[],
		limit: number,
	): Promise<DeliveryRecord[]> {
		const rows = await this.#sql.all(
			`SELECT ${columnsOf('deliveries')} FROM deliveries WHERE id IN (
				SELECT id FROM (
					SELECT id, due_at, event_seq, coalesce(subject, event_type) AS ordering_key FROM deliveries
					WHERE webhook_id = @webhook_id AND status = 'pending' AND due_at <= @now ORDER BY due_at, event_seq LIMIT ${MAX_SCANNED}
				) AS scanned
				WHERE ordering_key NOT IN (SELECT unnest(@excluded::text[])) ORDER BY due_at, event_seq LIMIT @limit
			 ) ORDER BY due_at, event_seq`,
			{ webhook_id: webhookId, now, excluded: excludedOrderingKeys, limit },
		);
		return rows.map((row) => decodeRow('deliveries', row));
	}

	async nextDueAfter(webhookId: string, after: number): Promise<number | null> {
		const next = await this.#sql.get<{ due_at: number | null }>(
			`SELECT min(due_at) AS due_at FROM deliveries WHERE webhook_id = @webhook_id AND status = 'pending' AND due_at > @after`,
			{ webhook_id: webhookId, after },
		);
		return next?.due_at ?? null;
	}

	webhooksWithPending(workspaceId: string | null): Promise<WebhookWithPendingDeliveries[]> {
		const known =
			workspaceId === null
				? `${ENDPOINTS_CTE} SELECT id, due_at FROM endpoint, ${FIRST_PENDING} WHERE id IS NOT NULL`
				: `SELECT id, due_at FROM webhooks AS endpoint, ${FIRST_PENDING} WHERE workspace_id = @workspace_id`;
		return this.#sql.all(`${known} AND due_at IS NOT NULL`, { workspace_id: workspaceId });
	}

	async webhooksNeedingCleanup(): Promise<WebhooksNeedingCleanup> {
		const [disabled, deleted] = await Promise.all([
			this.#sql.all<{ id: string }>(
				`SELECT id FROM webhooks AS endpoint, ${FIRST_PENDING} WHERE status <> 'active' AND due_at IS NOT NULL`,
			),
			this.#sql.all<{ id: string }>(
				`${ENDPOINTS_CTE} SELECT id FROM endpoint
				 WHERE id IS NOT NULL AND NOT EXISTS (SELECT 1 FROM webhooks WHERE webhooks.id = endpoint.id)`,
			),
		]);
		return { disabled: disabled.map(({ id }) => id), deleted: deleted.map(({ id }) => id) };
	}

	async failingSince(webhookId: string): Promise<number | null> {
		const row = await this.#sql.get<{ since: number }>('SELECT since FROM webhook_failures WHERE webhook_id = @id', {
			id: webhookId,
		});
		return row?.since ?? null;
	}
}
