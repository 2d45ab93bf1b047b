import type { Statement } from 'better-sqlite3';
import { newId } from '../../base/index.ts';
import type { DeliveryWrite, NewEvent, StoredEvent } from '../commit.ts';
import type { DeliveryRecord } from '../records.ts';
import type { DueDeliveries, WebhooksNeedingCleanup, WebhookWithPendingDeliveries } from '../store.ts';
import { columnsOf, decodeRow, encodeColumn } from './tables.ts';

/** Webhook endpoints' deliveries, attempts and failures, and the events they carry, as SQL. */

export const DELIVERIES_SCHEMA = `
	CREATE TABLE deliveries (
		id TEXT PRIMARY KEY, version INTEGER NOT NULL, workspace_id TEXT NOT NULL, webhook_id TEXT NOT NULL,
		event_seq INTEGER NOT NULL, event_id TEXT NOT NULL, event_type TEXT NOT NULL, subject TEXT, status TEXT NOT NULL,
		attempts INTEGER NOT NULL, failures INTEGER NOT NULL, first_attempt_at INTEGER, due_at INTEGER, status_code INTEGER, error TEXT,
		created_at INTEGER NOT NULL, updated_at INTEGER NOT NULL, completed_at INTEGER
	) STRICT, WITHOUT ROWID;
	CREATE UNIQUE INDEX deliveries_by_event ON deliveries (event_seq, webhook_id);
	CREATE INDEX deliveries_by_creation ON deliveries (webhook_id, created_at, id);
	CREATE INDEX deliveries_by_status ON deliveries (webhook_id, status, created_at, id);
	CREATE INDEX deliveries_by_type ON deliveries (webhook_id, event_type, created_at, id);
	CREATE INDEX deliveries_pending ON deliveries (webhook_id, due_at, event_seq, subject, event_type) WHERE status = 'pending';

	CREATE TABLE delivery_attempts (
		id TEXT PRIMARY KEY, version INTEGER NOT NULL, delivery_id TEXT NOT NULL, number INTEGER NOT NULL, status_code INTEGER,
		duration_ms INTEGER NOT NULL, error TEXT, answer TEXT, created_at INTEGER NOT NULL
	) STRICT, WITHOUT ROWID;
	CREATE INDEX delivery_attempts_in_order ON delivery_attempts (delivery_id, created_at, id);

	CREATE TABLE webhook_failures (webhook_id TEXT PRIMARY KEY, since INTEGER NOT NULL) STRICT, WITHOUT ROWID;

	CREATE INDEX events_by_creation ON events (created_at);
`;

type Prepare = (sql: string) => Statement;

/** An event that was just stored, for each active endpoint of its workspace that asked for its type. */
export function addDeliveries(prepare: Prepare, event: NewEvent, seq: number): void {
	const endpoints = prepare(
		`SELECT id FROM webhooks WHERE workspace_id = ? AND status = 'active'
		 AND EXISTS (SELECT 1 FROM json_each(events) WHERE value IN ('*', ?))`,
	).all(event.stream, event.type) as { id: string }[];
	for (const { id } of endpoints) addDelivery(prepare, event, seq, id, event.created_at);
}

/** What a delivery repeats of its event. */
type CarriedEvent = Pick<NewEvent, 'id' | 'stream' | 'type' | 'subject'>;

function addDelivery(prepare: Prepare, event: CarriedEvent, seq: number, webhook_id: string, now: number): void {
	const delivery: DeliveryRecord = {
		id: newId('delivery'),
		version: 1,
		workspace_id: event.stream,
		webhook_id,
		event_seq: seq,
		event_id: event.id,
		event_type: event.type,
		subject: event.subject ?? null,
		status: 'pending',
		attempts: 0,
		failures: 0,
		first_attempt_at: null,
		due_at: 0,
		status_code: null,
		error: null,
		created_at: now,
		updated_at: now,
		completed_at: null,
	};
	const columns = columnsOf('deliveries');
	prepare(
		`INSERT INTO deliveries (${columns}) VALUES (${columns.map(() => '?')})
		 ON CONFLICT (event_seq, webhook_id) DO UPDATE SET version = version + 1, status = 'pending', due_at = 0,
		 failures = 0, first_attempt_at = NULL, completed_at = NULL, updated_at = excluded.updated_at WHERE status <> 'pending'`,
	).run(...columns.map((column) => encodeColumn('deliveries', column, delivery[column as keyof DeliveryRecord])));
}

