import { setImmediate as yieldToEventLoop } from 'node:timers/promises';
import { type Deferred, deferred, encodeServerSentEvent } from '../base/index.ts';
import { EventBatch } from './event-batch.ts';
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
	/** Ends the response properly. */
	end(): void;
	/** The events failed: aborts the connection, so that the client does not take a part for the whole. */
	abort(error: unknown): void;
}

/**
 * Writes events to a socket. It reads the next event only while the socket takes bytes, sends ready events in one write, and
 * closes the iterator as soon as the client leaves.
 */
export class EventWriter {
	readonly #iterator: AsyncIterator<EncodableEvent>;
	readonly #sink: EventSink;
	readonly #heartbeat: NodeJS.Timeout;
	readonly #batch = new EventBatch();
	#isOpen = false;
	/** Opens the stream with a comment if no event is ready by then. */
	#openTimer: NodeJS.Immediate | null;
	#isFlushScheduled = false;
	/** Set while the socket takes no more. */
	#writable: Deferred<void> | null = null;
	#isStopped = false;

	constructor(events: AsyncIterable<EncodableEvent>, sink: EventSink, heartbeatMs: number) {
		this.#iterator = events[Symbol.asyncIterator]();
		this.#sink = sink;
		this.#heartbeat = setInterval(() => this.#sendHeartbeat(), heartbeatMs);
		this.#openTimer = setImmediate(() => this.#send(SSE_COMMENT));
		void this.#pump();
	}

	/** The socket takes bytes again. */
	onWritable(): void {
		if (this.#isStopped || this.#writable === null) return;
		const writable = this.#writable;
		this.#writable = null;
		// The HTTP library flushes its buffer only with a further write: if no event waits, a comment is written.
		this.#send(this.#batch.isEmpty ? SSE_COMMENT : this.#batch.drain());
		writable.resolve();
	}

	/** The client has left. */
	onClientGone(): void {
		if (!this.#stop()) return;
		void this.#closeIterator();
	}

	/** Ends the stream on the server's initiative. Ready events are sent first. Resolves when the iterator is closed. */
	async finish(): Promise<void> {
		if (!this.#stop()) return;
		if (!this.#batch.isEmpty || !this.#isOpen)
			this.#sink.write(this.#batch.isEmpty ? SSE_COMMENT : this.#batch.drain());
		this.#sink.end();
		await this.#closeIterator();
	}

	async #pump(): Promise<void> {
		try {
			for (;;) {
				while (this.#writable !== null) await this.#writable.promise;
				if (this.#isStopped) return;
				const step = await this.#iterator.next();
				if (this.#isStopped) return;
				if (step.done) break;
				this.#batch.add(step.value.encoded ?? encodeServerSentEvent(step.value));
				this.#flushSoon();
				// Events that are always ready, for a client that always takes them, would block the event loop.
				if (this.#batch.length >= MAX_BATCH_LENGTH) await yieldToEventLoop();
			}
		} catch (error) {
			if (!this.#stop()) return;
			if (!this.#batch.isEmpty) this.#sink.write(this.#batch.drain());
			this.#sink.abort(error);
			return;
		}
		await this.finish();
	}

	/**
	 * Sends as soon as no further event is ready. It does not wait for the next iteration of the event loop: with many streams
	 * an iteration is long, and the source of the events has already joined those of one iteration.
	 */
	#flushSoon(): void {
		if (this.#isFlushScheduled) return;
		this.#isFlushScheduled = true;
		process.nextTick(() => {
			this.#isFlushScheduled = false;
			if (!this.#isStopped && this.#writable === null && !this.#batch.isEmpty) this.#send(this.#batch.drain());
		});
	}

	#send(chunk: string | Uint8Array): void {
		this.#isOpen = true;
		this.#clearOpenTimer();
		this.#heartbeat.refresh();
		if (!this.#sink.write(chunk)) this.#writable ??= deferred();
	}

	#sendHeartbeat(): void {
		if (this.#writable === null && this.#batch.isEmpty) this.#send(SSE_COMMENT);
	}

	/** Stops the stream. @returns false if it was stopped before */
	#stop(): boolean {
		if (this.#isStopped) return false;
		this.#isStopped = true;
		clearInterval(this.#heartbeat);
		this.#clearOpenTimer();
		this.#writable?.resolve();
		this.#writable = null;
		return true;
	}

	#clearOpenTimer(): void {
		if (this.#openTimer !== null) clearImmediate(this.#openTimer);
		this.#openTimer = null;
	}

	/** A generator that is running returns at its next `yield`. Its errors while it returns have no receiver. */
	async #closeIterator(): Promise<void> {
		try {
			await this.#iterator.return?.();
		} catch {}
	}
}
