import type * as uWS from 'uWebSockets.js';

/** What an answer that is written in several steps needs of its exchange. */
export interface ResponseChannel {
	readonly res: uWS.HttpResponse;
	/** Whether the connection must close behind the answer. */
	readonly closesConnection: boolean;
	/** Counts what of an event stream was handed to the socket. */
	countStreamedBytes(bytes: string | Uint8Array): void;
	/** Bounds the time for which the client takes no byte. */
	startStallTimer(): void;
	/** The client takes bytes again. */
	stopStallTimer(): void;
	/** Whether the client takes no byte for now. */
	readonly isStalled: boolean;
	/**
	 * Called before the last bytes of an answer. Where the connection must close, nothing more is read from it: once an answer
	 * is complete the library would run what it reads. Its own limit of about ten seconds closes the connection then.
	 */
	pauseReading(): void;
	/** The answer is written; the library's response may not be used any more. */
	release(): void;
	/** Closes the connection at once, whatever was written. */
	closeNow(): void;
	/** Logs an answer that could not be written, and cuts. */
	failWrite(error: unknown): void;
}
