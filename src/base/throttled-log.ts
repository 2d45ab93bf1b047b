import type { Log } from './log.ts';
import { LruCache } from './lru-cache.ts';

/** Causes kept in memory; an evicted cause is logged at once. */
const MAX_CAUSES = 100;
const THROTTLE_MS = 60_000;

/**
 * Logs errors that can occur with every request: the first of a cause at once, further ones at most once a minute, with the
 * number of errors since the previous line.
 */
export class ThrottledLog {
	readonly #log: Log;
	readonly #now: () => number;
	readonly #causes = new LruCache<string, { loggedAt: number; count: number }>(MAX_CAUSES);

	/** @param now milliseconds of a monotonic clock */
	constructor(log: Log, now: () => number = () => performance.now()) {
		this.#log = log;
		this.#now = now;
	}

	error(cause: string, facts: object, message: string): void {
		this.#write('error', cause, facts, message);
	}

	warn(cause: string, facts: object, message: string): void {
		this.#write('warn', cause, facts, message);
	}

	#write(level: 'error' | 'warn', cause: string, facts: object, message: string): void {
		const now = this.#now();
		const known = this.#causes.get(cause);
		if (known !== undefined && now - known.loggedAt < THROTTLE_MS) {
			known.count++;
			return;
		}
		this.#causes.set(cause, { loggedAt: now, count: 0 });
		this.#log[level]({ ...facts, count: (known?.count ?? 0) + 1 }, message);
	}
}
