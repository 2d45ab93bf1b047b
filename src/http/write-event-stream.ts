import type { Heartbeats } from './heartbeats.ts';
import type { ResponseChannel } from './response-channel.ts';
import { writeHead } from './response-head.ts';
import { EVENT_STREAM_HEADERS, type EventSink, EventWriter, SSE_COMMENT } from './sse.ts';
import type { EventStreamResponse, Headers } from './types.ts';
import { endWithoutBody } from './write-bytes.ts';

const NO_HEADERS: Headers = [];
const CLOSE_HEADER: Headers = [['connection', 'close']];

/** Writes an event stream until its events end or fail, or the client leaves. */
export function writeEventStream(
	channel: ResponseChannel,
	{ events, headers }: EventStreamResponse,
	heartbeats: Heartbeats,
): EventWriter {
	const sink = new ResponseSink(channel, headers ?? NO_HEADERS);
	const writer = new EventWriter(events, sink, heartbeats);
	channel.res.onWritable(() => {
		if (sink.onWritable()) writer.onWritable();
		return true;
	});
	return writer;
}

/** Writes to the response. A class, because objects made of closures take twice the memory, for each open stream. */
class ResponseSink implements EventSink {
	readonly #channel: ResponseChannel;
	/** Null once the head is written. */
	#headers: Headers | null;
	/** The response ends once the client has taken what was written. */
	#isEndPending = false;

	constructor(channel: ResponseChannel, headers: Headers) {
		this.#channel = channel;
		this.#headers = headers;
	}

	write(chunk: string | Uint8Array): boolean {
		return this.#write(chunk, false);
	}

	end(lastChunk: string | Uint8Array | null): void {
		const { closesConnection } = this.#channel;
		if (lastChunk !== null) this.#write(lastChunk, !closesConnection);
		else if (!closesConnection) this.#write('', true);
		// While bytes wait for the client, reading cannot be stopped: each partial write starts it again.
		if (closesConnection && this.#channel.isStalled) this.#isEndPending = true;
		else if (closesConnection) this.#endAndClose();
	}

	abort(error: unknown): void {
		this.#channel.reportStreamFailure(error);
		// Closes without the final chunk, so that the client does not take a part for the whole. It closes in a later iteration
		// of the event loop, because closing discards what the library has buffered in this one.
		setImmediate(() => this.#channel.closeNow());
	}

	/** The socket takes bytes again. @returns whether the stream goes on */
	onWritable(): boolean {
		this.#channel.stopStallTimer();
		if (!this.#isEndPending) return true;
		if (this.#write(SSE_COMMENT, false)) this.#endAndClose();
		return false;
	}

	/** @param isLast whether the response ends with this chunk */
	#write(chunk: string | Uint8Array, isLast: boolean): boolean {
		const channel = this.#channel;
		const { res } = channel;
		let ok = true;
		try {
			res.cork(() => {
				if (this.#headers !== null) writeStreamHead(channel, this.#headers);
				this.#headers = null;
				if (chunk.length > 0) ok = res.write(chunk);
				if (isLast) res.end();
			});
		} catch (error) {
			channel.failWrite(error);
			return false;
		}
		channel.countStreamedBytes(chunk);
		if (isLast) channel.release();
		else if (!ok) channel.startStallTimer();
		return ok;
	}

	/** The last response of a connection. */
	#endAndClose(): void {
		const { res } = this.#channel;
		this.#channel.pauseReading();
		// Without the library's flag to close: in a chunked response that has begun, it would write that header into the body.
		res.cork(() => res.end());
		this.#channel.release();
	}
}

/** Answers a HEAD request for an event stream: its headers and nothing else. */
export function writeStreamHeadOnly(channel: ResponseChannel, response: EventStreamResponse): void {
	channel.res.cork(() => {
		writeStreamHead(channel, response.headers ?? NO_HEADERS);
		endWithoutBody(channel, false);
	});
	channel.release();
}

function writeStreamHead({ res, requestId, closesConnection }: ResponseChannel, headers: Headers): void {
	const all = [...EVENT_STREAM_HEADERS, ...headers, ...(closesConnection ? CLOSE_HEADER : NO_HEADERS)];
	writeHead(res, requestId, { status: 200, headers: all });
}
