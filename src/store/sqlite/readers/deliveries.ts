import { columnsOf, decodeRow } from '../../columns/columns.ts';
import type {
	DeliveriesReader,
	DueDeliveries,
	WebhooksNeedingCleanup,
	WebhookWithPendingDeliveries,
} from '../../readers.ts';
import type { DeliveryRecord } from '../../records.ts';
import type { Prepare } from '../statements.ts';

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

const HAS_PENDING_DELIVERIES =
	"EXISTS (SELECT 1 FROM deliveries WHERE webhook_id = endpoint.id AND status = 'pending')";

/** Queries about deliveries to webhook endpoints. */
export class SqliteDeliveriesReader implements DeliveriesReader {
	readonly #prepare: Prepare;

	constructor(prepare: Prepare) {
		this.#prepare = prepare;
	}

	async due(webhookId: string, now: number, limit: number): Promise<DueDeliveries> {
		const retries = [
			...this.#pending(webhookId, 'due_at > ?', [now + MAX_POSTPONEMENT_MS], limit),
			...this.#pending(webhookId, 'due_at > 0 AND due_at <= ?', [now], limit),
		];
		return {
			retries: retries.slice(0, limit),
			firstAttempts: this.#pending(webhookId, 'due_at = 0', [], limit),
		};
	}

	async dueExcept(
		webhookId: string,
		now: number,
		excludedOrderingKeys: readonly string[],
		limit: number,
	): Promise<DeliveryRecord[]> {
		return this.#prepare(
			`SELECT ${columnsOf('deliveries')} FROM deliveries WHERE id IN (
				SELECT id FROM (
					SELECT id, due_at, event_seq, coalesce(subject, event_type) AS ordering_key FROM deliveries
					WHERE webhook_id = ? AND status = 'pending' AND due_at <= ? ORDER BY due_at, event_seq LIMIT ${MAX_SCANNED}
				) WHERE ordering_key NOT IN (SELECT value FROM json_each(?)) ORDER BY due_at, event_seq LIMIT ?
			 ) ORDER BY due_at, event_seq`,
		)
			.all(webhookId, now, JSON.stringify(excludedOrderingKeys), limit)
			.map((row) => decodeRow('deliveries', row));
	}

	async nextDueAfter(webhookId: string, after: number): Promise<number | null> {
		return this.#prepare(
			"SELECT min(due_at) FROM deliveries WHERE webhook_id = ? AND status = 'pending' AND due_at > ?",
		)
			.pluck()
			.get(webhookId, after) as number | null;
	}

	async webhooksWithPending(workspaceId: string | null): Promise<WebhookWithPendingDeliveries[]> {
		const endpoints =
			workspaceId === null
				? `${ENDPOINTS_CTE} SELECT id FROM endpoint WHERE id IS NOT NULL`
				: 'SELECT id FROM webhooks WHERE workspace_id = ?';
		return this.#prepare(
			`SELECT id, due_at FROM (
				SELECT id, (SELECT min(due_at) FROM deliveries WHERE webhook_id = known.id AND status = 'pending') AS due_at
				FROM (${endpoints}) AS known
			 ) WHERE due_at IS NOT NULL`,
		).all(...(workspaceId === null ? [] : [workspaceId])) as WebhookWithPendingDeliveries[];
	}

	async webhooksNeedingCleanup(): Promise<WebhooksNeedingCleanup> {
		const disabled = this.#prepare(
			`SELECT id FROM webhooks AS endpoint WHERE status <> 'active' AND ${HAS_PENDING_DELIVERIES}`,
		)
			.pluck()
			.all() as string[];
		const deleted = this.#prepare(
			`${ENDPOINTS_CTE} SELECT id FROM endpoint WHERE id IS NOT NULL AND NOT EXISTS (SELECT 1 FROM webhooks WHERE webhooks.id = endpoint.id)`,
		)
			.pluck()
			.all() as string[];
		return { disabled, deleted };
	}

	async failingSince(webhookId: string): Promise<number | null> {
		const row = this.#prepare('SELECT since FROM webhook_failures WHERE webhook_id = ?').get(webhookId);
		return (row as { since: number } | undefined)?.since ?? null;
	}

	#pending(webhookId: string, condition: string, values: readonly number[], limit: number): DeliveryRecord[] {
		return this.#prepare(
			`SELECT ${columnsOf('deliveries')} FROM deliveries WHERE webhook_id = ? AND status = 'pending' AND ${condition}
			 ORDER BY due_at, event_seq LIMIT ?`,
		)
			.all(webhookId, ...values, limit)
			.map((row) => decodeRow('deliveries', row));
	}
}

/** The types of an endpoint's deliveries with a status; one step in the index for each. */
export function deliveryTypes(prepare: Prepare, webhookId: string, status: string): string[] {
	return prepare(
		`WITH RECURSIVE found (type) AS (
			SELECT min(event_type) FROM deliveries WHERE webhook_id = @webhookId AND status = @status
			UNION ALL SELECT (
				SELECT min(event_type) FROM deliveries WHERE webhook_id = @webhookId AND status = @status AND event_type > found.type
			) FROM found WHERE found.type IS NOT NULL
		) SELECT type FROM found WHERE type IS NOT NULL`,
	)
		.pluck()
		.all({ webhookId, status }) as string[];
}
