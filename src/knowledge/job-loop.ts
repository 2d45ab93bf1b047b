import { anySignal, type Log, LruCache, messageOf, sleep, withDeadline } from '../base/index.ts';
import type { Job, Store } from '../store/index.ts';

/** One kind of durable job and its implementation. */
export interface JobHandler {
	readonly kind: string;
	/** Jobs of this kind that run concurrently. */
	readonly concurrencyLimit: number;
	/** The lease of a claimed job. A new process does not wait for it: it claims the jobs of an earlier process at once. */
	readonly leaseMs: number;
	/**
	 * Performs a job and completes it, or postpones it. Rejects soon after the signal aborts: then its claim is given back, and the next
	 * process claims the job again.
	 */
	perform(job: Job, signal: AbortSignal): Promise<void>;
	/**
	 * Postpones a failed job in the store, or gives it up.
	 * @param failures the number of failures in this process, this one included
	 */
	afterFailure(job: Job, error: unknown, failures: number): Promise<void>;
}

export interface JobLoopOptions {
	store: Pick<Store, 'jobs' | 'commit'>;
	log: Log;
	handlers: readonly JobHandler[];
	/** Milliseconds until the next attempt at a job whose failure could not be stored. */
	retryMs: number;
}

/** The interval of polls for postponed jobs; shorter when the retry interval is short. */
const POLL_INTERVAL_MS = 2_000;
const POLL_PER_RETRY = 20;
/** The size of the cache of failure counts: enough for all jobs that wait during a provider's outage. */
const FAILURE_CACHE_SIZE = 100_000;
/** The longest delay of a retry. A job continues by itself after the cause is repaired, however many failures it has. */
const MAX_RETRY_DELAY_MS = 15 * 60_000;

/** The time limit of the commit that gives a claim back: a disk that does not respond must not delay the shutdown. */
const GIVE_BACK_MS = 2_000;

/** Milliseconds until the next attempt: exponential backoff with a maximum of a quarter of an hour. */
export function retryDelay(retryMs: number, failures: number): number {
	return Math.min(MAX_RETRY_DELAY_MS, retryMs * 2 ** (failures - 1));
}

/** The longest delay of a retry after a shortage, because nothing announces the end of a shortage. */
const LONGEST_SHORTAGE_DELAY_MS = 60_000;

/** Milliseconds until the next attempt after a shortage of the system: a minute at most. */
export function shortageDelay(retryMs: number, failures: number): number {
	return Math.min(LONGEST_SHORTAGE_DELAY_MS, retryDelay(retryMs, failures));
}

/** Claims jobs from the store and runs them with their handlers, up to the concurrency limit of each kind. */
export class JobLoop implements AsyncDisposable {
	readonly #store: Pick<Store, 'jobs' | 'commit'>;
	readonly #log: Log;
	readonly #retryMs: number;
	readonly #pollIntervalMs: number;
	readonly #handlers: ReadonlyArray<{ handler: JobHandler; running: Map<string, Promise<void>> }>;
	/** The number of failures of each job in this process. A crash during a job is no failure. */
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

	/** Starts to claim jobs. */
	start(): void {
		this.#loop ??= this.#run();
	}

	/** Reports that there may be a new job or a free slot. */
	wake(): void {
		this.#wake();
	}

	/**
	 * Claims no more jobs, aborts those that run and gives their claims back, so that `Job.attempts` counts only crashes. The next
	 * start claims them again.
	 */
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
					claimed++;
					// A job that has just postponed itself may be claimed again before its run has ended.
					const previous = running.get(job.id);
					const run = previous ? this.#performAfter(previous, handler, job) : this.#perform(handler, job);
					const done = run.finally(() => {
						if (running.get(job.id) === done) running.delete(job.id);
						this.#wake();
					});
					running.set(job.id, done);
				}
			}
		} catch (error) {
			if (!this.#shutdown.signal.aborted) this.#log.error({ error: messageOf(error) }, 'jobs cannot be claimed');
		}
		return claimed;
	}

	/**
	 * Performs a job after its previous run. If the lease ended during that run, the run may have completed or postponed the job
	 * since this claim: then there is nothing to do.
	 */
	async #performAfter(previous: Promise<void>, handler: JobHandler, job: Job): Promise<void> {
		await previous;
		// A claim that cannot be checked counts: a job runs at least once.
		if (await this.#store.jobs.isClaimed(job.id).catch(() => true)) await this.#perform(handler, job);
	}

	/** Resolves when the job is completed, postponed or aborted by the shutdown. Never rejects. */
	async #perform(handler: JobHandler, job: Job): Promise<void> {
		const { signal } = this.#shutdown;
		const { kind, ref, attempts } = job;
		while (!signal.aborted) {
			try {
				await handler.perform(job, signal);
				return;
			} catch (error) {
				if (signal.aborted) break;
				const failures = (this.#failures.get(job.id) ?? 0) + 1;
				this.#log.warn({ job: kind, ref, attempts, failures, error: messageOf(error) }, 'job failed');
				try {
					await handler.afterFailure(job, error, failures);
					this.#failures.set(job.id, failures);
					return;
				} catch (completionError) {
					// For example a full disk. The job stays claimed and runs again from the beginning after a pause.
					this.#log.error({ job: kind, ref, error: messageOf(completionError) }, 'a job cannot be completed');
					await sleep(this.#retryMs, signal);
				}
			}
		}
		await this.#giveBack(job);
	}

	/** Ends the claim of a job that the shutdown has aborted. Never rejects: then the next start counts an interruption. */
	async #giveBack({ id, kind, ref }: Job): Promise<void> {
		try {
			const commit = this.#store.commit({ jobs: [{ op: 'give_back', id }] });
			await withDeadline(commit, GIVE_BACK_MS, () => new Error('The disk does not respond.'));
		} catch (error) {
			this.#log.warn({ job: kind, ref, error: messageOf(error) }, 'the claim of a job could not be given back');
		}
	}
}
