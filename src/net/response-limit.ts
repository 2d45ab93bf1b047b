import type { Socket } from 'node:net';
import { AppError } from '../base/index.ts';

/** `HTTP/1.1 100`, with which the status line of an interim answer begins. */
const STATUS_LINE = /^HTTP\/1\.\d (\d{3})/;
const STATUS_BYTES = 12;
const END_OF_HEAD = Buffer.from('\r\n\r\n');

/**
 * Stands between a connection and whoever reads answers from it. Of one exchange at most so many bytes are read, those
 * included that say nothing: hints without end, extensions of a chunk, trailers. And an interim answer `100 Continue` is
 * left out: nobody here asks for it, but a server may send it all the same (RFC 9110, 15.2).
 *
 * Requests must be written in one piece, and one at a time: what is written next begins another exchange.
 */
export function limitResponses(socket: Socket, maxBytes: number): void {
	const read = socket.read.bind(socket);
	const unshift = socket.unshift.bind(socket);
	let bytesWrittenBefore = -1;
	let remainingBytes = maxBytes;
	let heads = new InterimResponseFilter();

	// What its reader has no room for yet is put back, and read again later.
	socket.unshift = (bytes: Buffer) => {
		remainingBytes += bytes.length;
		return unshift(bytes);
	};
	socket.read = (size?: number) => {
		// The stream itself asks for nothing when it only wants to be filled: what is there must stay.
		if (size === 0) return read(0);
		for (;;) {
			const bytes = read(size) as Buffer | null;
			if (bytes === null) return null;
			if (socket.bytesWritten !== bytesWrittenBefore) {
				bytesWrittenBefore = socket.bytesWritten;
				remainingBytes = maxBytes;
				heads = new InterimResponseFilter();
			}
			remainingBytes -= bytes.length;
			if (remainingBytes < 0) {
				socket.destroy(new AppError('unreadable_file', 'The answer has more bytes around it than are read.'));
				return null;
			}
			const filtered = heads.filter(bytes);
			if (filtered.length > 0) return filtered;
		}
	};
}

/** Follows the heads of interim answers up to the final one, and leaves out those that say `100`. */
class InterimResponseFilter {
	/** Where it is: before a status line, in the head of an interim answer, or in the final answer. */
	#state: 'before' | 'left out' | 'passed on' | 'final' = 'before';
	/** The beginning of a status line, or of the end of a head, that has not come whole. */
	#partial: Buffer = Buffer.alloc(0);

	filter(bytes: Buffer): Buffer {
		const output: Buffer[] = [];
		let remaining = bytes;
		while (remaining.length > 0) {
			if (this.#state === 'final') {
				output.push(remaining);
				break;
			}
			remaining = this.#state === 'before' ? this.#atStatusLine(remaining, output) : this.#inHead(remaining, output);
		}
		return output.length === 1 ? output[0]! : Buffer.concat(output);
	}

	/** Keeps the bytes until the status is known. @returns what follows */
	#atStatusLine(bytes: Buffer, output: Buffer[]): Buffer {
		const missing = STATUS_BYTES - this.#partial.length;
		const line = Buffer.concat([this.#partial, bytes.subarray(0, missing)]);
		this.#partial = line;
		if (line.length < STATUS_BYTES) return Buffer.alloc(0);
		const status = STATUS_LINE.exec(line.toString('latin1'))?.[1] ?? '';
		this.#partial = Buffer.alloc(0);
		if (status === '100') this.#state = 'left out';
		else {
			output.push(line);
			this.#state = status.startsWith('1') && status !== '101' ? 'passed on' : 'final';
		}
		return bytes.subarray(missing);
	}

	/** @returns what follows the end of the head */
	#inHead(bytes: Buffer, output: Buffer[]): Buffer {
		const joined = Buffer.concat([this.#partial, bytes]);
		const end = joined.indexOf(END_OF_HEAD);
		const headLength = end < 0 ? bytes.length : end + END_OF_HEAD.length - this.#partial.length;
		if (this.#state === 'passed on') output.push(bytes.subarray(0, headLength));
		if (end >= 0) this.#state = 'before';
		this.#partial = end < 0 ? joined.subarray(Math.max(0, joined.length - END_OF_HEAD.length + 1)) : Buffer.alloc(0);
		return bytes.subarray(headLength);
	}
}
