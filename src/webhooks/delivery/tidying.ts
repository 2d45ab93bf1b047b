import { type Clock, type Log, Rounds } from '../../base/index.ts';
import type { Store, Write } from '../../store/index.ts';

export interface TidyingOptions {
	store: Pick<Store, 'commit' | 'hasExpiredEvents' | 'untidyWebhooks'>;
	clock: Clock;
	log: Log;
}

const EVERY_MS = 60_000;
/** How long events are kept, with their deliveries and attempts. */
const KEPT_MS = 30 * 24 * 3_600_000;
/** In one commit: others that wait for the disk do not wait for long. */
const PORTION = 500;

/** Ends the deliveries of disabled endpoints, erases those of deleted ones, and forgets events after 30 days; in portions. */
export class Tidying implements AsyncDisposable {
	readonly #store: TidyingOptions['store'];
	readonly #clock: Clock;
	readonly #rounds: Rounds;

	constructor({ store, clock, log }: TidyingOptions) {
		this.#store = store;
		this.#clock = clock;
		this.#rounds = new Rounds({
			everyMs: EVERY_MS,
			work: (signal) => this.#tidy(signal),
			onFailure: (error) => log.warn({ err: error }, 'deliveries and events could not be tidied up'),
		});
	}

	start(): void {
		this.#rounds.start();
	}

	/** Does all there is to do now. */
	run(): Promise<void> {
		return this.#rounds.run();
	}

	async [Symbol.asyncDispose](): Promise<void> {
		await this.#rounds[Symbol.asyncDispose]();
	}

	async #tidy(signal: AbortSignal): Promise<void> {
		const now = this.#clock.now();
		while (!signal.aborted) {
			const { disabled, gone } = await this.#store.untidyWebhooks();
			const write: Write[] = [
				...disabled.map((webhook_id) => ({ op: 'cancel_deliveries', webhook_id, at: now, limit: PORTION }) as const),
				...gone.map((webhook_id) => ({ op: 'erase_deliveries', webhook_id, limit: PORTION }) as const),
			].slice(0, 1);
			const before = now - KEPT_MS;
			if (await this.#store.hasExpiredEvents(before)) write.push({ op: 'erase_events', before, limit: PORTION });
			if (write.length === 0) return;
			const { outcome } = await this.#store.commit({ write });
			// Another owner has the store, and tidies it.
			if (outcome !== 'committed') return;
		}
	}
}
