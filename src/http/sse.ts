import { encodeServerSentEvent, type PullSource, type SourceReader } from '../base/index.ts';
import { DeferredCalls } from './deferred-calls.ts';
import { EventBatch } from './event-batch.ts';
import type { HeartbeatStream, Heartbeats } from './heartbeats.ts';
import type { EncodableEvent, Headers } from './types.ts';

/** The headers of every event stream: proxies must not cache, buffer or rewrite it. */
export const EVENT_STREAM_HEADERS: Headers = [
	['content-type', 'text/event-stream; charset=utf-8'],
	['cache-control', 'no-cache, no-transform'],
	['x-accel-buffering', 'no'],
];

/** A comment, which clients ignore. It opens a stream without an event and keeps an idle one alive. */
export const SSE_COMMENT = ':\n\n';
/** Characters and bytes of ready events after which the loop yields, so that they are sent before more are read. */
const MAX_BATCH_LENGTH = 32 * 1024;

/** The destination of an event stream. */
export interface EventSink {
	/** Sends. False: the socket takes no more at present, and `onWritable()` will follow. */
	write(chunk: string | Uint8Array): boolean;
	/** Sends the last chunk, if there is one, and ends the response properly. */
	end(lastChunk: string | Uint8Array | null): void;
	/** The events failed: aborts the connection, so that the client does not take a part for the whole. */
	abort(error: unknown): void;
}

const RESOLVED = Promise.resolve();

/**
 * Events are read after the callbacks that made them ready, and sent after all callbacks that follow without waiting. So the
 * events of one turn of the event loop leave in one write, and they leave within that turn.
 */
const readers = new DeferredCalls<EventWriter>(afterCallback, (writer) => writer.readEvents());
const senders = new DeferredCalls<EventWriter>(process.nextTick, (writer) => writer.sendBatch());

/** Like `queueMicrotask`, without the object that it makes to trace each call. */
function afterCallback(callback: () => void): void {
	void RESOLVED.then(callback);
}

/**
 * Writes events to a socket. It reads events only while the socket takes bytes, sends ready events in one write, and closes the
 * source as soon as the client leaves.
 */
export class EventWriter implements SourceReader, HeartbeatStream {
	readonly #events: PullSource<EncodableEvent>;
	readonly #sink: EventSink;
	readonly #heartbeats: Heartbeats;
	readonly #batch = new EventBatch();
	#areEventsOpen = false;
	#isResponseOpen = false;
	/** Opens the response with a comment if no event is ready by then. */
	#openTimer: NodeJS.Immediate | null;
	#isReadScheduled = false;
	#isSendScheduled = false;
	/** The batch is full: no event is read before the next turn of the event loop. */
	#isYielding = false;
	/** The socket takes no more. */
	#isBlocked = false;
	#isStopped = false;
	// The fields of a `HeartbeatStream`.
	sentAt = 0;
	previous: HeartbeatStream | undefined = undefined;
	next: HeartbeatStream | undefined = undefined;

	constructor(events: PullSource<EncodableEvent>, sink: EventSink, heartbeats: Heartbeats) {
		this.#events = events;
		this.#sink = sink;
		this.#heartbeats = heartbeats;
		heartbeats.add(this);
		this.#openTimer = setImmediate(() => this.#send(SSE_COMMENT));
		this.onReadable();
	}

	/** Events may be ready. */
	onReadable(): void {
		if (this.#isReadScheduled || this.#isYielding || this.#isBlocked || this.#isStopped) return;
		this.#isReadScheduled = true;
		readers.add(this);
	}

	/** The socket takes bytes again. */
	onWritable(): void {
		if (this.#isStopped || !this.#isBlocked) return;
		this.#isBlocked = false;
		// The HTTP library flushes its buffer only with a further write: if no event waits, a comment is written.
		this.#send(this.#batch.isEmpty ? SSE_COMMENT : this.#batch.drain());
		this.onReadable();
	}

	/** The client has left. */
	onClientGone(): void {
		if (this.#stop()) void this.#closeEvents();
	}

	/** Ends the stream on the server's initiative. Ready events are sent first. Resolves when the source is closed. */
	async finish(): Promise<void> {
		if (!this.#stop()) return;
		if (this.#batch.isEmpty) this.#sink.end(this.#isResponseOpen ? null : SSE_COMMENT);
		else this.#sink.end(this.#batch.drain());
		await this.#closeEvents();
	}

	sendHeartbeat(): void {
		if (!this.#isBlocked && this.#batch.isEmpty) this.#send(SSE_COMMENT);
	}

	/** Reads the ready events. Only `readers` calls it. */
	readEvents(): void {
		this.#isReadScheduled = false;
		if (this.#isYielding || this.#isBlocked || this.#isStopped) return;
		try {
			if (this.#takeReadyEvents()) void this.finish();
		} catch (error) {
			this.#abort(error);
		}
		if (this.#isStopped || this.#batch.isEmpty || this.#isSendScheduled) return;
		this.#isSendScheduled = true;
		senders.add(this);
	}

	/** Sends the events that were read. Only `senders` calls it. */
	sendBatch(): void {
		this.#isSendScheduled = false;
		if (!this.#isStopped && !this.#isBlocked && !this.#batch.isEmpty) this.#send(this.#batch.drain());
	}

	/** Adds the ready events to the batch. @returns whether the source has ended */
	#takeReadyEvents(): boolean {
		const events = this.#events;
		if (!this.#areEventsOpen) {
			this.#areEventsOpen = true;
			events.open(this);
		}
		while (this.#batch.length < MAX_BATCH_LENGTH) {
			const event = events.read();
			if (event === null) return events.isEnded;
			this.#batch.add(event.encoded ?? encodeServerSentEvent(event));
		}
		// Events that are always ready, for a client that always takes them, would block the event loop.
		this.#isYielding = true;
		setImmediate(() => {
			this.#isYielding = false;
			this.onReadable();
		});
		return false;
	}

	#send(chunk: string | Uint8Array): void {
		this.#isResponseOpen = true;
		this.#clearOpenTimer();
		this.#heartbeats.recordWrite(this);
		if (!this.#sink.write(chunk)) this.#isBlocked = true;
	}

	/** The events failed. Those that were read before are sent. */
	#abort(error: unknown): void {
		if (!this.#stop()) return;
		if (!this.#batch.isEmpty) this.#sink.write(this.#batch.drain());
		this.#sink.abort(error);
		void this.#closeEvents();
	}

	/** Stops the stream. @returns false if it was stopped before */
	#stop(): boolean {
		if (this.#isStopped) return false;
		this.#isStopped = true;
		this.#heartbeats.remove(this);
		this.#clearOpenTimer();
		return true;
	}

	#clearOpenTimer(): void {
		if (this.#openTimer !== null) clearImmediate(this.#openTimer);
		this.#openTimer = null;
	}

	/** Closes the source. Its errors are ignored: the client gets nothing more. */
	async #closeEvents(): Promise<void> {
		try {
			await this.#events.close();
		} catch {}
	}
}
