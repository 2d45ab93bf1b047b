import { AppError } from '../base/index.ts';
import type { BodyBuffer } from './body-buffer.ts';
import { ChunkCredit, type SmallChunkLimit } from './small-chunk-limit.ts';

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
 * 3. It passes on each chunk apart, however small it is. `SmallChunkLimit` says how many are read.
 */
export class ChunkedBody {
	readonly #buffer: BodyBuffer;
	readonly #endTimeoutMs: number;
	readonly #credit: ChunkCredit;
	readonly #onTooManySmallChunks: () => void;
	#isRefused = false;
	/** The last bytes of the data, as many as `BODY_END` has. */
	readonly #tail = Buffer.alloc(BODY_END.length);
	#timer: NodeJS.Timeout | null = null;

	/**
	 * @param endTimeoutMs time limit within which more must follow data that looks like the end of the body
	 * @param onTooManySmallChunks is called once. Nothing is passed on after it.
	 */
	constructor(
		buffer: BodyBuffer,
		endTimeoutMs: number,
		smallChunkLimit: SmallChunkLimit,
		onTooManySmallChunks: () => void,
	) {
		this.#buffer = buffer;
		this.#endTimeoutMs = endTimeoutMs;
		this.#credit = new ChunkCredit(smallChunkLimit);
		this.#onTooManySmallChunks = onTooManySmallChunks;
	}

	/** Takes bytes from the library. They are valid only during the call. */
	push(bytes: Uint8Array, last: boolean): void {
		if (this.#isRefused) return;
		this.stopTimer();
		if (last) {
			setImmediate(() => {
				if (!this.#buffer.hasFailed) this.#buffer.push(NO_BYTES, true);
			});
			return;
		}
		if (!this.#credit.take(bytes.length)) {
			this.#isRefused = true;
			this.#onTooManySmallChunks();
			return;
		}
		this.#buffer.push(bytes, false);
		const end = bytes.subarray(-BODY_END.length);
		this.#tail.copyWithin(0, end.length);
		this.#tail.set(end, BODY_END.length - end.length);
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
