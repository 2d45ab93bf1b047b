import { type EventLoopUtilization, performance } from 'node:perf_hooks';

/**
 * Milliseconds between two pieces, by the utilization of the event loop above which they apply. Publishing costs as much for one
 * token as for all that have arrived. 16 ms are the time between two frames of a screen; with 100 ms, tokens of a usual model
 * leave in pairs.
 */
const PACES = [
	{ above: 0.85, ms: 100 },
	{ above: 0.5, ms: 16 },
];

/**
 * Spaces the pieces of a reply while the event loop is busy, so that several tokens leave together. While the loop is not busy,
 * every piece follows at once: no timer delays a token.
 */
export class TextPacing {
	#since: EventLoopUtilization;
	#nextTextAt = 0;
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

	/** Records a piece of text. The utilization since the one before decides about the next one. */
	recordText(): void {
		const { utilization } = this.#utilization(this.#since);
		const pace = PACES.find(({ above }) => utilization > above);
		this.#since = this.#utilization();
		this.#nextTextAt = pace ? this.#now() + pace.ms : 0;
	}

	/** Milliseconds to wait before the next piece; 0 for none. Less than a millisecond is not worth a timer. */
	get delayMs(): number {
		const delay = this.#nextTextAt - this.#now();
		return delay > 1 ? delay : 0;
	}
}
