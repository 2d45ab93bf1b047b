import { type Clock, elapsedMs, type Log, PeriodicTask } from '../base/index.ts';
import type { SharedLimits, UsedRequests } from '../store/index.ts';
import { TokenBuckets } from './token-bucket.ts';
import { UnpublishedUse } from './unpublished-use.ts';

/** Whose requests are counted: those of credentials, or of client networks without one. */
export type RateLimited = 'credentials' | 'networks';

export interface SharedRateLimitsOptions {
	store: Pick<SharedLimits, 'exchangeUse'>;
	clock: Clock;
	log: Log;
	intervalMs?: number;
}

const INTERVAL_MS = 1_000;
/**
 * A node that has had nothing to publish for so long (ms) exchanges nothing. By then a burst is refilled, and the last exchange has
 * removed what was published.
 */
const IDLE_AFTER_MS = 15_000;

/**
 * Rate limits that hold approximately for the whole cluster. Each node has token buckets, and takes from them once a second what the
 * other nodes have used. Until then the nodes together may allow more than the limit: the following requests wait for it.
 */
export class SharedRateLimits implements AsyncDisposable {
	readonly #store: SharedRateLimitsOptions['store'];
	readonly #clock: Clock;
	readonly #parts: Readonly<Record<RateLimited, { buckets: TokenBuckets; unpublished: UnpublishedUse }>>;
	readonly #exchanges: PeriodicTask;
	/** When there was something to publish (ms, monotonic). */
	#lastBusyAt = Number.NEGATIVE_INFINITY;

	constructor({ store, clock, log, intervalMs = INTERVAL_MS }: SharedRateLimitsOptions) {
		this.#store = store;
		this.#clock = clock;
		this.#parts = { credentials: partOf(clock), networks: partOf(clock) };
		this.#exchanges = new PeriodicTask({
			intervalMs,
			run: () => this.#exchange(),
			onFailure: (err) => log.warn({ err }, 'rate limits could not be exchanged with the other nodes'),
		});
		this.#exchanges.start();
	}

	bucketsOf(limited: RateLimited): TokenBuckets {
		return this.#parts[limited].buckets;
	}

	/** Exchanges now, or joins the exchange that is under way. */
	exchange(): Promise<void> {
		return this.#exchanges.run();
	}

	async [Symbol.asyncDispose](): Promise<void> {
		await this.#exchanges[Symbol.asyncDispose]();
	}

	async #exchange(): Promise<void> {
		const now = elapsedMs(this.#clock);
		const parts = Object.entries(this.#parts);
		if (parts.some(([, { unpublished }]) => unpublished.isDue)) this.#lastBusyAt = now;
		if (now - this.#lastBusyAt > IDLE_AFTER_MS) return;
		const published = parts.flatMap(([name, { unpublished }]) => unpublished.take().map((use) => prefixed(name, use)));
		for (const { key, used, perMinute } of await this.#store.exchangeUse(published)) {
			const separator = key.indexOf(' ');
			// A node of another version may publish what this one does not know.
			const part = parts.find(([name]) => name === key.slice(0, separator))?.[1];
			part?.buckets.takeForOther(key.slice(separator + 1), perMinute, used);
		}
	}
}

function partOf(clock: Clock): { buckets: TokenBuckets; unpublished: UnpublishedUse } {
	const unpublished = new UnpublishedUse();
	return { buckets: new TokenBuckets(clock, unpublished), unpublished };
}

function prefixed(name: string, use: UsedRequests): UsedRequests {
	return { ...use, key: `${name} ${use.key}` };
}
