import type { Socket } from 'node:net';
import { InterimResponseFilter } from './interim-response-filter.ts';

/** A response has more bytes than are read. Callers of `net` get an error or a sentence of their own instead. */
export class ResponseLimitError extends Error {
	constructor(maxBytes: number) {
		super(`The response is larger than ${maxBytes} bytes, headers and framing included.`);
	}
}

/**
 * Limits what is read of each response on a connection, and removes interim responses with status 100.
 *
 * undici bounds one head (`maxHeaderSize`, trailers included) and one body (`maxResponseSize`). It bounds neither the number
 * of interim responses nor the extensions of a chunk, and it closes the connection on an interim response 100. So every byte
 * of a response is counted here, where the socket has it. Only the socket's public interface is used: `bytesRead`, the event
 * `readable`, `read` and `unshift`. The listener is added before undici adds its own, and listeners run in the order in
 * which they were added. undici reads a response in that event only, until the body begins.
 *
 * Each request must be written in one piece, and one at a time: a write begins the next exchange.
 */
export function limitResponses(socket: Socket, maxBytes: number): void {
	let bytesWrittenBefore = -1;
	/** The socket's count of bytes at which the response began. */
	let responseStart = 0;
	let interimResponses = new InterimResponseFilter();

	socket.on('readable', () => {
		if (socket.bytesWritten !== bytesWrittenBefore) {
			bytesWrittenBefore = socket.bytesWritten;
			// The response before was read to its end, so what is buffered belongs to this one.
			responseStart = socket.bytesRead - socket.readableLength;
			interimResponses = new InterimResponseFilter();
		}
		if (socket.bytesRead - responseStart > maxBytes) {
			socket.destroy(new ResponseLimitError(maxBytes));
			return;
		}
		if (interimResponses.isFinal) return;
		const received = socket.read() as Buffer | null;
		if (received === null) return;
		const kept = interimResponses.filter(received);
		if (kept.length > 0) socket.unshift(kept);
	});
}
