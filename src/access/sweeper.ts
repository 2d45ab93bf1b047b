import { type Clock, type Log, Rounds } from '../base/index.ts';
import type { Store } from '../store/index.ts';

export interface SweeperOptions {
	store: Pick<Store, 'commit' | 'hasExpired'>;
	clock: Clock;
	log: Log;
}

const EVERY_MS = 60_000;
/** Of each kind in one commit: others that wait for the disk do not wait for long. */
const PORTION = 500;

/** Erases sessions and stored answers whose time is over: at the start, and every minute. */
export class Sweeper implements AsyncDisposable {
	readonly #store: SweeperOptions['store'];
	readonly #clock: Clock;
	readonly #rounds: Rounds;

	constructor({ store, clock, log }: SweeperOptions) {
		this.#store = store;
		this.#clock = clock;
		this.#rounds = new Rounds({
			everyMs: EVERY_MS,
			work: (signal) => this.#sweepAll(signal),
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
		const before = this.#clock.now();
		while (!signal.aborted && (await this.#store.hasExpired(before))) {
			const { outcome } = await this.#store.commit({ write: [{ op: 'erase_expired', before, limit: PORTION }] });
			// Another owner has the store, and sweeps it.
			if (outcome !== 'committed') return;
		}
	}
}
