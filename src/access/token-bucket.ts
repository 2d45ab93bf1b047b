import { type Clock, LruCache } from '../base/index.ts';
import type { UnpublishedUse } from './unpublished-use.ts';

/** The state of a bucket. */
export interface BucketState {
	allowed: boolean;
	/** Requests a minute. */
	limit: number;
	/** Whole requests that may follow immediately. */
	remaining: number;
	/** Whole seconds until the bucket is full again. */
	resetSeconds: number;
	/** Whole seconds until the next request is allowed; 0 where this one was. */
	retryAfter: number;
}

interface Bucket {
	/** In sixty-thousandths of a request, so that a millisecond adds a whole number of them and none is lost to rounding. */
	level: number;
	updatedAt: number;
}

/** What one request takes from a bucket's level; each millisecond adds `perMinute`. */
const UNITS_PER_REQUEST = 60_000;

/** The least recently used buckets are evicted: they are full again by then, or belong to an attacker. */
const MAX_BUCKETS = 50_000;

/** Token buckets by key: a steady rate a minute, with a burst of a sixth of it (at least 10). */
export class TokenBuckets {
	readonly #buckets = new LruCache<string, Bucket>(MAX_BUCKETS);
	readonly #clock: Clock;
	readonly #unpublished: UnpublishedUse | undefined;

	/** @param unpublished receives what is taken, for the other nodes of a cluster */
	constructor(clock: Clock, unpublished?: UnpublishedUse) {
		this.#clock = clock;
		this.#unpublished = unpublished;
	}

	/** Takes one token, or returns how long to wait. */
	tryConsume(key: string, perMinute: number): BucketState {
		const full = burstOf(perMinute) * UNITS_PER_REQUEST;
		const bucket = this.#refilled(key, perMinute, full);
		const allowed = bucket.level >= UNITS_PER_REQUEST;
		if (allowed) {
			bucket.level -= UNITS_PER_REQUEST;
			this.#unpublished?.add(key, perMinute, burstOf(perMinute));
		}
		const secondsTo = (level: number) => Math.ceil((level - bucket.level) / (perMinute * 1000));
		return {
			allowed,
			limit: perMinute,
			remaining: Math.max(0, Math.floor(bucket.level / UNITS_PER_REQUEST)),
			resetSeconds: secondsTo(full),
			retryAfter: allowed ? 0 : secondsTo(UNITS_PER_REQUEST),
		};
	}
	/**
	 * Takes what another node has used. The level may fall below zero, down to one burst, because the other node did not know of the
	 * requests of this one.
	 */
	takeForOther(key: string, perMinute: number, used: number): void {
		const full = burstOf(perMinute) * UNITS_PER_REQUEST;
		const bucket = this.#refilled(key, perMinute, full);
		bucket.level = Math.max(-full, bucket.level - used * UNITS_PER_REQUEST);
	}

	#refilled(key: string, perMinute: number, full: number): Bucket {
		const now = this.#clock.now();
		const bucket = this.#buckets.get(key) ?? { level: full, updatedAt: now };
		bucket.level = Math.min(full, bucket.level + Math.max(0, now - bucket.updatedAt) * perMinute);
		bucket.updatedAt = now;
		this.#buckets.set(key, bucket);
		return bucket;
	}
}

/** How many requests may come at once. */
function burstOf(perMinute: number): number {
	return Math.max(10, Math.ceil(perMinute / 6));
}
