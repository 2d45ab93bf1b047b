import type { ResponseChannel } from './response-channel.ts';
import { EventWriter, SSE_COMMENT } from './sse.ts';
import type { EncodableEvent } from './types.ts';

/** How an event stream begins, and what becomes of a failure. */
export interface EventStreamWriteOptions {
	events: AsyncIterable<EncodableEvent>;
	heartbeatMs: number;
	/** Writes status and headers. */
	writeHead(): void;
	/** The events failed. */
	reportFailure(error: unknown): void;
}

/** Answers with an event stream, until its events end or fail, or the client leaves. */
export function writeEventStream(channel: ResponseChannel, options: EventStreamWriteOptions): EventWriter {
	const { res } = channel;
	let headWritten = false;
	let endPending = false;
	const write = (chunk: string | Uint8Array): boolean => {
		let ok = true;
		try {
			res.cork(() => {
				if (!headWritten) options.writeHead();
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
		// Not with the library's order to close: in a begun chunked answer it would write that header into the body.
		res.cork(() => res.end());
		channel.release();
	};
	const end = (): void => {
		// While bytes wait for the client, reading cannot be stopped: each write that goes only half-way begins it again.
		if (channel.closesConnection && channel.isStalled) endPending = true;
		else finish();
	};
	const abort = (error: unknown): void => {
		options.reportFailure(error);
		// Without its proper end: the client shall not take what it has for all there is. In a later turn, because closing
		// throws away what the library has gathered in this one.
		setImmediate(() => channel.closeNow());
	};
	const writer = new EventWriter(options.events, { write, end, abort }, options.heartbeatMs);
	res.onWritable(() => {
		channel.stopStallTimer();
		if (!endPending) writer.onWritable();
		else if (write(SSE_COMMENT)) finish();
		return true;
	});
	return writer;
}
