import type { Socket } from 'node:net';
import { AppError } from '../base/index.ts';

/** `HTTP/1.1 100`, with which the status line of an interim answer begins. */
const STATUS = /^HTTP\/1\.\d (\d{3})/;
const STATUS_BYTES = 12;
const END_OF_HEAD = Buffer.from('\r\n\r\n');

/**
 * Stands between a connection and whoever reads answers from it. Of one exchange at most so many bytes are read, those
 * included that say nothing: hints without end, extensions of a chunk, trailers. And an interim answer `100 Continue` is
 * left out: nobody here asks for it, but a server may send it all the same (RFC 9110, 15.2).
 *
 * Requests must be written in one piece, and one at a time: what is written next begins another exchange.
 */
export function readAnswers(socket: Socket, maxBytes: number): void {
	const read = socket.read.bind(socket);
	const unshift = socket.unshift.bind(socket);
	let written = -1;
	let room = maxBytes;
	let heads = new Heads();

	// What its reader has no room for yet is put back, and read again later.
	socket.unshift = (bytes: Buffer) => {
		room += bytes.length;
		return unshift(bytes);
	};
	socket.read = (size?: number) => {
		// The stream itself asks for nothing when it only wants to be filled: what is there must stay.
		if (size === 0) return read(0);
		for (;;) {
			const bytes = read(size) as Buffer | null;
			if (bytes === null) return null;
			if (socket.bytesWritten !== written) {
				written = socket.bytesWritten;
				room = maxBytes;
				heads = new Heads();
			}
			room -= bytes.length;
			if (room < 0) {
				socket.destroy(new AppError('unreadable_file', 'The answer has more bytes around it than are read.'));
				return null;
			}
			const passed = heads.pass(bytes);
			if (passed.length > 0) return passed;
		}
	};
}

/** Follows the heads of interim answers up to the final one, and leaves out those that say `100`. */
class Heads {
	/** Where it is: before a status line, in the head of an interim answer, or in the final answer. */
	#place: 'before' | 'left out' | 'passed on' | 'final' = 'before';
	/** The beginning of a status line, or of the end of a head, that has not come whole. */
	#begun: Buffer = Buffer.alloc(0);

	pass(bytes: Buffer): Buffer {
		const passed: Buffer[] = [];
		let left = bytes;
		while (left.length > 0) {
			if (this.#place === 'final') {
				passed.push(left);
				break;
			}
			left = this.#place === 'before' ? this.#atStatusLine(left, passed) : this.#inHead(left, passed);
		}
		return passed.length === 1 ? passed[0]! : Buffer.concat(passed);
	}

	/** Keeps the bytes until the status is known. @returns what follows */
	#atStatusLine(bytes: Buffer, passed: Buffer[]): Buffer {
		const missing = STATUS_BYTES - this.#begun.length;
		const line = Buffer.concat([this.#begun, bytes.subarray(0, missing)]);
		this.#begun = line;
		if (line.length < STATUS_BYTES) return Buffer.alloc(0);
		const status = STATUS.exec(line.toString('latin1'))?.[1] ?? '';
		this.#begun = Buffer.alloc(0);
		if (status === '100') this.#place = 'left out';
		else {
			passed.push(line);
			this.#place = status.startsWith('1') && status !== '101' ? 'passed on' : 'final';
		}
		return bytes.subarray(missing);
	}

	/** @returns what follows the end of the head */
	#inHead(bytes: Buffer, passed: Buffer[]): Buffer {
		const joined = Buffer.concat([this.#begun, bytes]);
		const end = joined.indexOf(END_OF_HEAD);
		const ofHead = end < 0 ? bytes.length : end + END_OF_HEAD.length - this.#begun.length;
		if (this.#place === 'passed on') passed.push(bytes.subarray(0, ofHead));
		if (end >= 0) this.#place = 'before';
		this.#begun = end < 0 ? joined.subarray(Math.max(0, joined.length - END_OF_HEAD.length + 1)) : Buffer.alloc(0);
		return bytes.subarray(ofHead);
	}
}
