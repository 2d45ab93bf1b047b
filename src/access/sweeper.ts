import { type ClockJumpDetector, type Log, PeriodicTask } from '../base/index.ts';
import type { AccessReader, Store } from '../store/index.ts';
import { recordTrustedTime } from './trusted-time.ts';

export interface SweeperOptions {
	store: Pick<Store, 'commit' | 'get'> & { access: Pick<AccessReader, 'hasExpiredRecords'> };
	jumpDetector: Pick<ClockJumpDetector, 'trustedNow'>;
	log: Log;
}

const SWEEP_INTERVAL_MS = 60_000;
/** Of each kind in one commit: others that wait for the disk do not wait for long. */
const BATCH_SIZE = 500;

/** Erases sessions and stored answers whose time is over: at the start, and every minute. While the clock is in doubt it erases nothing. */
export class Sweeper implements AsyncDisposable {
	readonly #store: SweeperOptions['store'];
	readonly #jumpDetector: SweeperOptions['jumpDetector'];
	readonly #periodicTask: PeriodicTask;

	constructor({ store, jumpDetector, log }: SweeperOptions) {
		this.#store = store;
		this.#jumpDetector = jumpDetector;
		this.#periodicTask = new PeriodicTask({
			intervalMs: SWEEP_INTERVAL_MS,
			run: (signal) => this.#sweepAll(signal),
			onFailure: (error) => log.warn({ err: error }, 'what has expired could not be erased'),
		});
	}

	start(): void {
		this.#periodicTask.start();
	}

	/** Erases everything that is over by now; one that is under way is joined. */
	sweep(): Promise<void> {
		return this.#periodicTask.run();
	}

	async [Symbol.asyncDispose](): Promise<void> {
		await this.#periodicTask[Symbol.asyncDispose]();
	}

	async #sweepAll(signal: AbortSignal): Promise<void> {
		let before = this.#jumpDetector.trustedNow();
		if (before !== null) await recordTrustedTime(this.#store, before);
		for (; before !== null && !signal.aborted; before = this.#jumpDetector.trustedNow()) {
			if (!(await this.#store.access.hasExpiredRecords(before))) return;
			const { outcome } = await this.#store.commit({ write: [{ op: 'erase_expired', before, limit: BATCH_SIZE }] });
			// Another owner has the store, and sweeps it.
			if (outcome !== 'committed') return;
		}
	}
}
