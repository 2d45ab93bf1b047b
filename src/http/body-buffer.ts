import { AppError } from '../base/index.ts';
import { GrowingBuffer } from './growing-buffer.ts';

/** Pauses and resumes reading from the client. */
export interface BodyFlowControl {
	pause(): void;
	resume(): void;
}

/** The reader of a body. */
export interface BodySink {
	/** The next bytes, valid only during the call. `last` is true once, at the body's end. */
	write(bytes: Uint8Array, last: boolean): void;
	/** The rest of the body will not arrive. */
	abort(error: Error): void;
}

/** Bytes that are buffered before the reader is set; then the socket is paused. */
const MAX_BUFFERED_BYTES = 64 * 1024;
/**
 * Bytes that may wait for the reader. They may arrive despite the pause: the library reads up to 5 MiB at once, and goes on while an earlier response
 * waits for its client. A body that exceeds this is refused.
 */
const MAX_UNREAD_BYTES = 16 * 1024 * 1024;
/** The HTTP library aborts a body after 10 seconds, also while it is paused, unless `pause` or `resume` is called. */
const MAX_CHECK_INTERVAL_MS = 4_000;

/**
 * Buffers a body between the socket, which delivers at once, and its one reader, which may be set later. It holds the first
 * bytes, then pauses the socket until the reader is set or the rest is discarded. The reader and `DiscardThrottle` pause it, too.
 */
export class BodyBuffer {
	readonly #flow: BodyFlowControl;
	readonly #idleMs: number;
	readonly #timer: NodeJS.Timeout;
	#lastByteAt = performance.now();
	readonly #buffered = new GrowingBuffer();
	#sink: BodySink | null = null;
	#paused = false;
	#willPauseAgain = false;
	#isDiscarding = false;
	#failure: Error | null = null;
	#onEnd: (() => void) | null = null;
	/** Bytes of the body that have arrived. */
	receivedBytes = 0;
	/** Whether the body's last byte has arrived. */
	complete = false;
	/** Whether the body stopped arriving before its end. */
	hasStalled = false;

	/** A body that has arrived. */
	static of(bytes: Uint8Array): BodyBuffer {
		const body = new BodyBuffer({ pause() {}, resume() {} }, Number.MAX_SAFE_INTEGER);
		body.push(bytes, true);
		return body;
	}

	/** @param idleMs time limit between two bytes while the socket is not paused */
	constructor(flow: BodyFlowControl, idleMs: number) {
		this.#flow = flow;
		this.#idleMs = idleMs;
		this.#timer = setInterval(() => this.#checkArrival(), Math.min(MAX_CHECK_INTERVAL_MS, idleMs / 2));
	}

	/** Takes bytes from the socket. */
	push(bytes: Uint8Array, last: boolean): void {
		this.#lastByteAt = performance.now();
		this.receivedBytes += bytes.length;
		this.complete = last;
		if (last) this.stopTimer();
		else if (this.#paused) this.#pauseAgain();
		if (this.#isDiscarding) {
			if (last) this.#onEnd?.();
		} else if (this.#failure !== null) return;
		else if (this.#sink !== null) this.#sink.write(bytes, last);
		else {
			this.#buffered.append(bytes);
			if (this.#buffered.length >= MAX_BUFFERED_BYTES) this.pause();
			if (this.#buffered.length > MAX_UNREAD_BYTES)
				this.fail(new AppError('unavailable', 'The request body arrived before it could be read.', { retry_after: 1 }));
		}
	}

	/** Whether the rest of the body will not arrive. */
	get hasFailed(): boolean {
		return this.#failure !== null;
	}

	/** Whether reading from the client is paused. */
	get isPaused(): boolean {
		return this.#paused;
	}

	/** Whether the body has ended, and reading is paused until `end`. */
	get hasEndedPaused(): boolean {
		return this.#paused && this.complete;
	}

	/** Sets the one reader. */
	setSink(sink: BodySink): void {
		if (this.#sink !== null) throw new Error('A request body can be read once.');
		if (this.#failure !== null) {
			sink.abort(this.#failure);
			return;
		}
		this.#sink = sink;
		const buffered = this.#buffered.bytes();
		this.#buffered.clear();
		// Before the buffered bytes are passed on: the reader may pause the socket again while it takes them.
		this.resume();
		if (buffered.length > 0 || this.complete) sink.write(buffered, this.complete);
	}

	/** Pauses reading from the client. */
	pause(): void {
		if (this.#paused || this.complete) return;
		this.#paused = true;
		this.#flow.pause();
	}

	/**
	 * Pauses after the library's callback. If an earlier response waits for its client, the library resumes reading when its callback ends, so
	 * a pause within the callback has no effect.
	 */
	#pauseAgain(): void {
		if (this.#willPauseAgain) return;
		this.#willPauseAgain = true;
		setImmediate(() => {
			this.#willPauseAgain = false;
			if (this.#paused) this.#flow.pause();
		});
	}

	/**
	 * Resumes reading from the client. The library delivers what it has already read, so a body may end while reading is paused: then
	 * this waits for `end`, because the library would give the response ten seconds.
	 */
	resume(): void {
		if (!this.#paused || this.complete) return;
		this.#paused = false;
		this.#lastByteAt = performance.now();
		this.#flow.resume();
	}

	/** Whether what arrives is discarded. */
	get isDiscarding(): boolean {
		return this.#isDiscarding;
	}

	/**
	 * Discards the rest. `onEnd` is called when the last byte arrives; not for a chunked body that has failed before. If the body is
	 * discarded already and the throttle has paused it, it stays paused until its turn.
	 */
	discard(onEnd?: () => void): void {
		const wasDiscarding = this.#isDiscarding;
		this.#isDiscarding = true;
		this.#buffered.clear();
		this.#onEnd = onEnd ?? this.#onEnd;
		if (this.complete) this.#onEnd?.();
		else if (!wasDiscarding) this.resume();
	}

	/** The response is written now: the next request may be read. */
	end(): void {
		this.stopTimer();
		if (!this.hasEndedPaused) return;
		this.#paused = false;
		this.#flow.resume();
	}

	/** Records that the rest of the body will not arrive. */
	fail(error: Error): void {
		if (this.complete || this.#failure !== null) return;
		this.#failure = error;
		this.#buffered.clear();
		this.stopTimer();
		if (!this.#isDiscarding) this.#sink?.abort(error);
	}

	/** The body stopped arriving half-way. */
	failStalled(error: Error): void {
		this.hasStalled = true;
		this.fail(error);
	}

	/** Stops checking that the body arrives. */
	stopTimer(): void {
		clearInterval(this.#timer);
	}

	#checkArrival(): void {
		if (!this.#paused && performance.now() - this.#lastByteAt >= this.#idleMs) {
			this.failStalled(new AppError('invalid_request', 'The request body stopped arriving.'));
			return;
		}
		// Each resume gives the connection another 10 seconds. A paused socket stays paused.
		if (this.#paused) this.#flow.resume();
		this.#flow.pause();
		if (!this.#paused) this.#flow.resume();
	}
}
