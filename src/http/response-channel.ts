import type * as uWS from 'uWebSockets.js';

/** What the writers of a response need from its exchange. */
export interface ResponseChannel {
	readonly res: uWS.HttpResponse;
	/** Sent as `X-Request-Id`. */
	readonly requestId: string;
	/** Whether the response has no body because the request is a HEAD. */
	readonly isHead: boolean;
	/** Whether the connection must close after the response. */
	readonly closesConnection: boolean;
	/** The response stays pending when the writer returns: subscribes to the client's leaving. */
	keepPending(): void;
	/** Counts bytes of an event stream that the socket took. */
	countStreamedBytes(bytes: string | Uint8Array): void;
	/** Starts the time limit within which the client must take a byte. */
	startStallTimer(): void;
	/** The client takes bytes again. */
	stopStallTimer(): void;
	/** Whether the client takes no byte at present. */
	readonly isStalled: boolean;
	/**
	 * Called before the last bytes of a response. Where the connection must close, the server stops reading from it: once a
	 * response is complete, the library would run the next request that it reads. The library's own limit of about ten seconds
	 * then closes the connection.
	 */
	pauseReading(): void;
	/** The response is written. The library's response object must not be used after this call. */
	release(): void;
	/** Closes the connection at once, in whatever state the response is. */
	closeNow(): void;
	/** Logs that the events of a stream failed. */
	reportStreamFailure(error: unknown): void;
	/** Logs a response that could not be written, and closes the connection. */
	failWrite(error: unknown): void;
}
