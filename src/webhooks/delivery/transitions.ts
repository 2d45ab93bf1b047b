import type { DeliveryRecord } from '../../store/index.ts';
import { DELIVERY_SCHEDULE, isPastGiveUp, nextAttemptAt } from './delivery-schedule.ts';

/**
 * The states of a delivery and their transitions:
 *
 *     pending ─ attempt: 2xx ──────────────► delivered
 *     pending ─ attempt: anything else ────► pending, due later; failed after the time limit
 *     pending ─ time limit, event erased ──► failed
 *     pending ─ endpoint is disabled ──────► cancelled
 *     any but pending ─ retry, replay ─────► pending, due at once
 */
type DeliveryPatch = Partial<Omit<DeliveryRecord, 'id' | 'version' | 'created_at'>>;

/** The facts of an attempt that decide the transition. */
export interface AttemptResult {
	/** When it began and ended (ms since the epoch). */
	startedAt: number;
	endedAt: number;
	delivered: boolean;
	status: number | null;
	error: string | null;
	/** The delay that the receiver asked for; null when it did not. */
	retryAfterMs: number | null;
}

/** A delivery after an attempt. A delivery that was cancelled meanwhile stays cancelled, unless it was delivered. */
export function attemptPatch(delivery: DeliveryRecord, result: AttemptResult, random: number): DeliveryPatch {
	const { startedAt, endedAt, delivered, status, error } = result;
	// A first attempt in the future was made before the clock was set back.
	const firstAt = Math.min(delivery.first_attempt_at ?? startedAt, startedAt);
	const failures = delivery.failures + (delivered ? 0 : 1);
	const attempted: DeliveryPatch = {
		attempts: delivery.attempts + 1,
		failures,
		first_attempt_at: firstAt,
		status_code: status,
		error,
		updated_at: endedAt,
	};
	if (delivered) return { ...attempted, status: 'delivered', due_at: null, completed_at: endedAt };
	if (delivery.status !== 'pending') return attempted;
	const { retryAfterMs } = result;
	const due = nextAttemptAt({ failures, firstAt, now: endedAt, retryAfterMs, random });
	if (due !== null) return { ...attempted, due_at: due };
	return { ...attempted, status: 'failed', due_at: null, completed_at: endedAt };
}

/** Why no further attempt of a delivery may begin, as a sentence; null when one may. */
export function expiryReason({ first_attempt_at, created_at }: DeliveryRecord, now: number): string | null {
	if (isPastGiveUp(first_attempt_at, now)) return 'It could not be delivered within 72 hours.';
	const isTooOld = first_attempt_at === null && now > created_at + DELIVERY_SCHEDULE.eventRetention;
	return isTooOld ? 'It could not be tried within 30 days.' : null;
}

/** A delivery that is given up without another attempt. */
export function giveUpPatch(error: string, now: number): DeliveryPatch {
	return { status: 'failed', due_at: null, error, completed_at: now, updated_at: now };
}

/** A delivery that a person retries: due at once, with a new time limit. */
export function retryPatch(now: number): DeliveryPatch {
	return { status: 'pending', due_at: 0, failures: 0, first_attempt_at: null, completed_at: null, updated_at: now };
}
