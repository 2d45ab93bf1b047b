/** Where an endpoint's attempts get their slots: the poor wait for one another, and the sound do not wait for them. */
export type HealthStatus = 'healthy' | 'degraded';

/** An endpoint that has failed so often in a row is not merely unlucky. */
const FAILURE_THRESHOLD = 3;
/** An attempt that takes longer than this keeps a slot from others, whatever its answer. */
const SLOW_MS = 2_000;
/** Attempts that are under way at a time; and where the last one has failed. */
const CONCURRENCY_LIMIT = { normal: 10, failing: 2 } as const;
/** The pause after a probe that fails: doubled with each failure, up to the longest. */
const PROBE_BACKOFF_MS = { initial: 1_000, max: 60_000 } as const;

/**
 * How an endpoint has answered lately, and what follows from it:
 *
 *     its last attempt                    slots    at a time
 *     was taken, soon                     sound    10
 *     was taken, slowly                   poor     10
 *     has failed, soon                    sound    2
 *     has failed, slowly                  poor     2
 *     has failed, as those before it      poor     2, of what is new one, with a pause after each that fails
 */
export class EndpointHealth {
	#known = false;
	#failures = 0;
	#slow = false;

	/** Whether anything is known of it; otherwise only the database knows. */
	get isKnown(): boolean {
		return this.#known;
	}

	/** How many attempts have failed in a row; those that were under way together count as one. */
	get failures(): number {
		return this.#failures;
	}

	/** What the database knows of it: whether its last attempt has failed. */
	restore(failing: boolean): void {
		this.#known = true;
		this.#failures = failing ? FAILURE_THRESHOLD : 0;
	}

	/**
	 * An attempt has ended.
	 * @param failuresAtStart the failures when it was begun
	 */
	record({ delivered, duration_ms }: { delivered: boolean; duration_ms: number }, failuresAtStart: number): void {
		if (delivered) this.#failures = 0;
		else this.#failures = this.#failures === failuresAtStart ? failuresAtStart + 1 : Math.max(this.#failures, 1);
		this.#slow = duration_ms > SLOW_MS;
	}

	/** It is revived, or somewhere else: what was known of it says nothing any more. */
	reset(): void {
		this.#known = true;
		this.#failures = 0;
		this.#slow = false;
	}

	get status(): HealthStatus {
		return this.#slow || this.isProbing ? 'degraded' : 'healthy';
	}

	get concurrencyLimit(): number {
		return this.#failures === 0 ? CONCURRENCY_LIMIT.normal : CONCURRENCY_LIMIT.failing;
	}

	/** Whether what is new goes to it only to find out whether it is well again: one at a time, with pauses. */
	get isProbing(): boolean {
		return this.#failures >= FAILURE_THRESHOLD;
	}

	/** Milliseconds from a probe that has failed to the next one. */
	get probeDelayMs(): number {
		const { initial, max } = PROBE_BACKOFF_MS;
		return Math.min(initial * 2 ** (this.#failures - FAILURE_THRESHOLD), max);
	}
}
