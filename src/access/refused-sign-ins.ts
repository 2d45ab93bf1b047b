import { type Clock, SlidingWindowLimiter } from '../base/index.ts';
import { requireCommitted, type Store, type UserRecord } from '../store/index.ts';
import type { AuditWrites } from './audit-writes.ts';

/** The action of the record in the audit log. */
const REFUSAL_ACTION = 'refuseSecondFactor';
const HOUR = 3_600_000;
const MAX_TRACKED_ACCOUNTS = 100_000;

/**
 * Records wrong codes in the audit log: who sends one knows the password. An account gets one record an hour from each node, so that
 * guesses do not fill the log.
 */
export class RefusedCodes {
	readonly #store: Pick<Store, 'commit'>;
	readonly #recorded: SlidingWindowLimiter;

	constructor(store: Pick<Store, 'commit'>, clock: Clock) {
		this.#store = store;
		this.#recorded = new SlidingWindowLimiter(clock, HOUR, MAX_TRACKED_ACCOUNTS);
	}

	/** @throws AppError where the record cannot be stored */
	async record(user: UserRecord, audit: AuditWrites): Promise<void> {
		if (this.#recorded.tryConsume(user.id, 1) > 0) return;
		const write = audit(user, user, REFUSAL_ACTION);
		try {
			if (write.length > 0) requireCommitted(await this.#store.commit({ write }));
		} catch (error) {
			this.#recorded.refund(user.id);
			throw error;
		}
	}
}
