import type { ResponseChannel } from './response-channel.ts';
import { writeHead } from './response-head.ts';
import { EVENT_STREAM_HEADERS, EventWriter, SSE_COMMENT } from './sse.ts';
import type { EventStreamResponse, Headers } from './types.ts';
import { endWithoutBody } from './write-bytes.ts';

const NO_HEADERS: Headers = [];
const CLOSE_HEADER: Headers = [['connection', 'close']];

/** How an event stream is kept open, and how its failure is reported. */
export interface EventStreamWriteOptions {
	heartbeatMs: number;
	/** The events failed. */
	reportFailure(error: unknown): void;
}

/** Writes an event stream until its events end or fail, or the client leaves. */
export function writeEventStream(
	channel: ResponseChannel,
	response: EventStreamResponse,
	options: EventStreamWriteOptions,
): EventWriter {
	const { res } = channel;
	let headWritten = false;
	let endPending = false;
	const write = (chunk: string | Uint8Array): boolean => {
		let ok = true;
		try {
			res.cork(() => {
				if (!headWritten) writeStreamHead(channel, response);
				headWritten = true;
				ok = res.write(chunk);
			});
		} catch (error) {
			channel.failWrite(error);
			return false;
		}
		channel.countStreamedBytes(chunk);
		if (!ok) channel.startStallTimer();
		return ok;
	};
	const finish = (): void => {
		channel.pauseReading();
		// Without the library's flag to close: in a chunked response that has begun, it would write that header into the body.
		res.cork(() => res.end());
		channel.release();
	};
	const end = (): void => {
		// While bytes wait for the client, reading cannot be stopped: each partial write starts it again.
		if (channel.closesConnection && channel.isStalled) endPending = true;
		else finish();
	};
	const abort = (error: unknown): void => {
		options.reportFailure(error);
		// Closes without the final chunk, so that the client does not take a part for the whole. It closes in a later iteration
		// of the event loop, because closing discards what the library has buffered in this one.
		setImmediate(() => channel.closeNow());
	};
	const writer = new EventWriter(response.events, { write, end, abort }, options.heartbeatMs);
	res.onWritable(() => {
		channel.stopStallTimer();
		if (!endPending) writer.onWritable();
		else if (write(SSE_COMMENT)) finish();
		return true;
	});
	return writer;
}

/** Answers a HEAD request for an event stream: its headers and nothing else. */
export function writeStreamHeadOnly(channel: ResponseChannel, response: EventStreamResponse): void {
	channel.res.cork(() => {
		writeStreamHead(channel, response);
		endWithoutBody(channel, false);
	});
	channel.release();
}

function writeStreamHead(
	{ res, requestId, closesConnection }: ResponseChannel,
	{ headers }: EventStreamResponse,
): void {
	const all = [...EVENT_STREAM_HEADERS, ...(headers ?? NO_HEADERS), ...(closesConnection ? CLOSE_HEADER : NO_HEADERS)];
	writeHead(res, requestId, { status: 200, headers: all });
}
