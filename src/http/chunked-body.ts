import { AppError } from '../base/index.ts';
import type { BodyInlet } from './body-inlet.ts';

const NOTHING = new Uint8Array(0);
/** The end of a chunked body, behind the line break that ends its last data (RFC 9112, section 7.1). */
const END = Buffer.from('\r\n0\r\n\r\n');

/**
 * Carries a chunked body from the HTTP library to its inlet. The library reads chunks laxly, and shows only their data:
 *
 * 1. It reports the end of a body before it reads what follows. The end is handed on one turn later: where the rest of the
 *    packet is no clean end (trailers, a further request), the library has closed the connection by then, and the request
 *    does not run.
 * 2. It reads a chunk extension as digits of the size. Such a size is too large, so the end of the body arrives as data, and
 *    then nothing: that is refused soon, instead of when the body's own limit has passed.
 */
export class ChunkedBody {
	readonly #inlet: BodyInlet;
	readonly #waitMs: number;
	#tail = Buffer.alloc(0);
	#timer: NodeJS.Timeout | null = null;

	/** @param waitMs for which more must follow what looks like the end of the body */
	constructor(inlet: BodyInlet, waitMs: number) {
		this.#inlet = inlet;
		this.#waitMs = waitMs;
	}

	/** The library delivers. The bytes are valid only during the call. */
	arrive(bytes: Uint8Array, last: boolean): void {
		this.stop();
		if (last) {
			setImmediate(() => {
				if (!this.#inlet.failed) this.#inlet.arrive(NOTHING, true);
			});
			return;
		}
		this.#inlet.arrive(bytes, false);
		this.#tail = Buffer.concat([this.#tail, bytes.subarray(-END.length)]).subarray(-END.length);
		if (this.#tail.equals(END)) this.#timer = setTimeout(() => this.#refuse(), this.#waitMs);
	}

	/** The exchange is over. */
	stop(): void {
		if (this.#timer !== null) clearTimeout(this.#timer);
		this.#timer = null;
	}

	#refuse(): void {
		// The client waits for us: what comes next may well be more data.
		if (this.#inlet.paused) {
			this.#timer?.refresh();
			return;
		}
		this.#inlet.stall(
			new AppError('invalid_request', 'The chunked body does not end. Send it without chunk extensions and trailers.'),
		);
	}
}
