import type { BodyBuffer } from './body-buffer.ts';

/** Bytes of discarded bodies that are read in a millisecond, those of all clients together: 128 MiB/s, a gigabit network. */
const BYTES_PER_MS = 128 * 1024;
/** The first bytes after a pause are read at once: as many as in this time (ms). */
const BURST_MS = 8;
/** Bodies that are read on at a time. How much each has sent is known only then. */
const BODIES_AT_A_TIME = 4;

/**
 * Limits how fast discarded bodies are read. They are read at all so that their clients get the response. Without a limit, clients with
 * fast connections and large bodies would use a whole processor.
 */
export class DiscardThrottle {
	/** Bodies whose reading is paused. They are read on in this order. */
	readonly #paused = new Set<BodyBuffer>();
	readonly #readOn = (): void => {
		this.#timer = null;
		if (this.#readyAt <= performance.now()) this.#resumeFirst();
		if (this.#paused.size > 0) this.#startTimer();
	};
	/** When the bytes that were read are as many as the limit allows (`performance.now()`). */
	#readyAt = 0;
	#timer: NodeJS.Timeout | null = null;

	/** Counts bytes of a discarded body that were read. Pauses it, and reads it on later, if they are too many. */
	count(body: BodyBuffer, bytes: number): void {
		const now = performance.now();
		this.#readyAt = Math.max(this.#readyAt, now - BURST_MS) + bytes / BYTES_PER_MS;
		if (this.#readyAt <= now) return;
		body.pause();
		this.#paused.add(body);
		if (this.#timer === null) this.#startTimer();
	}

	/** Forgets a body whose response is written or whose client has left. */
	remove(body: BodyBuffer): void {
		this.#paused.delete(body);
	}

	#startTimer(): void {
		this.#timer = setTimeout(this.#readOn, this.#readyAt - performance.now());
	}

	#resumeFirst(): void {
		let left = BODIES_AT_A_TIME;
		for (const body of this.#paused) {
			if (left-- === 0) return;
			this.#paused.delete(body);
			body.resume();
		}
	}
}
