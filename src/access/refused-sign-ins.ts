import { type Clock, type Log, SlidingWindowLimiter } from '../base/index.ts';
import { requireCommitted, type Store, type UserRecord } from '../store/index.ts';
import type { AuditWrites } from './audit-writes.ts';

/** The actions of the records in the audit log: a wrong password, a wrong code, an identity that may not sign in. */
type RefusalAction = 'refusePassword' | 'refuseSecondFactor' | 'refuseOidcSignIn';

const HOUR = 3_600_000;
/** Pairs of account and action that are remembered. */
const MAX_TRACKED = 100_000;

/**
 * Records refused sign-ins in the audit log. An account gets one record of each action an hour from each node, so that guesses do not fill
 * the log.
 */
export class RefusedSignIns {
	readonly #store: Pick<Store, 'commit'>;
	readonly #log: Log;
	readonly #recorded: SlidingWindowLimiter;

	constructor({ store, clock, log }: { store: Pick<Store, 'commit'>; clock: Clock; log: Log }) {
		this.#store = store;
		this.#log = log;
		this.#recorded = new SlidingWindowLimiter(clock, HOUR, MAX_TRACKED);
	}

	/** @throws AppError where the record cannot be stored */
	async record(user: UserRecord, action: RefusalAction, audit: AuditWrites): Promise<void> {
		if (!this.isDue(user, action)) return;
		const write = audit(user, user, action);
		try {
			if (write.length > 0) requireCommitted(await this.#store.commit({ write }));
		} catch (error) {
			this.notRecorded(user, action);
			throw error;
		}
	}

	/** Whether the account gets a record now. The answer counts as a record, until `notRecorded`. */
	isDue({ id }: UserRecord, action: RefusalAction): boolean {
		return this.#recorded.tryConsume(`${action}:${id}`, 1) === 0;
	}

	notRecorded({ id }: UserRecord, action: RefusalAction): void {
		this.#recorded.refund(`${action}:${id}`);
	}

	/** Records it without a wait: the time of the response must not show that the account exists. */
	recordLater(user: UserRecord, action: RefusalAction, audit: AuditWrites): void {
		this.record(user, action, audit).catch((err: unknown) => {
			this.#log.warn({ err, user_id: user.id, action }, 'a refused sign-in is not in the audit log');
		});
	}
}
