import { anySignal, type Log, LruCache, messageOf, sleep } from '../base/index.ts';
import type { Job, Store } from '../store/index.ts';

/** One kind of durable job and how it is done. */
export interface JobHandler {
	readonly kind: string;
	/** Jobs of this kind side by side. */
	readonly concurrencyLimit: number;
	/** A job in hand is ours for this long; a process after us takes it up at once all the same. */
	readonly leaseMs: number;
	/** Does a job and settles it. Ends soon after the signal aborts, by rejecting: the next process takes the job up. */
	perform(job: Job, signal: AbortSignal): Promise<void>;
	/**
	 * Postpones a job that failed, or gives it up, in the store.
	 * @param failures how often it has failed in this process, this time included
	 */
	afterFailure(job: Job, error: unknown, failures: number): Promise<void>;
}

export interface JobLoopOptions {
	store: Pick<Store, 'jobs'>;
	log: Log;
	handlers: readonly JobHandler[];
	/** Milliseconds between two attempts at a job that could not even be settled. */
	retryMs: number;
}

/** How often to look for jobs that were postponed: where that is for a moment only, after so many moments. */
const POLL_INTERVAL_MS = 2_000;
const POLL_PER_RETRY = 20;
/** Jobs whose failures are remembered: all those that a provider's outage keeps waiting. */
const FAILURE_CACHE_SIZE = 100_000;
/** However often a job has failed, it is tried again after so long: whoever has mended what was wrong need not know of it. */
const MAX_RETRY_DELAY_MS = 15 * 60_000;

/** Milliseconds until a job that has failed so often is tried again: twice as long each time, a quarter of an hour at most. */
export function retryDelay(retryMs: number, failures: number): number {
	return Math.min(MAX_RETRY_DELAY_MS, retryMs * 2 ** (failures - 1));
}

/** Nothing announces the end of a shortage, so work that waits for it is tried at least this often. */
const LONGEST_SHORTAGE_DELAY_MS = 60_000;

/** Milliseconds until a job is tried again that has met a shortage of the system so often: a minute at most. */
export function shortageDelay(retryMs: number, failures: number): number {
	return Math.min(LONGEST_SHORTAGE_DELAY_MS, retryDelay(retryMs, failures));
}

/** Takes jobs from the store as long as it lives, and has each kind of them done as many at a time as there is room for. */
export class JobLoop implements AsyncDisposable {
	readonly #store: Pick<Store, 'jobs'>;
	readonly #log: Log;
	readonly #retryMs: number;
	readonly #pollIntervalMs: number;
	readonly #handlers: ReadonlyArray<{ handler: JobHandler; running: Map<string, Promise<void>> }>;
	/** How often each job has failed in this process: to be cut off by a crash is not to fail. */
	readonly #failures = new LruCache<string, number>(FAILURE_CACHE_SIZE);
	readonly #shutdown = new AbortController();
	#wake: () => void = () => {};
	#loop: Promise<void> | undefined;

	constructor({ store, log, handlers, retryMs }: JobLoopOptions) {
		this.#store = store;
		this.#log = log;
		this.#retryMs = retryMs;
		this.#pollIntervalMs = Math.min(POLL_INTERVAL_MS, POLL_PER_RETRY * retryMs);
		this.#handlers = handlers.map((handler) => ({ handler, running: new Map() }));
	}

	/** Begins to take jobs. */
	start(): void {
		this.#loop ??= this.#run();
	}

	/** Says that there may be a job, or room for one, now. */
	wake(): void {
		this.#wake();
	}

	/** Takes no more jobs and lets go of those in hand; they are taken up again at the next start. */
	async [Symbol.asyncDispose](): Promise<void> {
		this.#shutdown.abort(new Error('The server is stopping.'));
		this.#wake();
		await this.#loop;
		await Promise.all(this.#handlers.flatMap(({ running }) => [...running.values()]));
	}

	async #run(): Promise<void> {
		const { signal } = this.#shutdown;
		while (!signal.aborted) {
			const idle = new AbortController();
			this.#wake = () => idle.abort();
			const claimed = await this.#claimJobs();
			if (claimed === 0) await sleep(this.#pollIntervalMs, anySignal(idle.signal, signal));
		}
	}

	async #claimJobs(): Promise<number> {
		let claimed = 0;
		try {
			for (const { handler, running } of this.#handlers) {
				const free = handler.concurrencyLimit - running.size;
				if (free <= 0) continue;
				for (const job of await this.#store.jobs.claim(handler.kind, free, handler.leaseMs)) {
					if (running.has(job.id)) continue;
					claimed++;
					const done = this.#perform(handler, job).finally(() => {
						running.delete(job.id);
						this.#wake();
					});
					running.set(job.id, done);
				}
			}
		} catch (error) {
			if (!this.#shutdown.signal.aborted) this.#log.error({ error: messageOf(error) }, 'cannot take jobs');
		}
		return claimed;
	}

	/** Ends when the job is settled or postponed, or the process lets go of it. Never rejects. */
	async #perform(handler: JobHandler, job: Job): Promise<void> {
		const { signal } = this.#shutdown;
		const { kind, ref, attempts } = job;
		while (!signal.aborted) {
			try {
				await handler.perform(job, signal);
				return;
			} catch (error) {
				if (signal.aborted) return;
				const failures = (this.#failures.get(job.id) ?? 0) + 1;
				this.#log.warn({ job: kind, ref, attempts, failures, error: messageOf(error) }, 'job failed');
				try {
					await handler.afterFailure(job, error, failures);
					this.#failures.set(job.id, failures);
					return;
				} catch (settleError) {
					// A full disk, say. The job stays in hand, and the whole of it is tried again when that may have passed.
					this.#log.error({ job: kind, ref, error: messageOf(settleError) }, 'cannot settle a job');
					await sleep(this.#retryMs, signal);
				}
			}
		}
	}
}
