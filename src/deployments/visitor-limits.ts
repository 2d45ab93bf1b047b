import { AppError, type Clock } from '../base/index.ts';
import { SlidingWindow } from './sliding-window.ts';

const MINUTE = 60_000;
/** Requests of the widget configuration a minute, per client address and deployment. */
const CONFIGS_PER_MINUTE = 600;
/** Visitors that are remembered; under more addresses than that, the oldest start anew. */
const VISITORS = 100_000;
/** Fewer for the configuration: each may have 600 times in memory, 5 kB. */
const CONFIG_VISITORS = 20_000;

/** How often one visitor may call the public routes of one deployment. */
export class VisitorLimits {
	readonly #configs: SlidingWindow;
	readonly #messages: SlidingWindow;

	constructor(clock: Clock) {
		this.#configs = new SlidingWindow(clock, MINUTE, CONFIG_VISITORS);
		this.#messages = new SlidingWindow(clock, MINUTE, VISITORS);
	}

	/** @throws AppError `rate_limit_exceeded` */
	countConfig(deploymentId: string, visitor: string): void {
		this.#count(this.#configs, `${deploymentId} ${visitor}`, CONFIGS_PER_MINUTE);
	}

	/** @throws AppError `rate_limit_exceeded` */
	countMessage(deploymentId: string, visitor: string, perMinute: number): void {
		this.#count(this.#messages, `${deploymentId} ${visitor}`, perMinute);
	}

	#count(window: SlidingWindow, key: string, limit: number): void {
		const retry_after = window.take(key, limit);
		if (retry_after === 0) return;
		throw new AppError('rate_limit_exceeded', `Too many requests. Try again in ${retry_after} seconds.`, {
			retry_after,
		});
	}
}
