import type * as uWS from 'uWebSockets.js';
import { AppError, type Log, newId } from '../base/index.ts';
import { errorResponse } from './errors.ts';
import { writeHead } from './response-head.ts';

const SECONDS_TO_RETRY = 10;
/** Share of the limit below which the log reports that connections are accepted again. Below 1, so that it does not alternate. */
const RESUME_RATIO = 0.9;

/**
 * Counts the clients' connections. A connection beyond the limit is answered 503 and closed at once, without waiting for a
 * request. The library closes connections that send no request within about ten seconds, so idle ones do not count for ever.
 */
export class ConnectionLimit {
	readonly #limit: number;
	readonly #log: Log;
	#openCount = 0;
	#isRefusing = false;

	constructor(limit: number, log: Log) {
		this.#limit = limit;
		this.#log = log;
	}

	/** Connections that are open. */
	get openCount(): number {
		return this.#openCount;
	}

	/** The library calls this with 1 when a connection opens and with -1 when it has closed. */
	count(res: uWS.HttpResponse, change: number): void {
		this.#openCount += change;
		if (change > 0 && this.#openCount > this.#limit) this.#refuse(res);
		else if (this.#isRefusing && this.#openCount < this.#limit * RESUME_RATIO) {
			this.#isRefusing = false;
			this.#log.info({ open: this.#openCount, limit: this.#limit }, 'connections are accepted again');
		}
	}

	#refuse(res: uWS.HttpResponse): void {
		if (!this.#isRefusing) {
			this.#isRefusing = true;
			this.#log.warn(
				{ open: this.#openCount, limit: this.#limit },
				'new connections are refused: the limit that the file descriptors allow is reached',
			);
		}
		const id = newId('request');
		const sentence = 'The server has too many open connections. Try again later.';
		const response = errorResponse(
			new AppError('unavailable', sentence, { retry_after: SECONDS_TO_RETRY }),
			id,
			this.#log,
		);
		res.cork(() => {
			writeHead(res, id, response);
			res.end(response.body, true);
		});
	}
}
