/** Bounds of the HTTP front. Times are in milliseconds. */
export interface HttpLimits {
	/** Bytes of a JSON body. */
	jsonBytes: number;
	/** Until an answer must have begun, where the route names no time of its own; the body's arrival counts. */
	deadlineMs: number;
	/** For which a body may bring no byte. */
	bodyIdleMs: number;
	/** For which a chunked body may bring nothing after data that looks like its end. */
	swallowedEndMs: number;
	/** For which an answer that is ready waits for the rest of a body that nobody wants, before it closes the connection. */
	lingerMs: number;
	/**
	 * For which a client may take no byte of an answer. The HTTP library has a limit of its own of 10 to 12 seconds; a
	 * larger value here changes nothing.
	 */
	stallMs: number;
	/** Between two comments on an event stream that has nothing to say. */
	heartbeatMs: number;
}

/** What a server uses where it is told nothing else. */
export const DEFAULT_LIMITS: HttpLimits = {
	jsonBytes: 1024 * 1024,
	deadlineMs: 60_000,
	bodyIdleMs: 30_000,
	swallowedEndMs: 2_000,
	lingerMs: 5_000,
	stallMs: 10_000,
	heartbeatMs: 15_000,
};
