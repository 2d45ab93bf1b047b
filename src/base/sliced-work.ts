/**
 * Time for one slice (ms). Whatever needs many turns of the event loop waits for it in each. Measured against slices of 1 ms: the p95 of replies
 * beside 5,000 streams that are being opened is 25 % lower; 100 clients that only read get 4 % fewer responses.
 */
const SLICE_MS = 0.25;

const RESOLVED = Promise.resolve();

/** Work that waits. */
export interface WaitingWork {
	/** How much waits. */
	readonly size: number;
	/** Takes the next part and does it. Called only while something waits; must not throw. */
	workOnNext(): void;
}

/**
 * Does waiting work in slices, each in its own turn of the event loop, so that much of it does not block the others. What a part
 * causes in microtasks belongs to it: the next part begins after that, unless the time of the slice is used up by then.
 */
export class SlicedWork {
	readonly #waiting: WaitingWork;
	readonly #beginSlice = (): void => {
		this.#endsAt = performance.now() + SLICE_MS;
		this.#continue();
	};
	readonly #continue = (): void => {
		if (this.#waiting.size === 0) this.#isScheduled = false;
		else if (performance.now() < this.#endsAt) this.#workOnNext();
		else setImmediate(this.#beginSlice);
	};
	/** When the slice ends (`performance.now()`). */
	#endsAt = 0;
	#isScheduled = false;

	constructor(waiting: WaitingWork) {
		this.#waiting = waiting;
	}

	/** Begins in the next turn, or continues, until nothing waits. */
	start(): void {
		if (this.#isScheduled) return;
		this.#isScheduled = true;
		setImmediate(this.#beginSlice);
	}

	#workOnNext(): void {
		this.#waiting.workOnNext();
		// A tick that is added in a microtask comes after all microtasks.
		void RESOLVED.then(() => process.nextTick(this.#continue));
	}
}
