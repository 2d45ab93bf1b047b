import { type EventLoopUtilization, performance } from 'node:perf_hooks';

/** How often screens are drawn. What follows a read costs as much for one token as for all that have arrived. */
const PACE_MS = 16;
/** The event loop counts as busy above this share of the time between two reads. */
const BUSY_UTILIZATION = 0.5;

/**
 * Spaces the reads of a stream while the event loop is busy, so that several tokens arrive for one read. While the loop is
 * not busy, every read follows at once: no timer delays a token.
 */
export class ReadPacing {
	#since: EventLoopUtilization;
	#nextReadAt = 0;
	readonly #utilization: (since?: EventLoopUtilization) => EventLoopUtilization;
	readonly #now: () => number;

	/**
	 * @param utilization the utilization of the event loop, from its start or from an earlier measurement
	 * @param now milliseconds of a monotonic clock
	 */
	constructor(
		utilization: (since?: EventLoopUtilization) => EventLoopUtilization = performance.eventLoopUtilization,
		now: () => number = () => performance.now(),
	) {
		this.#utilization = utilization;
		this.#now = now;
		this.#since = utilization();
	}

	/** Records a read that had text. The utilization since the one before decides about the next read. */
	recordText(): void {
		const isBusy = this.#utilization(this.#since).utilization > BUSY_UTILIZATION;
		this.#since = this.#utilization();
		this.#nextReadAt = isBusy ? this.#now() + PACE_MS : 0;
	}

	/** Milliseconds to wait before the next read; 0 for none. Less than a millisecond is not worth a timer. */
	get delayMs(): number {
		const delay = this.#nextReadAt - this.#now();
		return delay > 1 ? delay : 0;
	}
}
