export interface RoundsOptions {
	/** Milliseconds from the beginning of one round to the next; one that takes longer delays it. */
	everyMs: number;
	/** One round. Ends soon after the signal aborts; what it leaves is done by the next. */
	work(signal: AbortSignal): Promise<void>;
	/** Is told why a round failed that nobody asked for; the next one comes all the same. */
	onFailure(error: unknown): void;
}

/** Work that is done at the start, and again and again: one round at a time. */
export class Rounds implements AsyncDisposable {
	readonly #options: RoundsOptions;
	readonly #ending = new AbortController();
	#timer: NodeJS.Timeout | undefined;
	#round: Promise<void> | undefined;

	constructor(options: RoundsOptions) {
		this.#options = options;
	}

	/** Begins the first round, and sets the clock for the others. */
	start(): void {
		const begin = () => {
			this.run().catch((error: unknown) => {
				if (!this.#ending.signal.aborted) this.#options.onFailure(error);
			});
		};
		begin();
		this.#timer = setInterval(begin, this.#options.everyMs);
		this.#timer.unref();
	}

	/** Does a round now; one that is under way is joined. */
	run(): Promise<void> {
		if (this.#ending.signal.aborted) return Promise.resolve();
		this.#round ??= this.#options.work(this.#ending.signal).finally(() => {
			this.#round = undefined;
		});
		return this.#round;
	}

	/** Begins no more rounds, and lets the one under way end early. */
	stop(): void {
		clearInterval(this.#timer);
		this.#ending.abort(new Error('The server is stopping.'));
	}

	async [Symbol.asyncDispose](): Promise<void> {
		this.stop();
		await this.#round?.catch(() => {});
	}
}
