import { createHash } from 'node:crypto';
import { type Clock, SlidingWindowLimiter } from '../base/index.ts';
import type { SharedLimits } from '../store/index.ts';

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;

/**
 * Failures that are allowed in a window, and the entries in memory: only attempts that have failed or are in progress. A failure costs a
 * hash, and the server computes some hundreds a minute and some ten thousand an hour, so no failure is evicted before it expires.
 */
const LIMITS = {
	address: { limit: 5, windowMs: MINUTE, maxTracked: 50_000 },
	account: { limit: 20, windowMs: HOUR, maxTracked: 100_000 },
	device: { limit: 5, windowMs: MINUTE, maxTracked: 50_000 },
	/** Codes on known devices, by account. */
	device_code: { limit: 20, windowMs: HOUR, maxTracked: 100_000 },
} as const;

type LimitedBy = keyof typeof LIMITS;

/** An attempt to sign in, by what limits it. */
export interface SignInAttempt {
	of: LimitedBy;
	/** An address, an email, a device or an account. */
	key: string;
}

/** Counts attempts to sign in against their limits. */
export interface AttemptCounts {
	/**
	 * Counts attempts, all or none.
	 * @returns 0, or the seconds until the limit that is reached allows another one
	 */
	count(attempts: readonly SignInAttempt[]): Promise<number>;
	/** Removes the newest attempts, because they did not fail. */
	refund(attempts: readonly SignInAttempt[]): Promise<void>;
}

/** Counts in the memory of this process. */
export class MemoryAttemptCounts implements AttemptCounts {
	readonly #limiters: Record<LimitedBy, SlidingWindowLimiter>;

	constructor(clock: Clock) {
		const limiter = (of: LimitedBy) => new SlidingWindowLimiter(clock, LIMITS[of].windowMs, LIMITS[of].maxTracked);
		this.#limiters = {
			address: limiter('address'),
			account: limiter('account'),
			device: limiter('device'),
			device_code: limiter('device_code'),
		};
	}

	async count(attempts: readonly SignInAttempt[]): Promise<number> {
		for (const [at, { of, key }] of attempts.entries()) {
			const wait = this.#limiters[of].tryConsume(shortKey(key), LIMITS[of].limit);
			if (wait === 0) continue;
			this.#refund(attempts.slice(0, at));
			return wait;
		}
		return 0;
	}

	async refund(attempts: readonly SignInAttempt[]): Promise<void> {
		this.#refund(attempts);
	}

	#refund(attempts: readonly SignInAttempt[]): void {
		for (const { of, key } of attempts) this.#limiters[of].refund(shortKey(key));
	}
}

/** Counts in the database, for all nodes of a cluster together. */
export class SharedAttemptCounts implements AttemptCounts {
	readonly #limits: Pick<SharedLimits, 'countAttempts' | 'refundAttempts'>;

	constructor(limits: Pick<SharedLimits, 'countAttempts' | 'refundAttempts'>) {
		this.#limits = limits;
	}

	async count(attempts: readonly SignInAttempt[]): Promise<number> {
		const limited = attempts.map((attempt) => {
			const { limit, windowMs } = LIMITS[attempt.of];
			return { key: sharedKey(attempt), limit, windowMs };
		});
		return Math.ceil((await this.#limits.countAttempts(limited)) / 1_000);
	}

	async refund(attempts: readonly SignInAttempt[]): Promise<void> {
		// Who has signed in stays signed in where the database does not answer now: then the attempt counts as failed.
		await this.#limits.refundAttempts(attempts.map(sharedKey)).catch(() => {});
	}
}

function sharedKey({ of, key }: SignInAttempt): string {
	return `${of} ${shortKey(key)}`;
}

/** A key of fixed length for an email of any length. */
function shortKey(key: string): string {
	return createHash('sha256').update(key).digest('base64url').slice(0, 22);
}
