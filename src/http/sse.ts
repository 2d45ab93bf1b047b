import { setImmediate as yieldToEventLoop } from 'node:timers/promises';
import { type Deferred, deferred, encodeServerSentEvent } from '../base/index.ts';
import { EventBatch } from './event-batch.ts';
import type { EncodableEvent, Headers } from './types.ts';

/** What every event stream says of itself: nobody on the way may cache, buffer or rewrite it. */
export const EVENT_STREAM_HEADERS: Headers = [
	['content-type', 'text/event-stream; charset=utf-8'],
	['cache-control', 'no-cache, no-transform'],
	['x-accel-buffering', 'no'],
];

/** A comment, which clients skip: it opens a stream that has nothing to say yet, and keeps one awake. */
export const SSE_COMMENT = ':\n\n';
/** Characters or bytes of ready events after which a turn ends: they are sent before more are pulled. */
const MAX_BATCH_LENGTH = 32 * 1024;

/** Where an event stream goes to. */
export interface EventSink {
	/** Sends; false where the socket takes no more for now, and `writable()` will follow. */
	write(piece: string | Uint8Array): boolean;
	/** Ends the answer properly. */
	end(): void;
	/** The events failed: breaks the connection off, so that the client does not take what it has for all there is. */
	abort(error: unknown): void;
}

/**
 * Carries events to a socket: pulls the next one only while the socket takes bytes, sends what is ready together as one
 * write, and lets go of the events as soon as the client leaves.
 */
export class EventWriter {
	readonly #iterator: AsyncIterator<EncodableEvent>;
	readonly #sink: EventSink;
	readonly #heartbeat: NodeJS.Timeout;
	readonly #batch = new EventBatch();
	#isOpen = false;
	/** Until the stream opens, with a comment where no event was ready by then. */
	#openTimer: NodeJS.Immediate | null;
	#isFlushScheduled = false;
	/** Present while the socket takes no more. */
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
		// The HTTP library moves what it buffered only along with a further write: where no event waits, a comment pushes.
		this.#send(this.#batch.isEmpty ? SSE_COMMENT : this.#batch.drain());
		writable.resolve();
	}

	/** The client has gone. */
	onClientGone(): void {
		if (!this.#stop()) return;
		void this.#closeIterator();
	}

	/** Ends the stream for the server's own reasons: what is ready is sent first. Resolves when the events are let go. */
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
				// Events that are always ready, at a client that always takes them, would leave nobody else a turn.
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
	 * Sends as soon as no further event is ready by itself. Not in a turn of its own: with many streams a turn is long, and
	 * what makes the events has joined those of a turn already.
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

	/** Whether this call was the one that stopped the stream. */
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

	/** A generator that is busy takes the hint at its next step; its own failure while leaving tells nobody anything. */
	async #closeIterator(): Promise<void> {
		try {
			await this.#iterator.return?.();
		} catch {}
	}
}
