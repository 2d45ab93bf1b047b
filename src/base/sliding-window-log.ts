/** The low bits of times, oldest at `from`: a ring. */
type RingBuffer = Uint16Array | Uint32Array;

const INITIAL_CAPACITY = 4;
const EMPTY_16_BIT = new Uint16Array();
const EMPTY_32_BIT = new Uint32Array();

/**
 * When the events of the last while happened, one after the other, in as little memory as is exact: the newest time is kept
 * whole, and of those before it the low bits, since all lie within one window of it. Two bytes each for windows up to 65 s,
 * four for longer ones (up to 49 days).
 */
export class SlidingWindowLog {
	readonly #windowMs: number;
	/** The newest time (ms); of no meaning while there is none. */
	#newest = 0;
	/** All times, the newest included. */
	#count = 0;
	/** All but the newest. */
	#older: RingBuffer;
	#head = 0;

	constructor(windowMs: number) {
		this.#windowMs = windowMs;
		this.#older = windowMs < 2 ** 16 ? EMPTY_16_BIT : EMPTY_32_BIT;
	}

	/** Times that there is room for. */
	get capacity(): number {
		return this.#older.length;
	}

	/** Whether there is no time at all. */
	get isEmpty(): boolean {
		return this.#count === 0;
	}

	/** Adds an event at `now` where there are fewer than `limit`: 0. Else the milliseconds until there will be. */
	tryAdd(now: number, limit: number): number {
		this.#clampToNow(now);
		while (this.#count > 0 && this.#timeAt(0) <= now - this.#windowMs) this.#dropOldest();
		if (this.#count < limit) {
			this.#add(now, limit);
			return 0;
		}
		// There is room again when the last `limit` events have become one less.
		return this.#timeAt(this.#count - limit) + this.#windowMs - now;
	}

	/** Takes the newest event back, as if it had not happened. */
	removeNewest(): void {
		if (this.#count === 0) return;
		if (this.#count > 1) this.#newest = this.#timeAt(this.#count - 2);
		this.#count--;
		if (this.#count === 0) this.#head = 0;
	}

	#timeAt(index: number): number {
		if (index === this.#count - 1) return this.#newest;
		const span = 2 ** (8 * this.#older.BYTES_PER_ELEMENT);
		const low = this.#older[(this.#head + index) % this.#older.length] as number;
		return this.#newest - ((this.#newest - low) % span);
	}

	#dropOldest(): void {
		this.#count--;
		this.#head = this.#count === 0 ? 0 : (this.#head + 1) % this.#older.length;
	}

	#add(now: number, limit: number): void {
		if (this.#count > 0) {
			const older = this.#count - 1;
			if (older === this.#older.length) this.#grow(limit);
			// Storing a number takes its low bits.
			this.#older[(this.#head + older) % this.#older.length] = this.#newest;
		}
		this.#newest = now;
		this.#count++;
	}

	#grow(limit: number): void {
		const { length } = this.#older;
		const capacity = Math.max(INITIAL_CAPACITY, Math.min(2 * length, limit - 1));
		const grown = this.#older instanceof Uint16Array ? new Uint16Array(capacity) : new Uint32Array(capacity);
		for (let at = 0; at < length; at++) grown[at] = this.#older[(this.#head + at) % length] as number;
		this.#older = grown;
		this.#head = 0;
	}

	/** Where the clock has stepped back, what lies in the future now happened at the latest just now. */
	#clampToNow(now: number): void {
		if (this.#count === 0 || this.#newest <= now) return;
		const times = Array.from({ length: this.#count }, (_, at) => Math.min(this.#timeAt(at), now));
		this.#newest = now;
		for (let at = 0; at < times.length - 1; at++) {
			this.#older[(this.#head + at) % this.#older.length] = times[at] as number;
		}
	}
}
