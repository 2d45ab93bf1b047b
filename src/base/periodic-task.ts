/** A periodic task. */
export interface PeriodicTaskOptions {
	/** Milliseconds between the starts of two runs; a run that takes longer delays the next one. */
	intervalMs: number;
	/** One run. Ends soon after the signal aborts; the next run does the rest. */
	run(signal: AbortSignal): Promise<void>;
	/** Called with the error of a failed scheduled run. The schedule continues. */
	onFailure(error: unknown): void;
}

/** Runs a task at the start and then at an interval, one run at a time. */
export class PeriodicTask implements AsyncDisposable {
	readonly #options: PeriodicTaskOptions;
	readonly #abort = new AbortController();
	#timer: NodeJS.Timeout | undefined;
	#currentRun: Promise<void> | undefined;

	constructor(options: PeriodicTaskOptions) {
		this.#options = options;
	}

	/** Starts the first run and schedules the others. */
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

	/** Runs the task now, or joins the current run. */
	run(): Promise<void> {
		if (this.#abort.signal.aborted) return Promise.resolve();
		this.#currentRun ??= this.#options.run(this.#abort.signal).finally(() => {
			this.#currentRun = undefined;
		});
		return this.#currentRun;
	}

	/** Runs the task from its beginning, after the current run: that one may have passed what the caller has changed. */
	async runAfterwards(): Promise<void> {
		await this.#currentRun?.catch(() => {});
		await this.run();
	}

	/** Starts no more runs and aborts the current one. */
	stop(): void {
		clearInterval(this.#timer);
		this.#abort.abort(new Error('The server is stopping.'));
	}

	async [Symbol.asyncDispose](): Promise<void> {
		this.stop();
		await this.#currentRun?.catch(() => {});
	}
}
