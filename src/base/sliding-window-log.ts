/** A ring of the low bits of times, the oldest at `#head`. */
type RingBuffer = Uint16Array | Uint32Array;

const INITIAL_CAPACITY = 4;
const EMPTY_16_BIT = new Uint16Array();
const EMPTY_32_BIT = new Uint32Array();

/**
 * The exact times of the events in a window, in little memory: the newest time is stored whole, the others only as their low
 * bits, because all lie within one window before it. Each takes two bytes for windows up to 65 s, and four for longer ones (up
 * to 49 days).
 */
export class SlidingWindowLog {
	readonly #windowMs: number;
	/** The newest time (ms); meaningless when there is none. */
	#newest = 0;
	/** The number of times, including the newest. */
	#count = 0;
	/** All times but the newest. */
	#older: RingBuffer;
	#head = 0;

	constructor(windowMs: number) {
		this.#windowMs = windowMs;
		this.#older = windowMs < 2 ** 16 ? EMPTY_16_BIT : EMPTY_32_BIT;
	}

	/** The number of times that fit without growing. */
	get capacity(): number {
		return this.#older.length;
	}

	/** Whether there are no times. */
	get isEmpty(): boolean {
		return this.#count === 0;
	}

	/** Adds an event at `now` if there are fewer than `limit`, and returns 0; else the milliseconds until one fits. */
	tryAdd(now: number, limit: number): number {
		this.#clampToNow(now);
		while (this.#count > 0 && this.#timeAt(0) <= now - this.#windowMs) this.#dropOldest();
		if (this.#count < limit) {
			this.#add(now, limit);
			return 0;
		}
		// One fits again when the oldest of the last `limit` events leaves the window.
		return this.#timeAt(this.#count - limit) + this.#windowMs - now;
	}

	/** Removes the newest event. */
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

	/** After the clock was set back, times in the future count as now. */
	#clampToNow(now: number): void {
		if (this.#count === 0 || this.#newest <= now) return;
		const times = Array.from({ length: this.#count }, (_, at) => Math.min(this.#timeAt(at), now));
		this.#newest = now;
		for (let at = 0; at < times.length - 1; at++) {
			this.#older[(this.#head + at) % this.#older.length] = times[at] as number;
		}
	}
}
