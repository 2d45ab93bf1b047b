/** Limits of the HTTP server. Times are in milliseconds. */
export interface HttpLimits {
	/** Bytes of a JSON body. */
	maxJsonBytes: number;
	/** Until a response must have begun, unless the route sets its own limit. Includes the time in which the body arrives. */
	responseTimeoutMs: number;
	/** Between two bytes of a body. */
	bodyIdleTimeoutMs: number;
	/** Until more of a chunked body must follow data that looks like its end. */
	chunkedEndTimeoutMs: number;
	/** For which a ready response waits for the rest of an unwanted body before it closes the connection. */
	lingeringCloseMs: number;
	/**
	 * For which a client may take no byte of a response. The HTTP library has its own limit of 10 to 12 seconds, so a larger
	 * value has no effect.
	 */
	sendTimeoutMs: number;
	/** Between two comments on an idle event stream. */
	heartbeatIntervalMs: number;
}

/** The limits of a server unless its options set others. */
export const DEFAULT_LIMITS: HttpLimits = {
	maxJsonBytes: 1024 * 1024,
	responseTimeoutMs: 60_000,
	bodyIdleTimeoutMs: 30_000,
	chunkedEndTimeoutMs: 2_000,
	lingeringCloseMs: 5_000,
	sendTimeoutMs: 10_000,
	heartbeatIntervalMs: 15_000,
};
