import { newId } from '../../base/index.ts';
import type { DeliveryWrite } from '../commit.ts';
import type { ErasureCounts } from '../erasure-record.ts';
import type { FailureWrite } from './encode-commit.ts';
import type { Sql } from './sql.ts';

/** Carries out one write about deliveries, inside the caller's transaction. Expired events have their own file. */
export async function applyDeliveryWrite(
	sql: Sql,
	write: Exclude<DeliveryWrite, FailureWrite | { op: 'erase_events' }>,
): Promise<void> {
	const { webhook_id } = write;
	switch (write.op) {
		case 'cancel_deliveries':
			await sql.run(
				`UPDATE deliveries SET version = version + 1, status = 'cancelled', due_at = NULL, completed_at = @at, updated_at = @at
				 WHERE id = ANY(ARRAY(
					SELECT id FROM deliveries WHERE webhook_id = @webhook_id AND status = 'pending'
					ORDER BY due_at, event_seq LIMIT @limit FOR UPDATE
				 ))`,
				{ webhook_id, at: write.at, limit: write.limit },
			);
			return;
		case 'erase_deliveries': {
			const erased = await sql.all<{ id: string }>(
				`DELETE FROM deliveries WHERE id = ANY(ARRAY(
					SELECT id FROM deliveries WHERE webhook_id = @webhook_id ORDER BY created_at, id LIMIT @limit
				 )) RETURNING id`,
				{ webhook_id, limit: write.limit },
			);
			await eraseAttempts(sql, erased);
			await sql.run('DELETE FROM webhook_failures WHERE webhook_id = @webhook_id', { webhook_id });
			return;
		}
		case 'redeliver':
			await redeliver(sql, write);
	}
}

/** The events are locked: an event gets no delivery after another node has erased it. */
async function redeliver(sql: Sql, write: Extract<DeliveryWrite, { op: 'redeliver' }>): Promise<void> {
	const { webhook_id, seqs, at } = write;
	await sql.all(
		`WITH carried AS MATERIALIZED (
			SELECT seq, delivery_id, jsonb_build_object('id', id, 'stream', stream, 'type', type, 'subject', subject) AS event
			FROM unnest(@seqs::bigint[], @delivery_ids::text[]) AS given (seq, delivery_id) JOIN events USING (seq)
			FOR KEY SHARE OF events
		 )
		 SELECT add_delivery(delivery_id, event, seq, @webhook_id, @at) FROM carried`,
		{ seqs, delivery_ids: seqs.map(() => newId('delivery')), webhook_id, at },
	);
}

/** Rows that were erased. */
export type ErasedEvents = Pick<ErasureCounts, 'events' | 'deliveries' | 'delivery_attempts'>;

/** Erases the events with these commit sequences, and their deliveries. */
export async function eraseEvents(sql: Sql, seqs: readonly number[]): Promise<ErasedEvents> {
	if (seqs.length === 0) return { events: 0, deliveries: 0, delivery_attempts: 0 };
	// The events go first: a transaction that adds deliveries to one has locked it, and the next statement sees what it has added.
	const events = await sql.run('DELETE FROM events WHERE seq = ANY(@seqs)', { seqs });
	const deliveries = await sql.all<{ id: string }>('DELETE FROM deliveries WHERE event_seq = ANY(@seqs) RETURNING id', {
		seqs,
	});
	return { events, deliveries: deliveries.length, delivery_attempts: await eraseAttempts(sql, deliveries) };
}

/** Erases the attempts at deliveries that are erased already, so that no other transaction adds one. @returns how many there were */
async function eraseAttempts(sql: Sql, deliveries: ReadonlyArray<{ id: string }>): Promise<number> {
	if (deliveries.length === 0) return 0;
	return sql.run('DELETE FROM delivery_attempts WHERE delivery_id = ANY(@ids)', {
		ids: deliveries.map(({ id }) => id),
	});
}
