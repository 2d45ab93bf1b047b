import { AppError, type Clock, clientNetwork, SlidingWindowLimiter } from '../base/index.ts';
import { CompactSlidingWindow } from './compact-sliding-window.ts';

const MINUTE_MS = 60_000;
/** Requests of the widget's configuration a minute, per client address and deployment. */
const CONFIGS_PER_MINUTE = 600;
/** Requests for history, events, stop and rating together a minute, per visitor and deployment: enough for an office behind one address. */
const REQUESTS_PER_MINUTE = 300;
/** Visitors that are remembered. Beyond that, the counts of the least recently seen are reset. */
const MAX_VISITORS = 100_000;
/** Times of messages, and of requests, that are remembered, of all visitors together: 16 MB each. */
const MAX_EVENT_TIMES = 8_000_000;
/**
 * Networks counted for config requests: up to twice this number. It is smaller than the others, because each network may
 * have 600 times in memory: 48 MB at most.
 */
const MAX_CONFIG_VISITORS = 20_000;

/** What is counted for each visitor of a deployment. */
export type VisitorCount = 'messages' | 'requests';

/** Counts where the node is that owns a deployment. */
export interface RemoteVisitorLimits {
	/**
	 * Counts one event at the owner.
	 * @returns undefined where this node counts; otherwise a promise of the seconds until an event is within the limit again (0: this
	 * one is), or of null where the owner did not answer in time. It never rejects.
	 */
	count(of: VisitorCount, deploymentId: string, visitor: string, perMinute: number): Promise<number | null> | undefined;
}

/** How often one visitor may call the public routes of one deployment. Memory is bounded for any number of visitors. */
export class VisitorLimits {
	readonly #configs: CompactSlidingWindow;
	readonly #messages: SlidingWindowLimiter;
	readonly #requests: SlidingWindowLimiter;

	readonly #remote: RemoteVisitorLimits | undefined;

	/** @param remote absent: all requests of a deployment's visitors come to this process */
	constructor(clock: Clock, remote?: RemoteVisitorLimits) {
		this.#remote = remote;
		this.#configs = new CompactSlidingWindow(clock, MINUTE_MS, MAX_CONFIG_VISITORS);
		this.#messages = new SlidingWindowLimiter(clock, MINUTE_MS, { keys: MAX_VISITORS, timestamps: MAX_EVENT_TIMES });
		this.#requests = new SlidingWindowLimiter(clock, MINUTE_MS, { keys: MAX_VISITORS, timestamps: MAX_EVENT_TIMES });
	}

	/** Remembered visitors, by what is counted. */
	get size(): { configs: number; messages: number; requests: number } {
		return { configs: this.#configs.size, messages: this.#messages.size, requests: this.#requests.size };
	}

	/**
	 * Each node counts for itself: the configuration is answered from memory, without waiting for another node.
	 * @param address the client's
	 * @throws AppError `rate_limit_exceeded`
	 */
	countConfig(deploymentId: string, address: string): void {
		throwIfLimited(this.#configs.tryConsume(deploymentId, clientNetwork(address), CONFIGS_PER_MINUTE));
	}

	/**
	 * Counts at once, or where another node owns the deployment, once that node has answered.
	 * @param visitor see `visitorKey`
	 * @throws AppError `rate_limit_exceeded`
	 */
	countMessage(deploymentId: string, visitor: string, perMinute: number): void | Promise<void> {
		return this.#count('messages', deploymentId, visitor, perMinute);
	}

	/**
	 * Counts a request that is neither for the configuration nor a message, as `countMessage` does.
	 * @param visitor see `visitorKey`
	 * @throws AppError `rate_limit_exceeded`
	 */
	countRequest(deploymentId: string, visitor: string): void | Promise<void> {
		return this.#count('requests', deploymentId, visitor, REQUESTS_PER_MINUTE);
	}

	/**
	 * Counts an event on this node, whether it owns the deployment or not.
	 * @returns 0 within the limit, otherwise the whole seconds until an event is within it again
	 */
	countHere(of: VisitorCount, deploymentId: string, visitor: string, perMinute: number): number {
		const limiter = of === 'messages' ? this.#messages : this.#requests;
		return limiter.tryConsume(`${deploymentId} ${visitor}`, perMinute);
	}

	#count(of: VisitorCount, deploymentId: string, visitor: string, perMinute: number): void | Promise<void> {
		const remote = this.#remote?.count(of, deploymentId, visitor, perMinute);
		if (remote === undefined) return throwIfLimited(this.countHere(of, deploymentId, visitor, perMinute));
		return remote.then((wait) => throwIfLimited(wait ?? this.countHere(of, deploymentId, visitor, perMinute)));
	}
}

/** @param retry_after seconds; 0 where the request is within its limit */
function throwIfLimited(retry_after: number): void {
	if (retry_after === 0) return;
	const sentence = `Too many requests. Try again in ${retry_after} seconds.`;
	throw new AppError('rate_limit_exceeded', sentence, { retry_after });
}
