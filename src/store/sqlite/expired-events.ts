import type { Prepare } from './statements.ts';

/** Events that are looked at in one step: whoever waits for this thread does not wait for long. */
const SCAN_STEP = 2_000;
/** So much longer is an event kept at most that is still to be delivered: an endpoint that never keeps up fills no disk. */
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
 * Looks for events that are older than a time and that no delivery waits for, the oldest first, in steps. It passes over
 * those that are still to be delivered, however many they are, and goes on behind them; at the end of the log it begins
 * anew, since their deliveries end in any order.
 */
export class ExpiredEventScanner {
	#scannedTo = SCAN_START;

	/**
	 * One step.
	 * @param before milliseconds since the epoch
	 * @returns the places in the log of at most `limit` events, which are found again until they are erased
	 */
	find(
		prepare: Prepare,
		before: number,
		limit: number,
	): { seqs: number[] /** Nothing is left beyond them. */; isEnd: boolean } {
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
