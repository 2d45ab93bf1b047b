export interface PeriodicTaskOptions {
	/** Milliseconds from the beginning of one round to the next; one that takes longer delays it. */
	intervalMs: number;
	/** One round. Ends soon after the signal aborts; what it leaves is done by the next. */
	run(signal: AbortSignal): Promise<void>;
	/** Is told why a round failed that nobody asked for; the next one comes all the same. */
	onFailure(error: unknown): void;
}

/** Work that is done at the start, and again and again: one round at a time. */
export class PeriodicTask implements AsyncDisposable {
	readonly #options: PeriodicTaskOptions;
	readonly #abort = new AbortController();
	#timer: NodeJS.Timeout | undefined;
	#currentRun: Promise<void> | undefined;

	constructor(options: PeriodicTaskOptions) {
		this.#options = options;
	}

	/** Begins the first round, and sets the clock for the others. */
	start(): void {
		const runInBackground = () => {
			this.run().catch((error: unknown) => {
				if (!this.#abort.signal.aborted) this.#options.onFailure(error);
			});
		};
		runInBackground();
		this.#timer = setInterval(runInBackground, this.#options.intervalMs);
		this.#timer.unref();
	}

	/** Does a round now; one that is under way is joined. */
	run(): Promise<void> {
		if (this.#abort.signal.aborted) return Promise.resolve();
		this.#currentRun ??= this.#options.run(this.#abort.signal).finally(() => {
			this.#currentRun = undefined;
		});
		return this.#currentRun;
	}

	/** Begins no more rounds, and lets the one under way end early. */
	stop(): void {
		clearInterval(this.#timer);
		this.#abort.abort(new Error('The server is stopping.'));
	}

	async [Symbol.asyncDispose](): Promise<void> {
		this.stop();
		await this.#currentRun?.catch(() => {});
	}
}