/** Carries out one write about deliveries; which events have expired, the writer says. */
export function applyDeliveryWrite(prepare: Prepare, write: Exclude<DeliveryWrite, { op: 'erase_events' }>): void {
	switch (write.op) {
		case 'cancel_deliveries':
			prepare(
				`UPDATE deliveries SET version = version + 1, status = 'cancelled', due_at = NULL, completed_at = @at,
				 updated_at = @at WHERE id IN (
					SELECT id FROM deliveries WHERE webhook_id = @webhook_id AND status = 'pending' ORDER BY due_at, event_seq LIMIT @limit
				 )`,
			).run({ at: write.at, webhook_id: write.webhook_id, limit: write.limit });
			return;
		case 'erase_deliveries': {
			const ids = prepare('SELECT id FROM deliveries WHERE webhook_id = ? ORDER BY created_at, id LIMIT ?')
				.pluck()
				.all(write.webhook_id, write.limit) as string[];
			for (const id of ids) eraseDelivery(prepare, id);
			prepare('DELETE FROM webhook_failures WHERE webhook_id = ?').run(write.webhook_id);
			return;
		}
		case 'redeliver':
			for (const seq of write.seqs) {
				const event = prepare('SELECT id, stream, type, subject FROM events WHERE seq = ?').get(seq) as
					| CarriedEvent
					| undefined;
				if (event) addDelivery(prepare, event, seq, write.webhook_id, write.at);
			}
			return;
		case 'note_failure':
			// Of an endpoint that was deleted meanwhile nothing is kept. The earlier time also where the clock was set back since.
			prepare(
				`INSERT INTO webhook_failures (webhook_id, since) SELECT id, @at FROM webhooks WHERE id = @webhook_id
				 ON CONFLICT (webhook_id) DO UPDATE SET since = min(since, excluded.since)`,
			).run({ at: write.at, webhook_id: write.webhook_id });
			return;
		case 'forget_failures':
			prepare('DELETE FROM webhook_failures WHERE webhook_id = ?').run(write.webhook_id);
	}
}

/** The events at these places in the log, with what was to be delivered of them. */
export function eraseEvents(prepare: Prepare, seqs: readonly number[]): void {
	for (const seq of seqs) {
		eraseDeliveriesOf(prepare, seq);
		prepare('DELETE FROM events WHERE seq = ?').run(seq);
	}
}

/** What was to be delivered of an event, before it is erased. */
export function eraseDeliveriesOf(prepare: Prepare, seq: number): void {
	const ids = prepare('SELECT id FROM deliveries WHERE event_seq = ?').pluck().all(seq) as string[];
	for (const id of ids) eraseDelivery(prepare, id);
}

function eraseDelivery(prepare: Prepare, id: string): void {
	prepare('DELETE FROM delivery_attempts WHERE delivery_id = ?').run(id);
	prepare('DELETE FROM deliveries WHERE id = ?').run(id);
}

/** Events whose times are looked at in one step. */
const EVENTS_PER_STEP = 5_000;

/**
 * The first and the last place in the log at which an event of a time stands, the ends included; yields between two steps.
 * Where the clock was set back, what stands between them may be of other times.
 */
export function* eventsBetween(
	prepare: Prepare,
	since: number,
	until: number,
): Generator<void, { first: number; last: number } | null> {
	let [first, last] = [Number.POSITIVE_INFINITY, 0];
	let cursor = { at: since, seq: 0 };
	for (;;) {
		// In two halves: of one comparison of both columns only the first would be looked up, and equal times be read again.
		const page = prepare(
			`SELECT created_at AS at, seq FROM events WHERE created_at = @at AND seq > @seq AND created_at <= @until
			 UNION ALL SELECT created_at, seq FROM events WHERE created_at > @at AND created_at <= @until
			 ORDER BY at, seq LIMIT ${EVENTS_PER_STEP}`,
		).all({ ...cursor, until }) as { at: number; seq: number }[];
		for (const { seq } of page) {
			first = Math.min(first, seq);
			last = Math.max(last, seq);
		}
		if (page.length < EVENTS_PER_STEP) return last === 0 ? null : { first, last };
		yield;
		cursor = page.at(-1) ?? cursor;
	}
}

/**
 * No delivery is ever postponed by more than this (the longest delay is six hours, doubled): times farther ahead are from a
 * clock that was set back since, and count as come.
 */
const MAX_POSTPONEMENT_MS = 24 * 3_600_000;
/** Deliveries among which others are looked for. */
const MAX_SCANNED = 4_000;

