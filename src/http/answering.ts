import type * as uWS from 'uWebSockets.js';

/** What an answer that is written in several steps needs of its exchange. */
export interface Answering {
	readonly res: uWS.HttpResponse;
	/** Whether the connection must close behind the answer. */
	readonly closing: boolean;
	/** Counts what of an event stream was handed to the socket. */
	countStreamed(bytes: string | Uint8Array): void;
	/** Bounds the time for which the client takes no byte. */
	waitForRoom(): void;
	/** The client takes bytes again. */
	roomAgain(): void;
	/** Whether the client takes no byte for now. */
	readonly stalled: boolean;
	/**
	 * Called before the last bytes of an answer. Where the connection must close, nothing more is read from it: once an answer
	 * is complete the library would run what it reads. Its own limit of about ten seconds closes the connection then.
	 */
	stopReading(): void;
	/** The answer is written; the library's response may not be used any more. */
	release(): void;
	/** Closes the connection at once, whatever was written. */
	cut(): void;
	/** Logs an answer that could not be written, and cuts. */
	breakOff(error: unknown): void;
}
