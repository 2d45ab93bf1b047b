import type { Prepare } from './statements.ts';

/** Events scanned in one step. It bounds how long the thread is busy. */
const SCAN_STEP = 2_000;
/** Events with pending deliveries are kept this much longer, so that an endpoint that never keeps up cannot fill the disk. */
const MAX_PENDING_MS = 30 * 24 * 3_600_000;

/** Before the oldest event. */
const SCAN_START = { at: Number.MIN_SAFE_INTEGER, seq: 0 };

const SELECT_OLD = `SELECT seq, created_at AS at, created_at >= @overdue AND EXISTS (
		SELECT 1 FROM deliveries WHERE event_seq = events.seq AND status = 'pending'
	) AS hasPendingDelivery FROM events WHERE created_at < @before AND`;

interface OldEvent {
	seq: number;
	at: number;
	hasPendingDelivery: 0 | 1;
}

/**
 * Finds events that are older than a time and have no pending delivery, the oldest first, in steps. It skips events with
 * pending deliveries and continues after them. At the end of the log it starts again, because deliveries end in any order.
 */
export class ExpiredEventScanner {
	#scannedTo = SCAN_START;

	/**
	 * One step.
	 * @param before milliseconds since the epoch
	 * @returns the commit sequences of at most `limit` events; the same ones are found again until they are erased
	 */
	find(
		prepare: Prepare,
		before: number,
		limit: number,
	): { seqs: number[] /** No event follows them. */; isEnd: boolean } {
		const old = prepare(
			`${SELECT_OLD} created_at = @at AND seq > @seq UNION ALL ${SELECT_OLD} created_at > @at ORDER BY at, seq LIMIT @step`,
		).iterate({ before, overdue: before - MAX_PENDING_MS, ...this.#scannedTo, step: SCAN_STEP }) as Iterable<OldEvent>;
		const seqs: number[] = [];
		let scanned = 0;
		for (const { seq, at, hasPendingDelivery } of old) {
			scanned++;
			if (hasPendingDelivery === 0) seqs.push(seq);
			else if (seqs.length === 0) this.#scannedTo = { at, seq };
			if (seqs.length === limit) break;
		}
		const isEnd = scanned < SCAN_STEP && seqs.length < limit;
		if (isEnd) this.#scannedTo = SCAN_START;
		return { seqs, isEnd };
	}
}
