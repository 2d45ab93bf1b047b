import { type ClockJumpDetector, type Log, PeriodicTask } from '../base/index.ts';
import type { Store } from '../store/index.ts';
import { noteSeenTime } from './seen-time.ts';

export interface SweeperOptions {
	store: Pick<Store, 'commit' | 'get' | 'hasExpiredRecords'>;
	watch: Pick<ClockJumpDetector, 'trustedNow'>;
	log: Log;
}

const EVERY_MS = 60_000;
/** Of each kind in one commit: others that wait for the disk do not wait for long. */
const PORTION = 500;

/** Erases sessions and stored answers whose time is over: at the start, and every minute. While the clock is in doubt it erases nothing. */
export class Sweeper implements AsyncDisposable {
	readonly #store: SweeperOptions['store'];
	readonly #watch: SweeperOptions['watch'];
	readonly #rounds: PeriodicTask;

	constructor({ store, watch, log }: SweeperOptions) {
		this.#store = store;
		this.#watch = watch;
		this.#rounds = new PeriodicTask({
			intervalMs: EVERY_MS,
			run: (signal) => this.#sweepAll(signal),
			onFailure: (error) => log.warn({ err: error }, 'what has expired could not be erased'),
		});
	}

	start(): void {
		this.#rounds.start();
	}

	/** Erases everything that is over by now; one that is under way is joined. */
	sweep(): Promise<void> {
		return this.#rounds.run();
	}

	async [Symbol.asyncDispose](): Promise<void> {
		await this.#rounds[Symbol.asyncDispose]();
	}

	async #sweepAll(signal: AbortSignal): Promise<void> {
		let before = this.#watch.trustedNow();
		if (before !== null) await noteSeenTime(this.#store, before);
		for (; before !== null && !signal.aborted; before = this.#watch.trustedNow()) {
			if (!(await this.#store.hasExpiredRecords(before))) return;
			const { outcome } = await this.#store.commit({ write: [{ op: 'erase_expired', before, limit: PORTION }] });
			// Another owner has the store, and sweeps it.
			if (outcome !== 'committed') return;
		}
	}
}
