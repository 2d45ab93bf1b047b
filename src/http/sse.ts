import { setImmediate as nextTurn } from 'node:timers/promises';
import { type Deferred, deferred, encodeServerSentEvent } from '../base/index.ts';
import { ReadyEvents } from './ready-events.ts';
import type { Headers, SseEvent } from './types.ts';

/** What every event stream says of itself: nobody on the way may cache, buffer or rewrite it. */
export const EVENT_STREAM_HEADERS: Headers = [
	['content-type', 'text/event-stream; charset=utf-8'],
	['cache-control', 'no-cache, no-transform'],
	['x-accel-buffering', 'no'],
];

/** A comment, which clients skip: it opens a stream that has nothing to say yet, and keeps one awake. */
export const COMMENT = ':\n\n';
/** Characters or bytes of ready events after which a turn ends: they are sent before more are pulled. */
const BATCH = 32 * 1024;

/** Where an event stream goes to. */
export interface EventSink {
	/** Sends; false where the socket takes no more for now, and `writable()` will follow. */
	write(piece: string | Uint8Array): boolean;
	/** Ends the answer properly. */
	end(): void;
	/** The events failed: breaks the connection off, so that the client does not take what it has for all there is. */
	fail(error: unknown): void;
}

/**
 * Carries events to a socket: pulls the next one only while the socket takes bytes, sends what is ready together as one
 * write, and lets go of the events as soon as the client leaves.
 */
export class EventWriter {
	readonly #iterator: AsyncIterator<SseEvent>;
	readonly #sink: EventSink;
	readonly #heartbeat: NodeJS.Timeout;
	readonly #ready = new ReadyEvents();
	#opened = false;
	/** Until the stream opens, with a comment where no event was ready by then. */
	#opening: NodeJS.Immediate | null;
	#flushing = false;
	/** Present while the socket takes no more. */
	#room: Deferred<void> | null = null;
	#over = false;

	constructor(events: AsyncIterable<SseEvent>, sink: EventSink, heartbeatMs: number) {
		this.#iterator = events[Symbol.asyncIterator]();
		this.#sink = sink;
		this.#heartbeat = setInterval(() => this.#beat(), heartbeatMs);
		this.#opening = setImmediate(() => this.#send(COMMENT));
		void this.#pump();
	}

	/** The socket takes bytes again. */
	writable(): void {
		if (this.#over || this.#room === null) return;
		const room = this.#room;
		this.#room = null;
		// The HTTP library moves what it buffered only along with a further write: where no event waits, a comment pushes.
		this.#send(this.#ready.isEmpty ? COMMENT : this.#ready.take());
		room.resolve();
	}

	/** The client has gone. */
	leave(): void {
		if (!this.#stop()) return;
		void this.#release();
	}

	/** Ends the stream for the server's own reasons: what is ready is sent first. Resolves when the events are let go. */
	async finish(): Promise<void> {
		if (!this.#stop()) return;
		if (!this.#ready.isEmpty || !this.#opened) this.#sink.write(this.#ready.isEmpty ? COMMENT : this.#ready.take());
		this.#sink.end();
		await this.#release();
	}

	async #pump(): Promise<void> {
		try {
			for (;;) {
				while (this.#room !== null) await this.#room.promise;
				if (this.#over) return;
				const step = await this.#iterator.next();
				if (this.#over) return;
				if (step.done) break;
				this.#ready.add(step.value.bytes ?? encodeServerSentEvent(step.value));
				this.#flushSoon();
				// Events that are always ready, at a client that always takes them, would leave nobody else a turn.
				if (this.#ready.length >= BATCH) await nextTurn();
			}
		} catch (error) {
			if (!this.#stop()) return;
			if (!this.#ready.isEmpty) this.#sink.write(this.#ready.take());
			this.#sink.fail(error);
			return;
		}
		await this.finish();
	}

	/**
	 * Sends as soon as no further event is ready by itself. Not in a turn of its own: with many streams a turn is long, and
	 * what makes the events has joined those of a turn already.
	 */
	#flushSoon(): void {
		if (this.#flushing) return;
		this.#flushing = true;
		process.nextTick(() => {
			this.#flushing = false;
			if (!this.#over && this.#room === null && !this.#ready.isEmpty) this.#send(this.#ready.take());
		});
	}

	#send(piece: string | Uint8Array): void {
		this.#opened = true;
		this.#stopOpening();
		this.#heartbeat.refresh();
		if (!this.#sink.write(piece)) this.#room ??= deferred();
	}

	#beat(): void {
		if (this.#room === null && this.#ready.isEmpty) this.#send(COMMENT);
	}

	/** Whether this call was the one that stopped the stream. */
	#stop(): boolean {
		if (this.#over) return false;
		this.#over = true;
		clearInterval(this.#heartbeat);
		this.#stopOpening();
		this.#room?.resolve();
		this.#room = null;
		return true;
	}

	#stopOpening(): void {
		if (this.#opening !== null) clearImmediate(this.#opening);
		this.#opening = null;
	}

	/** A generator that is busy takes the hint at its next step; its own failure while leaving tells nobody anything. */
	async #release(): Promise<void> {
		try {
			await this.#iterator.return?.();
		} catch {}
	}
}
