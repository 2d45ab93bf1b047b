import type { Answering } from './answering.ts';
import { COMMENT, EventWriter } from './sse.ts';
import type { SseEvent } from './types.ts';

/** How an event stream begins, and what becomes of a failure. */
export interface EventAnswer {
	events: AsyncIterable<SseEvent>;
	heartbeatMs: number;
	/** Writes status and headers. */
	writeHead(): void;
	/** The events failed. */
	report(error: unknown): void;
}

/** Answers with an event stream, until its events end or fail, or the client leaves. */
export function writeEvents(answering: Answering, answer: EventAnswer): EventWriter {
	const { res } = answering;
	let begun = false;
	let ending = false;
	const write = (piece: string | Uint8Array): boolean => {
		let ok = true;
		try {
			res.cork(() => {
				if (!begun) answer.writeHead();
				begun = true;
				ok = res.write(piece);
			});
		} catch (error) {
			answering.breakOff(error);
			return false;
		}
		answering.countStreamed(piece);
		if (!ok) answering.waitForRoom();
		return ok;
	};
	const finish = (): void => {
		answering.stopReading();
		// Not with the library's order to close: in a begun chunked answer it would write that header into the body.
		res.cork(() => res.end());
		answering.release();
	};
	const end = (): void => {
		// While bytes wait for the client, reading cannot be stopped: each write that goes only half-way begins it again.
		if (answering.closing && answering.stalled) ending = true;
		else finish();
	};
	const fail = (error: unknown): void => {
		answer.report(error);
		// Without its proper end: the client shall not take what it has for all there is. In a later turn, because closing
		// throws away what the library has gathered in this one.
		setImmediate(() => answering.cut());
	};
	const writer = new EventWriter(answer.events, { write, end, fail }, answer.heartbeatMs);
	res.onWritable(() => {
		answering.roomAgain();
		if (!ending) writer.writable();
		else if (write(COMMENT)) finish();
		return true;
	});
	return writer;
}
