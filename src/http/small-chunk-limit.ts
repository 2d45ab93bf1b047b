import { AppError } from '../base/index.ts';

/** Chunks of each body that may have any size. */
const FREE_CHUNKS = 64;
/** The chunks of a body are small if they have fewer bytes on average. */
const SMALL_BYTES = 32;
/** Further small chunks, those of all clients together. As many may come at once. */
const CHUNKS_PER_SECOND = 10_000;
const RESPONSE_INTERVAL_MS = 10_000;

/**
 * Limits how many small chunks the server reads, by a token bucket. A chunk of one byte takes as long to read as one of a kilobyte, so without a
 * limit a few clients with little bandwidth would use the whole main thread. A body above the limit is refused.
 */
export class SmallChunkLimit {
	#tokens = CHUNKS_PER_SECOND;
	#refilledAt = performance.now();
	#nextResponseAt = 0;

	/**
	 * Whether a body's next chunk may be read.
	 * @param chunks those of the body, with this one
	 * @param bytes those of the body
	 */
	take(chunks: number, bytes: number): boolean {
		if (chunks <= FREE_CHUNKS || bytes >= chunks * SMALL_BYTES) return true;
		if (this.#tokens < 1) this.#refill();
		if (this.#tokens < 1) return false;
		this.#tokens--;
		return true;
	}

	/**
	 * Whether a refused client gets a response: one does in ten seconds. The HTTP library passes on all chunks that it has received before it sends a
	 * response, which may take 45 ms. A connection that is closed without a response takes no more time.
	 */
	takeResponse(): boolean {
		const now = performance.now();
		if (now < this.#nextResponseAt) return false;
		this.#nextResponseAt = now + RESPONSE_INTERVAL_MS;
		return true;
	}

	#refill(): void {
		const now = performance.now();
		const added = ((now - this.#refilledAt) / 1_000) * CHUNKS_PER_SECOND;
		this.#tokens = Math.min(CHUNKS_PER_SECOND, this.#tokens + added);
		this.#refilledAt = now;
	}
}

export function tooManySmallChunksError(): AppError {
	return new AppError(
		'invalid_request',
		`The request body has too many small chunks. Send chunks of ${SMALL_BYTES} bytes or more.`,
	);
}
