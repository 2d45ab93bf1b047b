import { AppError } from '../base/index.ts';
import type { BodyBuffer } from './body-buffer.ts';

const NO_BYTES = new Uint8Array(0);
/** The end of a chunked body, with the line break that ends its last data (RFC 9112, section 7.1). */
const BODY_END = Buffer.from('\r\n0\r\n\r\n');

/**
 * Passes a chunked body from the HTTP library to its buffer. The library parses chunks laxly and shows only their data:
 *
 * 1. It reports the end of a body before it reads what follows. The end is passed on in the next iteration of the event
 *    loop: if the rest of the packet is not a clean end (trailers, another request), the library has closed the connection
 *    by then, and the request does not run.
 * 2. It reads a chunk extension as digits of the size. Such a size is too large, so the end of the body arrives as data, and
 *    nothing follows. That is rejected soon, instead of after the body's own time limit.
 */
export class ChunkedBody {
	readonly #buffer: BodyBuffer;
	readonly #endTimeoutMs: number;
	#tail = Buffer.alloc(0);
	#timer: NodeJS.Timeout | null = null;

	/** @param endTimeoutMs time limit within which more must follow data that looks like the end of the body */
	constructor(buffer: BodyBuffer, endTimeoutMs: number) {
		this.#buffer = buffer;
		this.#endTimeoutMs = endTimeoutMs;
	}

	/** Takes bytes from the library. They are valid only during the call. */
	push(bytes: Uint8Array, last: boolean): void {
		this.stopTimer();
		if (last) {
			setImmediate(() => {
				if (!this.#buffer.hasFailed) this.#buffer.push(NO_BYTES, true);
			});
			return;
		}
		this.#buffer.push(bytes, false);
		this.#tail = Buffer.concat([this.#tail, bytes.subarray(-BODY_END.length)]).subarray(-BODY_END.length);
		if (this.#tail.equals(BODY_END)) this.#timer = setTimeout(() => this.#failUnended(), this.#endTimeoutMs);
	}

	stopTimer(): void {
		if (this.#timer !== null) clearTimeout(this.#timer);
		this.#timer = null;
	}

	#failUnended(): void {
		// The server has paused the client, so more data may follow.
		if (this.#buffer.isPaused) {
			this.#timer?.refresh();
			return;
		}
		this.#buffer.failStalled(
			new AppError('invalid_request', 'The chunked body does not end. Send it without chunk extensions and trailers.'),
		);
	}
}
