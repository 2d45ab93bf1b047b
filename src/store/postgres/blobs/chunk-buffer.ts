/** Bytes of a chunk: the memory that an upload takes, and 200 chunks are a large document. */
export const CHUNK_BYTES = 256 * 1024;

/** Divides bytes that arrive into chunks of one size. Only the last is smaller; without bytes it is empty. */
export class ChunkBuffer {
	readonly #write: (chunk: Buffer, number: number) => Promise<void>;
	readonly #buffer = Buffer.allocUnsafe(CHUNK_BYTES);
	#length = 0;
	#number = 0;

	/** @param write stores a chunk. Its buffer is used again afterwards. */
	constructor(write: (chunk: Buffer, number: number) => Promise<void>) {
		this.#write = write;
	}

	async add(piece: Uint8Array): Promise<void> {
		for (let rest = piece; rest.length > 0; ) {
			const part = rest.subarray(0, CHUNK_BYTES - this.#length);
			this.#buffer.set(part, this.#length);
			this.#length += part.length;
			rest = rest.subarray(part.length);
			if (this.#length === CHUNK_BYTES) await this.#flush();
		}
	}

	/** Writes what is left. */
	async end(): Promise<void> {
		if (this.#length > 0 || this.#number === 0) await this.#flush();
	}

	async #flush(): Promise<void> {
		await this.#write(this.#buffer.subarray(0, this.#length), this.#number);
		this.#number++;
		this.#length = 0;
	}
}
