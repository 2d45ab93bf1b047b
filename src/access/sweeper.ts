import type { Clock, Log } from '../base/index.ts';
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
	readonly #log: Log;
	#timer: NodeJS.Timeout | undefined;
	#sweeping: Promise<void> | undefined;
	#stopped = false;

	constructor({ store, clock, log }: SweeperOptions) {
		this.#store = store;
		this.#clock = clock;
		this.#log = log;
	}

	start(): void {
		const sweep = () => {
			this.sweep().catch((error: unknown) => {
				this.#log.warn({ err: error }, 'what has expired could not be erased');
			});
		};
		sweep();
		this.#timer = setInterval(sweep, EVERY_MS);
		this.#timer.unref();
	}

	/** Erases everything that is over by now; one that is under way is joined. */
	sweep(): Promise<void> {
		this.#sweeping ??= this.#sweepAll().finally(() => {
			this.#sweeping = undefined;
		});
		return this.#sweeping;
	}

	async [Symbol.asyncDispose](): Promise<void> {
		this.#stopped = true;
		clearInterval(this.#timer);
		await this.#sweeping?.catch(() => {});
	}

	async #sweepAll(): Promise<void> {
		const before = this.#clock.now();
		while (!this.#stopped && (await this.#store.hasExpired(before))) {
			const { outcome } = await this.#store.commit({ write: [{ op: 'erase_expired', before, limit: PORTION }] });
			// Another owner has the store, and sweeps it.
			if (outcome !== 'committed') return;
		}
	}
}
