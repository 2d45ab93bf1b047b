/**
 * Runs a task soon after each request, one run at a time. Runs start at least an interval apart, so that many requests share one; the
 * first after a pause starts at once.
 */
export class SpacedTask implements AsyncDisposable {
	readonly #intervalMs: number;
	readonly #run: () => Promise<void>;
	#isWanted = false;
	#isClosed = false;
	#startedAt = Number.NEGATIVE_INFINITY;
	#running: Promise<void> | null = null;
	#timer: NodeJS.Timeout | undefined;

	/** @param run never rejects */
	constructor(intervalMs: number, run: () => Promise<void>) {
		this.#intervalMs = intervalMs;
		this.#run = run;
	}

	request(): void {
		this.#isWanted = true;
		if (this.#running === null && this.#timer === undefined) this.#schedule();
	}

	/** Starts no more runs, and waits for the current one. */
	async [Symbol.asyncDispose](): Promise<void> {
		this.#isClosed = true;
		clearTimeout(this.#timer);
		await this.#running;
	}

	#schedule(): void {
		if (!this.#isWanted || this.#isClosed) return;
		const waitMs = this.#startedAt + this.#intervalMs - performance.now();
		if (waitMs <= 0) {
			this.#start();
			return;
		}
		this.#timer = setTimeout(() => {
			this.#timer = undefined;
			this.#start();
		}, Math.ceil(waitMs));
	}

	#start(): void {
		this.#isWanted = false;
		this.#startedAt = performance.now();
		this.#running = this.#run().finally(() => {
			this.#running = null;
			this.#schedule();
		});
	}
}
