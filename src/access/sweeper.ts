import { type ClockJumpDetector, type Log, PeriodicTask } from '../base/index.ts';
import { type AccessReader, type FenceOf, fenceOfTask, type SpendingReader, type Store } from '../store/index.ts';
import { recordTrustedTime } from './trusted-time.ts';

export interface SweeperOptions {
	store: Pick<Store, 'commit' | 'get'> & {
		access: Pick<AccessReader, 'hasExpiredRecords'>;
		spending: Pick<SpendingReader, 'hasReservations'>;
	};
	jumpDetector: Pick<ClockJumpDetector, 'trustedNow'>;
	log: Log;
	/** Absent: the store has one owner. */
	fenceOf?: FenceOf | undefined;
}

const SWEEP_INTERVAL_MS = 60_000;
/** Records of each kind in one commit: a batch must not delay other commits for long. */
const BATCH_SIZE = 500;

/**
 * Erases expired sessions and stored responses at the start and every minute. While the clock is suspect it erases nothing. In a cluster
 * one node does this, and settles what nodes that have ended had reserved.
 */
export class Sweeper implements AsyncDisposable {
	readonly #store: SweeperOptions['store'];
	readonly #jumpDetector: SweeperOptions['jumpDetector'];
	readonly #fenceOf: FenceOf | undefined;
	readonly #periodicTask: PeriodicTask;

	constructor({ store, jumpDetector, log, fenceOf }: SweeperOptions) {
		this.#fenceOf = fenceOf;
		this.#store = store;
		this.#jumpDetector = jumpDetector;
		this.#periodicTask = new PeriodicTask({
			intervalMs: SWEEP_INTERVAL_MS,
			run: (signal) => this.#sweepAll(signal),
			onFailure: (error) => log.warn({ err: error }, 'expired records could not be erased'),
		});
	}

	start(): void {
		this.#periodicTask.start();
	}

	/** Erases everything that has expired by now. Joins a run that is in progress. */
	sweep(): Promise<void> {
		return this.#periodicTask.run();
	}

	async [Symbol.asyncDispose](): Promise<void> {
		await this.#periodicTask[Symbol.asyncDispose]();
	}

	async #sweepAll(signal: AbortSignal): Promise<void> {
		if (fenceOfTask(this.#fenceOf, 'expiry') === null) return;
		if (this.#fenceOf !== undefined && (await this.#store.spending.hasReservations())) {
			await this.#store.commit({ write: [{ op: 'spending.settle_abandoned' }] });
		}
		let before = this.#jumpDetector.trustedNow();
		if (before !== null) await recordTrustedTime(this.#store, before);
		for (; before !== null && !signal.aborted; before = this.#jumpDetector.trustedNow()) {
			if (!(await this.#store.access.hasExpiredRecords(before))) return;
			const { outcome } = await this.#store.commit({ write: [{ op: 'erase_expired', before, limit: BATCH_SIZE }] });
			// Another process owns the store and sweeps it.
			if (outcome !== 'committed') return;
		}
	}
}
