import { type Clock, elapsedMs, KeyedLock, LruCache, sleep } from '../../base/index.ts';

/** The longest delay between two requests that a site can ask for. */
const MAX_DELAY_MS = 60_000;
/** The longest delay after a response that asks to wait (429, 503). */
const MAX_RETRY_AFTER_MS = 10 * 60_000;
/** The longest wait for a host. A job whose host asks for more is postponed, so that it does not keep the place of other sources. */
export const MAX_WAIT_MS = 2_000;
/** Hosts whose last request is known. A forgotten host has been idle for long. */
const MAX_HOSTS = 10_000;

/** Requests to one host: one at a time, with a delay between them. All sources share it. */
export class HostPace {
	readonly #clock: Clock;
	readonly #delayMs: number;
	readonly #locks = new KeyedLock();
	/** When the next request to a host may begin. */
	readonly #nextAt = new LruCache<string, number>(MAX_HOSTS);

	/** @param delayMs the delay between two requests to a host that asks for none; 0: no delay for any host */
	constructor(clock: Clock, delayMs: number) {
		this.#clock = clock;
		this.#delayMs = delayMs;
	}

	/**
	 * Runs a request when its host may get one.
	 * @param crawlDelayMs the delay that the host asks for
	 * @returns null without a request, if requests before it have made the wait too long
	 * @throws the signal's reason
	 */
	run<T>(host: string, crawlDelayMs: number | null, signal: AbortSignal, request: () => Promise<T>): Promise<T | null> {
		return this.#locks.run(host, async () => {
			const waitMs = this.waitMs(host);
			if (waitMs > MAX_WAIT_MS) return null;
			if (waitMs > 0) await sleep(waitMs, signal);
			signal.throwIfAborted();
			try {
				return await request();
			} finally {
				this.#delay(host, this.#delayOf(crawlDelayMs));
			}
		});
	}

	/** Milliseconds until a host may get its next request, if no other waits for it. */
	waitMs(host: string): number {
		return Math.max(0, (this.#nextAt.get(host) ?? 0) - elapsedMs(this.#clock));
	}

	#delayOf(crawlDelayMs: number | null): number {
		return this.#delayMs === 0 ? 0 : Math.min(MAX_DELAY_MS, Math.max(this.#delayMs, crawlDelayMs ?? 0));
	}

	/** Delays the next request to a host that asks to wait. */
	retryAfter(host: string, ms: number): void {
		if (this.#delayMs > 0) this.#delay(host, Math.min(ms, MAX_RETRY_AFTER_MS));
	}

	#delay(host: string, ms: number): void {
		const at = elapsedMs(this.#clock) + ms;
		this.#nextAt.set(host, Math.max(at, this.#nextAt.get(host) ?? 0));
	}
}
