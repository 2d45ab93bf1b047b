import { newId } from '../../base/index.ts';
import { columnsOf, encodeColumn } from '../columns/columns.ts';
import type { DeliveryWrite, NewEvent } from '../commit.ts';
import type { ErasureCounts } from '../erasure-record.ts';
import type { DeliveryRecord } from '../records.ts';
import type { Prepare } from './statements.ts';

/** Tables of webhook endpoints' deliveries, attempts and failures. Part of a released migration step. */
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

/** Adds the deliveries of a stored event: one for each active endpoint of its workspace that subscribes to its type. */
export function addDeliveries(prepare: Prepare, event: NewEvent, seq: number): void {
	const endpoints = prepare(
		`SELECT id FROM webhooks WHERE workspace_id = ? AND status = 'active'
		 AND EXISTS (SELECT 1 FROM json_each(events) WHERE value IN ('*', ?))`,
	).all(event.stream, event.type) as { id: string }[];
	for (const { id } of endpoints) addDelivery(prepare, event, seq, id, event.created_at);
}

/** What a delivery copies from its event. */
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

/** Applies one write about deliveries. The writer itself finds expired events. */
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
		case 'record_failure':
			// Nothing is kept of an endpoint that was deleted meanwhile. The earlier time counts even when the clock was set back.
			prepare(
				`INSERT INTO webhook_failures (webhook_id, since) SELECT id, @at FROM webhooks WHERE id = @webhook_id
				 ON CONFLICT (webhook_id) DO UPDATE SET since = min(since, excluded.since)`,
			).run({ at: write.at, webhook_id: write.webhook_id });
			return;
		case 'clear_failures':
			prepare('DELETE FROM webhook_failures WHERE webhook_id = ?').run(write.webhook_id);
	}
}

/** Rows that were erased. */
export type ErasedEvents = Pick<ErasureCounts, 'events' | 'deliveries' | 'delivery_attempts'>;

/** Erases the events with these commit sequences, and their deliveries. */
export function eraseEvents(prepare: Prepare, seqs: readonly number[]): ErasedEvents {
	const erased = { events: 0, deliveries: 0, delivery_attempts: 0 };
	for (const seq of seqs) {
		const ids = prepare('SELECT id FROM deliveries WHERE event_seq = ?').pluck().all(seq) as string[];
		for (const id of ids) erased.delivery_attempts += eraseDelivery(prepare, id);
		erased.deliveries += ids.length;
		erased.events += prepare('DELETE FROM events WHERE seq = ?').run(seq).changes;
	}
	return erased;
}

/** Returns how many attempts it had. */
function eraseDelivery(prepare: Prepare, id: string): number {
	const { changes } = prepare('DELETE FROM delivery_attempts WHERE delivery_id = ?').run(id);
	prepare('DELETE FROM deliveries WHERE id = ?').run(id);
	return changes;
}