/** The deliveries of an endpoint that are due. */
export function dueDeliveries(prepare: Prepare, webhookId: string, now: number, limit: number): DueDeliveries {
	const columns = columnsOf('deliveries');
	const read = (condition: string, ...values: number[]): DeliveryRecord[] =>
		prepare(
			`SELECT ${columns} FROM deliveries WHERE webhook_id = ? AND status = 'pending' AND ${condition}
			 ORDER BY due_at, event_seq LIMIT ?`,
		)
			.all(webhookId, ...values, limit)
			.map((row) => decodeRow('deliveries', row));
	const retries = [...read('due_at > ?', now + MAX_POSTPONEMENT_MS), ...read('due_at > 0 AND due_at <= ?', now)];
	return { retries: retries.slice(0, limit), firstAttempts: read('due_at = 0') };
}

/** Of the deliveries of an endpoint that are due, those that are not like these. */
export function dueDeliveriesExcept(
	prepare: Prepare,
	webhookId: string,
	now: number,
	excludedOrderingKeys: readonly string[],
	limit: number,
): DeliveryRecord[] {
	const columns = columnsOf('deliveries');
	return prepare(
		`SELECT ${columns} FROM deliveries WHERE id IN (
			SELECT id FROM (
				SELECT id, due_at, event_seq, coalesce(subject, event_type) AS likeness FROM deliveries
				WHERE webhook_id = ? AND status = 'pending' AND due_at <= ? ORDER BY due_at, event_seq LIMIT ${MAX_SCANNED}
			) WHERE likeness NOT IN (SELECT value FROM json_each(?)) ORDER BY due_at, event_seq LIMIT ?
		 ) ORDER BY due_at, event_seq`,
	)
		.all(webhookId, now, JSON.stringify(excludedOrderingKeys), limit)
		.map((row) => decodeRow('deliveries', row));
}

/** When the next delivery of an endpoint is due after this time; null where none waits. */
export function nextDueAfter(prepare: Prepare, webhookId: string, after: number): number | null {
	return prepare("SELECT min(due_at) FROM deliveries WHERE webhook_id = ? AND status = 'pending' AND due_at > ?")
		.pluck()
		.get(webhookId, after) as number | null;
}

/** The endpoints that have deliveries, whatever is in the table of endpoints; one step in the index for each. */
const ENDPOINTS_CTE = `WITH RECURSIVE endpoint (id) AS (
	SELECT min(webhook_id) FROM deliveries
	UNION ALL SELECT (SELECT min(webhook_id) FROM deliveries WHERE webhook_id > endpoint.id) FROM endpoint WHERE endpoint.id IS NOT NULL
)`;

const HAS_PENDING_DELIVERIES =
	"EXISTS (SELECT 1 FROM deliveries WHERE webhook_id = endpoint.id AND status = 'pending')";

/** Endpoints with deliveries that wait, and when the first of them is due; of one workspace, where it is named. */
export function webhooksWithPendingDeliveries(
	prepare: Prepare,
	workspaceId: string | null,
): WebhookWithPendingDeliveries[] {
	const endpoints =
		workspaceId === null
			? `${ENDPOINTS_CTE} SELECT id FROM endpoint WHERE id IS NOT NULL`
			: 'SELECT id FROM webhooks WHERE workspace_id = ?';
	return prepare(
		`SELECT id, due_at FROM (
			SELECT id, (SELECT min(due_at) FROM deliveries WHERE webhook_id = known.id AND status = 'pending') AS due_at
			FROM (${endpoints}) AS known
		 ) WHERE due_at IS NOT NULL`,
	).all(...(workspaceId === null ? [] : [workspaceId])) as WebhookWithPendingDeliveries[];
}

/** Endpoints whose deliveries have yet to be cancelled or erased. */
export function webhooksNeedingCleanup(prepare: Prepare): WebhooksNeedingCleanup {
	const disabled = prepare(`SELECT id FROM webhooks AS endpoint WHERE status <> 'active' AND ${HAS_PENDING_DELIVERIES}`)
		.pluck()
		.all() as string[];
	const deleted = prepare(
		`${ENDPOINTS_CTE} SELECT id FROM endpoint WHERE id IS NOT NULL AND NOT EXISTS (SELECT 1 FROM webhooks WHERE webhooks.id = endpoint.id)`,
	)
		.pluck()
		.all() as string[];
	return { disabled, deleted };
}

/** The types of an endpoint's deliveries with a status; one step in the index for each. */
export function typesOfDeliveries(prepare: Prepare, webhookId: string, status: string): string[] {
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

/** The event at this place in the log. */
export function eventAt(prepare: Prepare, seq: number): StoredEvent | undefined {
	const row = prepare('SELECT seq, id, stream, type, data, subject, created_at FROM events WHERE seq = ?').get(seq) as
		| (StoredEvent & { data: string })
		| undefined;
	return row && { ...row, data: JSON.parse(row.data) };
}
