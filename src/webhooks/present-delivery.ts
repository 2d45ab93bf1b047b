import { timestamp, timestampOrNull } from '../base/index.ts';
import type { Delivery } from '../contract/index.ts';
import type { DeliveryRecord } from '../store/index.ts';

/** A delivery as the API shows it. */
export function presentDelivery(record: DeliveryRecord): Delivery {
	return {
		id: record.id,
		webhook_id: record.webhook_id,
		event_id: record.event_id,
		event_type: record.event_type as Delivery['event_type'],
		status: record.status,
		attempts: record.attempts,
		status_code: record.status_code,
		error: record.error,
		// A delivery that is next in the order of the log is due since it was stored.
		next_attempt_at: timestampOrNull(record.due_at === 0 ? record.updated_at : record.due_at),
		first_attempt_at: timestampOrNull(record.first_attempt_at),
		created_at: timestamp(record.created_at),
		updated_at: timestamp(record.updated_at),
		completed_at: timestampOrNull(record.completed_at),
	};
}
