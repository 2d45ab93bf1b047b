import { Piscina } from 'piscina';
import {
	AppError,
	anySignal,
	type Log,
	messageOf,
	ResourceShortage,
	rejectOnAbort,
	Semaphore,
	sleep,
} from '../base/index.ts';
import type { WorkerResult } from '../contract/index.ts';
import type { WorkerEntry } from './worker-entry.ts';

export interface ThreadPoolOptions {
	/** For the log. */
	name: string;
	worker: WorkerEntry;
	maxThreads: number;
	idleMs: number;
	heapMb: number;
	/** Jobs that may wait for a thread. */
	maxQueued: number;
	/** Milliseconds that running jobs may take to end when the pool is closed. */
	closeMs: number;
	log: Log;
	/** Called when a failed pool was replaced. */
	onRestart: () => void;
}

/** The time limit of a job. It starts at the call, so that the wait for a thread counts, or when a thread executes the job. */
export interface TimeLimit {
	ms: number;
	startsAt: 'call' | 'execution';
	/** Milliseconds from the call after which the thread is terminated, if that is later than its caller's wait. */
	stopMs?: number;
}

/**
 * Threads for one kind of job. A thread that fails outside of a job (it cannot be started, or runs out of memory while it is
 * terminated) may leave jobs in its pool that no thread runs. Such a pool is replaced, and its jobs are rejected as
 * `unavailable`.
 */
export class ThreadPool implements AsyncDisposable {
	readonly #options: ThreadPoolOptions;
	readonly #semaphore: Semaphore;
	#piscina: Piscina;
	/** Whether a thread of the previous pool could not start. Otherwise its job exhausted the memory. */
	#threadCouldNotStart = false;
	readonly #running = new Set<Promise<unknown>>();
	#isClosed = false;

	constructor(options: ThreadPoolOptions) {
		this.#options = options;
		this.#semaphore = new Semaphore(options.maxThreads, options.maxQueued);
		this.#piscina = this.#open();
	}

	/**
	 * @param onFailure makes the error from the job's own failure or from its time limit
	 * @throws AppError; the signal's reason
	 */
	async run<T>(
		job: unknown,
		{ ms, startsAt, stopMs = ms }: TimeLimit,
		signal: AbortSignal | undefined,
		onFailure: (cause: unknown) => AppError,
	): Promise<T> {
		let timeout = startsAt === 'call' ? AbortSignal.timeout(ms) : undefined;
		const stop = stopMs === ms ? timeout : AbortSignal.timeout(stopMs);
		const abortSignal = () => anySignal(signal, timeout);
		let result: WorkerResult<T>;
		try {
			const running = this.#semaphore.run(() => {
				timeout ??= AbortSignal.timeout(ms);
				return this.#runInPool<T>(job, stop ?? abortSignal());
			}, abortSignal());
			// A search is short. It is not aborted when its caller stops waiting, because that would terminate the thread with the
			// data that it has loaded. It keeps its permit until it ends, so that the queue stays bounded.
			result = await (startsAt === 'call'
				? rejectOnAbort(running, stop === timeout ? signal : abortSignal())
				: running);
		} catch (cause) {
			if (signal?.aborted) throw signal.reason;
			// Rejected before it ran; errors of workers are never AppErrors.
			if (cause instanceof AppError) throw cause;
			throw onFailure(timeout?.aborted ? timeout.reason : cause);
		}
		if (!result.ok) throw new AppError(result.error.code, result.error.message);
		return result.value;
	}

	/** Jobs that wait are rejected as `unavailable`. */
	async [Symbol.asyncDispose](): Promise<void> {
		this.#isClosed = true;
		const running = Promise.allSettled(this.#running);
		const timer = new AbortController();
		await Promise.race([running, sleep(this.#options.closeMs, timer.signal)]);
		timer.abort();
		await this.#piscina.destroy();
	}

	async #runInPool<T>(job: unknown, signal: AbortSignal): Promise<WorkerResult<T>> {
		if (this.#isClosed) throw new AppError('unavailable', 'The server is stopping.', { retry_after: 1 });
		const piscina = this.#piscina;
		const running = piscina.run(job, { signal });
		this.#running.add(running);
		try {
			return await running;
		} catch (cause) {
			if (piscina === this.#piscina || signal.aborted) throw cause;
			if (this.#threadCouldNotStart) throw new ResourceShortage('The server could not start a thread.', cause);
			throw new AppError('unavailable', 'The server could not run this task. Try again.', { retry_after: 1, cause });
		} finally {
			this.#running.delete(running);
		}
	}

	#open(): Piscina {
		const { worker, maxThreads, idleMs, heapMb } = this.#options;
		const piscina = new Piscina({
			filename: worker.file.href,
			execArgv: worker.execArgv,
			minThreads: 0,
			maxThreads,
			idleTimeout: idleMs,
			resourceLimits: { maxOldGenerationSizeMb: heapMb },
		});
		// An `error` event without a listener would end the server.
		piscina.on('error', (error: unknown) => this.#replacePool(piscina, error));
		return piscina;
	}

	#replacePool(failedPool: Piscina, error: unknown): void {
		const { name, log } = this.#options;
		const { code } = error as { code?: unknown };
		log.error({ threads: name, error: messageOf(error), code }, 'a thread failed, and its pool is replaced');
		if (failedPool !== this.#piscina || this.#isClosed) return;
		this.#threadCouldNotStart = code !== 'ERR_WORKER_OUT_OF_MEMORY';
		this.#piscina = this.#open();
		this.#options.onRestart();
		// Rejects all of its jobs.
		failedPool.destroy().catch((cause: unknown) => {
			log.error({ threads: name, error: messageOf(cause) }, 'a pool of threads could not be closed');
		});
	}
}
