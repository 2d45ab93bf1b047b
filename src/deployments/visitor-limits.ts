import { AppError, type Clock, clientNetwork, SlidingWindowLimiter } from '../base/index.ts';
import { PassingVisitors } from './passing-visitors.ts';

const MINUTE = 60_000;
/** Requests of the widget configuration a minute, per client address and deployment. */
const CONFIGS_PER_MINUTE = 600;
/** History, events, stopping and rating a minute, all together, per visitor and deployment: a few for each page of an office. */
const REQUESTS_PER_MINUTE = 300;
/** Visitors that are remembered; under more than that, those not seen for longest start anew. */
const VISITORS = 100_000;
/** Times of messages, and of requests, that are remembered, of all visitors together: 16 MB each. */
const TIMES = 8_000_000;
/** Fewer for the configuration, and up to twice as many: each may have 600 times in memory. 48 MB when all of them have. */
const CONFIG_VISITORS = 20_000;

/** How often one visitor may call the public routes of one deployment. Its memory is bounded, however many come. */
export class VisitorLimits {
	readonly #configs: PassingVisitors;
	readonly #messages: SlidingWindowLimiter;
	readonly #requests: SlidingWindowLimiter;

	constructor(clock: Clock) {
		this.#configs = new PassingVisitors(clock, MINUTE, CONFIG_VISITORS);
		this.#messages = new SlidingWindowLimiter(clock, MINUTE, { keys: VISITORS, timestamps: TIMES });
		this.#requests = new SlidingWindowLimiter(clock, MINUTE, { keys: VISITORS, timestamps: TIMES });
	}

	/** Visitors that are remembered, by what is counted. */
	get remembered(): { configs: number; messages: number; requests: number } {
		return { configs: this.#configs.size, messages: this.#messages.size, requests: this.#requests.size };
	}

	/**
	 * @param address the client's
	 * @throws AppError `rate_limit_exceeded`
	 */
	countConfig(deploymentId: string, address: string): void {
		refuseFor(this.#configs.take(deploymentId, clientNetwork(address), CONFIGS_PER_MINUTE));
	}

	/**
	 * @param visitor see `visitorKey`
	 * @throws AppError `rate_limit_exceeded`
	 */
	countMessage(deploymentId: string, visitor: string, perMinute: number): void {
		refuseFor(this.#messages.tryConsume(`${deploymentId} ${visitor}`, perMinute));
	}

	/**
	 * Counts whatever is neither the configuration nor a message.
	 * @param visitor see `visitorKey`
	 * @throws AppError `rate_limit_exceeded`
	 */
	countRequest(deploymentId: string, visitor: string): void {
		refuseFor(this.#requests.tryConsume(`${deploymentId} ${visitor}`, REQUESTS_PER_MINUTE));
	}
}

/** @param retry_after seconds; 0 where the request is within its limit */
function refuseFor(retry_after: number): void {
	if (retry_after === 0) return;
	const sentence = `Too many requests. Try again in ${retry_after} seconds.`;
	throw new AppError('rate_limit_exceeded', sentence, { retry_after });
}
