const LINE_FEED = 10;

/** Bounds the bytes of a body, and those of each of its lines. */
export class ResponseLimits {
	readonly #maxBodyBytes: number;
	readonly #maxLineBytes: number;
	#size = 0;
	#line = 0;

	constructor({ maxBodyBytes, maxLineBytes }: { maxBodyBytes: number; maxLineBytes: number }) {
		this.#maxBodyBytes = maxBodyBytes;
		this.#maxLineBytes = maxLineBytes;
	}

	/** Counts the next bytes. @returns a sentence if the body or a line is above its limit; null otherwise */
	add(chunk: Buffer): string | null {
		this.#size += chunk.length;
		if (this.#size > this.#maxBodyBytes) return `The response is larger than ${this.#maxBodyBytes} bytes.`;
		const first = chunk.indexOf(LINE_FEED);
		if (first < 0) this.#line += chunk.length;
		else if (this.#line + first <= this.#maxLineBytes) this.#line = chunk.length - 1 - chunk.lastIndexOf(LINE_FEED);
		else this.#line += first;
		return this.#line > this.#maxLineBytes ? `A line is longer than ${this.#maxLineBytes} bytes.` : null;
	}
}
