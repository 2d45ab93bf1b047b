/** `HTTP/1.1 100`: the beginning of a status line, up to the status. */
const STATUS_LINE = /^HTTP\/1\.\d (\d{3})/;
const STATUS_BYTES = 12;
const END_OF_HEAD = Buffer.from('\r\n\r\n');

/**
 * Removes interim responses with status 100 from what a connection receives. A client must accept them although it did not
 * ask for any (RFC 9110, 15.2), but undici closes the connection. Other interim responses and the final one pass unchanged.
 */
export class InterimResponseFilter {
	/**
	 * The part of the exchange that the next byte belongs to: a status line, the head of an interim response, or the final
	 * response.
	 */
	#state: 'status line' | 'removed head' | 'kept head' | 'final' = 'status line';
	/** The bytes received so far of a status line, or of the blank line that ends a head. */
	#partial: Buffer = Buffer.alloc(0);

	/** The final response has begun. No byte after that is removed. */
	get isFinal(): boolean {
		return this.#state === 'final';
	}

	/**
	 * @returns the bytes to keep of those received; the first bytes of a status line are held back until the status is known
	 */
	filter(bytes: Buffer): Buffer {
		const output: Buffer[] = [];
		let remaining = bytes;
		while (remaining.length > 0) {
			if (this.#state === 'final') {
				output.push(remaining);
				break;
			}
			remaining =
				this.#state === 'status line' ? this.#atStatusLine(remaining, output) : this.#inHead(remaining, output);
		}
		return output.length === 1 ? output[0]! : Buffer.concat(output);
	}

	/** Holds the bytes back until the status is known. @returns the bytes after the status */
	#atStatusLine(bytes: Buffer, output: Buffer[]): Buffer {
		const missing = STATUS_BYTES - this.#partial.length;
		const line = Buffer.concat([this.#partial, bytes.subarray(0, missing)]);
		this.#partial = line;
		if (line.length < STATUS_BYTES) return Buffer.alloc(0);
		const status = STATUS_LINE.exec(line.toString('latin1'))?.[1] ?? '';
		this.#partial = Buffer.alloc(0);
		if (status === '100') this.#state = 'removed head';
		else {
			output.push(line);
			this.#state = status.startsWith('1') && status !== '101' ? 'kept head' : 'final';
		}
		return bytes.subarray(missing);
	}

	/** @returns the bytes after the end of the head */
	#inHead(bytes: Buffer, output: Buffer[]): Buffer {
		const joined = Buffer.concat([this.#partial, bytes]);
		const end = joined.indexOf(END_OF_HEAD);
		const headLength = end < 0 ? bytes.length : end + END_OF_HEAD.length - this.#partial.length;
		if (this.#state === 'kept head') output.push(bytes.subarray(0, headLength));
		if (end >= 0) this.#state = 'status line';
		this.#partial = end < 0 ? joined.subarray(Math.max(0, joined.length - END_OF_HEAD.length + 1)) : Buffer.alloc(0);
		return bytes.subarray(headLength);
	}
}
