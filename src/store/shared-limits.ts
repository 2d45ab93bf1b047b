/** Requests that were counted against a limit. */
export interface UsedRequests {
	/** Whose limit it is. */
	key: string;
	used: number;
	/** The limit. */
	perMinute: number;
}

/** An attempt that counts against a limit of attempts in a sliding window. */
export interface LimitedAttempt {
	/** Whose limit it is. */
	key: string;
	limit: number;
	windowMs: number;
}

/** Limits that hold for all nodes of a cluster together. The embedded store has none: its process counts in memory. */
export interface SharedLimits {
	/**
	 * Publishes what this node has used since the last call, and returns what other nodes have published since then, of the last ten
	 * seconds. What a call publishes that fails may be lost.
	 */
	exchangeUse(used: readonly UsedRequests[]): Promise<UsedRequests[]>;
	/**
	 * Counts attempts against their limits: all, or none where one of them is reached. Concurrent calls of all nodes cannot exceed
	 * a limit. Calls with the same keys must name them in the same order.
	 * @returns 0, or the milliseconds until the limit allows another attempt
	 * @throws AppError `unavailable`
	 */
	countAttempts(attempts: readonly LimitedAttempt[]): Promise<number>;
	/** Removes the newest attempt of each key, because it should not have been counted. @throws AppError `unavailable` */
	refundAttempts(keys: readonly string[]): Promise<void>;
}
