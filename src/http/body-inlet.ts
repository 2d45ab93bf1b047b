import { AppError } from '../base/index.ts';

/** The socket's tap: stops and goes on taking bytes from the client. */
export interface BodyTap {
	pause(): void;
	resume(): void;
}

/** Whoever reads a body. */
export interface BodySink {
	/** The next bytes, valid only during the call; `last` once, with the body's end. */
	take(bytes: Uint8Array, last: boolean): void;
	/** The rest will not come. */
	fail(error: Error): void;
}

/** What may pile up before anybody reads. */
const HELD_BYTES = 64 * 1024;
/** The HTTP library gives up a body after 10 seconds, also one that we keep waiting, unless its tap is moved. */
const TICK_MS = 4_000;

/**
 * Stands between the socket, which delivers whether or not anybody listens, and the one reader of a body, who may come
 * later: holds the first bytes, then closes the tap until a reader comes or the rest is thrown away.
 */
export class BodyInlet {
	readonly #tap: BodyTap;
	readonly #idleMs: number;
	readonly #timer: NodeJS.Timeout;
	#lastByteAt = performance.now();
	#held: Buffer[] = [];
	#heldBytes = 0;
	#sink: BodySink | null = null;
	#paused = false;
	#discarding = false;
	#failure: Error | null = null;
	#onEnd: (() => void) | null = null;
	/** Bytes of body that have arrived. */
	received = 0;
	/** Whether the body's last byte has arrived. */
	complete = false;
	/** Whether the body stopped arriving half-way. */
	stalled = false;

	/** @param idleMs for which the body may bring no byte while somebody waits for it */
	constructor(tap: BodyTap, idleMs: number) {
		this.#tap = tap;
		this.#idleMs = idleMs;
		this.#timer = setInterval(() => this.#watch(), Math.min(TICK_MS, idleMs / 2));
	}

	/** The socket delivers. */
	arrive(bytes: Uint8Array, last: boolean): void {
		this.#lastByteAt = performance.now();
		this.received += bytes.length;
		this.complete = last;
		if (last) this.stop();
		if (this.#discarding) {
			if (last) this.#onEnd?.();
		} else if (this.#failure !== null) return;
		else if (this.#sink !== null) this.#sink.take(bytes, last);
		else {
			if (bytes.length > 0) this.#held.push(Buffer.from(bytes));
			this.#heldBytes += bytes.length;
			if (this.#heldBytes >= HELD_BYTES) this.pause();
		}
	}

	/** Whether the rest will not come. */
	get failed(): boolean {
		return this.#failure !== null;
	}

	/** Whether the client has to wait. */
	get paused(): boolean {
		return this.#paused;
	}

	/** Takes the one reader. */
	read(sink: BodySink): void {
		if (this.#sink !== null) throw new Error('A request body can be read once.');
		if (this.#failure !== null) {
			sink.fail(this.#failure);
			return;
		}
		this.#sink = sink;
		const held = this.#held;
		this.#held = [];
		// Before the held bytes are handed over: the reader may close the tap again while it takes them.
		this.resume();
		const { complete } = this;
		for (const [at, bytes] of held.entries()) {
			// A reader that has had enough throws the rest away from within.
			if (this.#discarding) return;
			sink.take(bytes, complete && at === held.length - 1);
		}
		if (held.length === 0 && complete) sink.take(Buffer.alloc(0), true);
	}

	/** Closes the tap: the client has to wait. */
	pause(): void {
		if (this.#paused || this.complete) return;
		this.#paused = true;
		this.#tap.pause();
	}

	/** Opens the tap again. */
	resume(): void {
		if (!this.#paused) return;
		this.#paused = false;
		this.#lastByteAt = performance.now();
		this.#tap.resume();
	}

	/** Throws the rest away. `onEnd` is called when the last byte has come; not at all where the body fails before. */
	discard(onEnd?: () => void): void {
		this.#discarding = true;
		this.#held = [];
		this.#onEnd = onEnd ?? this.#onEnd;
		if (this.complete) this.#onEnd?.();
		else this.resume();
	}

	/** The rest will not come. */
	fail(error: Error): void {
		if (this.complete || this.#failure !== null) return;
		this.#failure = error;
		this.#held = [];
		this.stop();
		if (!this.#discarding) this.#sink?.fail(error);
	}

	/** The body stopped arriving half-way. */
	stall(error: Error): void {
		this.stalled = true;
		this.fail(error);
	}

	/** Nobody watches the body's arrival any more. */
	stop(): void {
		clearInterval(this.#timer);
	}

	#watch(): void {
		if (!this.#paused && performance.now() - this.#lastByteAt >= this.#idleMs) {
			this.stall(new AppError('invalid_request', 'The request body stopped arriving.'));
			return;
		}
		// Each resume grants the connection another 10 seconds; a tap that is closed stays closed.
		if (this.#paused) this.#tap.resume();
		this.#tap.pause();
		if (!this.#paused) this.#tap.resume();
	}
}
