/** Which slots an endpoint's attempts use: degraded endpoints share slots, so that healthy ones do not wait for them. */
export type HealthStatus = 'healthy' | 'degraded';

/** Failures in a row after which first attempts become probes. */
const FAILURE_THRESHOLD = 3;
/** An attempt that takes longer than this occupies a slot for too long, whatever the response. */
const SLOW_MS = 2_000;
/** Concurrent attempts; fewer after a failure. */
const CONCURRENCY_LIMIT = { normal: 10, failing: 2 } as const;
/** The pause after a failed probe: doubled with each failure, up to the maximum. */
const PROBE_BACKOFF_MS = { initial: 1_000, max: 60_000 } as const;

/**
 * The recent outcomes of an endpoint, and their consequences:
 *
 *     last attempt                slots       concurrency
 *     delivered, fast             healthy     10
 *     delivered, slow             degraded    10
 *     failed, fast                healthy     2
 *     failed, slow                degraded    2
 *     third failure in a row      degraded    2; of first attempts 1, with a pause after each failure
 */
export class EndpointHealth {
	#known = false;
	#failures = 0;
	#slow = false;

	/** Whether the health is known here; otherwise it must be restored from the database. */
	get isKnown(): boolean {
		return this.#known;
	}

	/** Failures in a row. Concurrent attempts that fail count as one. */
	get failures(): number {
		return this.#failures;
	}

	/** Restores the health from the database: whether the last attempt failed. */
	restore(failing: boolean): void {
		this.#known = true;
		this.#failures = failing ? FAILURE_THRESHOLD : 0;
	}

	/**
	 * Records an attempt.
	 * @param failuresAtStart `failures` when the attempt was started
	 */
	record({ delivered, duration_ms }: { delivered: boolean; duration_ms: number }, failuresAtStart: number): void {
		if (delivered) this.#failures = 0;
		else this.#failures = this.#failures === failuresAtStart ? failuresAtStart + 1 : Math.max(this.#failures, 1);
		this.#slow = duration_ms > SLOW_MS;
	}

	/** Forgets all failures: the endpoint was enabled again or has another URL. */
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

	/** Whether first attempts only probe for recovery: one at a time, with pauses. */
	get isProbing(): boolean {
		return this.#failures >= FAILURE_THRESHOLD;
	}

	/** Milliseconds from a failed probe to the next one. */
	get probeDelayMs(): number {
		const { initial, max } = PROBE_BACKOFF_MS;
		return Math.min(initial * 2 ** (this.#failures - FAILURE_THRESHOLD), max);
	}
}
