/** A chunk with fewer bytes uses up credit of its body; one with more adds to it. */
const SMALL_BYTES = 32;
/** The most credit of a body, in empty chunks. A new body has it. */
const FREE_CHUNKS = 64;
/** Small chunks without credit that are read in a second, and at once, those of all clients together. */
const CHUNKS_PER_SECOND = 10_000;

/**
 * Limits how many small chunks the server reads, by a token bucket. A chunk of one byte takes as long to read as one of a kilobyte, so without a
 * limit a few clients with little bandwidth would use the whole main thread.
 */
export class SmallChunkLimit {
	readonly #now: () => number;
	#tokens = CHUNKS_PER_SECOND;
	#refilledAt: number;

	/** @param now the time in milliseconds, which never goes back */
	constructor(now: () => number = () => performance.now()) {
		this.#now = now;
		this.#refilledAt = now();
	}

	/** Whether another small chunk may be read. */
	take(): boolean {
		const now = this.#now();
		const added = ((now - this.#refilledAt) / 1_000) * CHUNKS_PER_SECOND;
		this.#tokens = Math.min(CHUNKS_PER_SECOND, this.#tokens + added);
		this.#refilledAt = now;
		if (this.#tokens < 1) return false;
		this.#tokens--;
		return true;
	}
}

/** The small chunks that one body may have before `SmallChunkLimit` counts them. */
export class ChunkCredit {
	readonly #limit: SmallChunkLimit;
	#credit = FREE_CHUNKS;

	constructor(limit: SmallChunkLimit) {
		this.#limit = limit;
	}

	/** Whether the body's next chunk may be read. */
	take(bytes: number): boolean {
		this.#credit = Math.min(FREE_CHUNKS, this.#credit + bytes / SMALL_BYTES - 1);
		if (this.#credit >= 0) return true;
		this.#credit = 0;
		return this.#limit.take();
	}
}
