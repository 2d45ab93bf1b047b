import type * as uWS from 'uWebSockets.js';
import { AppError, type Log, newId } from '../base/index.ts';
import { errorResponse } from './errors.ts';
import { writeHead } from './response-head.ts';

const SECONDS_TO_RETRY = 10;
/** Of the limit: connections are said to be taken again when fewer are open, so that the log does not go to and fro. */
const RESUME_RATIO = 0.9;

/**
 * Counts the connections of clients. One beyond the limit is answered 503 as soon as it is there, without waiting for a
 * request, and closed. The library closes connections that bring no request within about ten seconds, so idle ones do not
 * count for ever.
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

	/** The library calls this for each connection: with 1 when it begins, with -1 when it has ended. */
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
				'new connections are refused: as many are open as the limit on file descriptors allows',
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
