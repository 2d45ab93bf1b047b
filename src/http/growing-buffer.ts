/** Shared by all empty ones: most requests need no other. */
const EMPTY = Buffer.alloc(0);

/**
 * Bytes that arrive in pieces. It needs at most about twice their memory, however small the pieces are: an object for each piece of one byte would
 * need a hundred times as much.
 */
export class GrowingBuffer {
	#buffer: Buffer = EMPTY;
	#length = 0;

	/** The number of bytes. */
	get length(): number {
		return this.#length;
	}

	/** Copies the next bytes. */
	append(bytes: Uint8Array): void {
		const end = this.#length + bytes.length;
		if (end > this.#buffer.length) {
			const larger = Buffer.allocUnsafe(Math.max(end, 2 * this.#length));
			larger.set(this.#buffer.subarray(0, this.#length));
			this.#buffer = larger;
		}
		this.#buffer.set(bytes, this.#length);
		this.#length = end;
	}

	/** All bytes, not copied. */
	bytes(): Buffer {
		return this.#buffer.subarray(0, this.#length);
	}

	clear(): void {
		this.#buffer = EMPTY;
		this.#length = 0;
	}
}
