import { type Clock, Lru } from '../base/index.ts';

/** How much of a bucket is left. */
export interface BucketState {
	allowed: boolean;
	/** Requests a minute. */
	limit: number;
	/** Whole requests that may follow at once. */
	remaining: number;
	/** Whole seconds until the bucket is full again. */
	resetSeconds: number;
	/** Whole seconds until the next request is allowed; 0 where this one was. */
	retryAfter: number;
}

interface Bucket {
	tokens: number;
	at: number;
}

/** Buckets of those not seen for longest are forgotten: they are full again by then, or belong to an attacker. */
const BUCKETS = 50_000;

/** Token buckets by key: a steady rate a minute, with a burst of a sixth of it (at least 10). */
export class TokenBuckets {
	readonly #buckets = new Lru<string, Bucket>(BUCKETS);
	readonly #clock: Clock;

	constructor(clock: Clock) {
		this.#clock = clock;
	}

	/** Takes one token, or tells how long to wait. */
	take(key: string, perMinute: number): BucketState {
		const now = this.#clock.now();
		const burst = Math.max(10, Math.ceil(perMinute / 6));
		const perMs = perMinute / 60_000;
		const bucket = this.#buckets.get(key) ?? { tokens: burst, at: now };
		bucket.tokens = Math.min(burst, bucket.tokens + Math.max(0, now - bucket.at) * perMs);
		bucket.at = now;
		const allowed = bucket.tokens >= 1;
		if (allowed) bucket.tokens -= 1;
		this.#buckets.set(key, bucket);
		return {
			allowed,
			limit: perMinute,
			remaining: Math.floor(bucket.tokens),
			resetSeconds: Math.ceil((burst - bucket.tokens) / perMs / 1000),
			retryAfter: allowed ? 0 : Math.max(1, Math.ceil((1 - bucket.tokens) / perMs / 1000)),
		};
	}
}
