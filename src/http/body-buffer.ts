import { AppError } from '../base/index.ts';

/** The socket's tap: stops and goes on taking bytes from the client. */
export interface BodyFlowControl {
	pause(): void;
	resume(): void;
}

/** Whoever reads a body. */
export interface BodySink {
	/** The next bytes, valid only during the call; `last` once, with the body's end. */
	write(bytes: Uint8Array, last: boolean): void;
	/** The rest will not come. */
	abort(error: Error): void;
}

/** What may pile up before anybody reads. */
const MAX_BUFFERED_BYTES = 64 * 1024;
/** The HTTP library gives up a body after 10 seconds, also one that we keep waiting, unless its tap is moved. */
const MAX_CHECK_INTERVAL_MS = 4_000;

/**
 * Stands between the socket, which delivers whether or not anybody listens, and the one reader of a body, who may come
 * later: holds the first bytes, then closes the tap until a reader comes or the rest is thrown away.
 */
export class BodyBuffer {
	readonly #flow: BodyFlowControl;
	readonly #idleMs: number;
	readonly #timer: NodeJS.Timeout;
	#lastByteAt = performance.now();
	#buffered: Buffer[] = [];
	#bufferedBytes = 0;
	#sink: BodySink | null = null;
	#paused = false;
	#isDiscarding = false;
	#failure: Error | null = null;
	#onEnd: (() => void) | null = null;
	/** Bytes of body that have arrived. */
	receivedBytes = 0;
	/** Whether the body's last byte has arrived. */
	complete = false;
	/** Whether the body stopped arriving half-way. */
	hasStalled = false;

	/** @param idleMs for which the body may bring no byte while somebody waits for it */
	constructor(tap: BodyFlowControl, idleMs: number) {
		this.#flow = tap;
		this.#idleMs = idleMs;
		this.#timer = setInterval(() => this.#checkArrival(), Math.min(MAX_CHECK_INTERVAL_MS, idleMs / 2));
	}

	/** The socket delivers. */
	push(bytes: Uint8Array, last: boolean): void {
		this.#lastByteAt = performance.now();
		this.receivedBytes += bytes.length;
		this.complete = last;
		if (last) this.stopTimer();
		if (this.#isDiscarding) {
			if (last) this.#onEnd?.();
		} else if (this.#failure !== null) return;
		else if (this.#sink !== null) this.#sink.write(bytes, last);
		else {
			if (bytes.length > 0) this.#buffered.push(Buffer.from(bytes));
			this.#bufferedBytes += bytes.length;
			if (this.#bufferedBytes >= MAX_BUFFERED_BYTES) this.pause();
		}
	}

	/** Whether the rest will not come. */
	get hasFailed(): boolean {
		return this.#failure !== null;
	}

	/** Whether the client has to wait. */
	get isPaused(): boolean {
		return this.#paused;
	}

	/** Takes the one reader. */
	setSink(sink: BodySink): void {
		if (this.#sink !== null) throw new Error('A request body can be read once.');
		if (this.#failure !== null) {
			sink.abort(this.#failure);
			return;
		}
		this.#sink = sink;
		const buffered = this.#buffered;
		this.#buffered = [];
		// Before the held bytes are handed over: the reader may close the tap again while it takes them.
		this.resume();
		const { complete } = this;
		for (const [at, bytes] of buffered.entries()) {
			// A reader that has had enough throws the rest away from within.
			if (this.#isDiscarding) return;
			sink.write(bytes, complete && at === buffered.length - 1);
		}
		if (buffered.length === 0 && complete) sink.write(Buffer.alloc(0), true);
	}

	/** Closes the tap: the client has to wait. */
	pause(): void {
		if (this.#paused || this.complete) return;
		this.#paused = true;
		this.#flow.pause();
	}

	/** Opens the tap again. */
	resume(): void {
		if (!this.#paused) return;
		this.#paused = false;
		this.#lastByteAt = performance.now();
		this.#flow.resume();
	}

	/** Throws the rest away. `onEnd` is called when the last byte has come; not at all where the body fails before. */
	discard(onEnd?: () => void): void {
		this.#isDiscarding = true;
		this.#buffered = [];
		this.#onEnd = onEnd ?? this.#onEnd;
		if (this.complete) this.#onEnd?.();
		else this.resume();
	}

	/** The rest will not come. */
	fail(error: Error): void {
		if (this.complete || this.#failure !== null) return;
		this.#failure = error;
		this.#buffered = [];
		this.stopTimer();
		if (!this.#isDiscarding) this.#sink?.abort(error);
	}

	/** The body stopped arriving half-way. */
	failStalled(error: Error): void {
		this.hasStalled = true;
		this.fail(error);
	}

	/** Nobody watches the body's arrival any more. */
	stopTimer(): void {
		clearInterval(this.#timer);
	}

	#checkArrival(): void {
		if (!this.#paused && performance.now() - this.#lastByteAt >= this.#idleMs) {
			this.failStalled(new AppError('invalid_request', 'The request body stopped arriving.'));
			return;
		}
		// Each resume grants the connection another 10 seconds; a tap that is closed stays closed.
		if (this.#paused) this.#flow.resume();
		this.#flow.pause();
		if (!this.#paused) this.#flow.resume();
	}
}
