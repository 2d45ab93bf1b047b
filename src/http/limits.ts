/** Bounds of the HTTP front. Times are in milliseconds. */
export interface HttpLimits {
	/** Bytes of a JSON body. */
	maxJsonBytes: number;
	/** Until an answer must have begun, where the route names no time of its own; the body's arrival counts. */
	responseTimeoutMs: number;
	/** For which a body may bring no byte. */
	bodyIdleTimeoutMs: number;
	/** For which a chunked body may bring nothing after data that looks like its end. */
	chunkedEndTimeoutMs: number;
	/** For which an answer that is ready waits for the rest of a body that nobody wants, before it closes the connection. */
	lingeringCloseMs: number;
	/**
	 * For which a client may take no byte of an answer. The HTTP library has a limit of its own of 10 to 12 seconds; a
	 * larger value here changes nothing.
	 */
	sendTimeoutMs: number;
	/** Between two comments on an event stream that has nothing to say. */
	heartbeatIntervalMs: number;
}

/** What a server uses where it is told nothing else. */
export const DEFAULT_LIMITS: HttpLimits = {
	maxJsonBytes: 1024 * 1024,
	responseTimeoutMs: 60_000,
	bodyIdleTimeoutMs: 30_000,
	chunkedEndTimeoutMs: 2_000,
	lingeringCloseMs: 5_000,
	sendTimeoutMs: 10_000,
	heartbeatIntervalMs: 15_000,
};
