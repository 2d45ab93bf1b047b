import type { ResponseChannel } from './response-channel.ts';
import { writeHead } from './response-head.ts';
import type { BytesResponse } from './types.ts';
import { writeLargeBody } from './write-large-body.ts';

/** A body up to this size goes to the library in one call: the socket's buffer holds it. A larger one waits for the client. */
const SINGLE_WRITE_BYTES = 16 * 1024;

/**
 * Writes a whole response. Called in the library's callback or inside `cork`.
 * @param close whether the connection closes after the response
 */
export function writeBytes(channel: ResponseChannel, response: BytesResponse, close: boolean): void {
	const { res } = channel;
	const { status, body } = response;
	writeHead(res, channel.requestId, response);
	if (status === 204 || status === 304) {
		endWithoutBody(channel, close);
	} else if (channel.isHead) {
		res.writeHeader('content-length', String(body === undefined ? 0 : Buffer.byteLength(body)));
		endWithoutBody(channel, close);
	} else if (body === undefined || body.length <= SINGLE_WRITE_BYTES) {
		res.end(body, close);
	} else {
		channel.keepPending();
		// `tryEnd` cannot close the connection, so the header asks the client to.
		if (close) res.writeHeader('connection', 'close');
		writeLargeBody(channel, typeof body === 'string' ? Buffer.from(body) : body);
		return;
	}
	channel.release();
}

/**
 * Ends a response that has no body. The length is a header, because passing it to `endWithoutBody` would leave the response
 * pending and its connection unusable. `endWithoutBody` cannot close the connection either: the header asks the client to,
 * and the library closes idle connections.
 */
export function endWithoutBody(channel: ResponseChannel, close: boolean): void {
	if (close) channel.res.writeHeader('connection', 'close');
	channel.pauseReading();
	channel.res.endWithoutBody();
}
