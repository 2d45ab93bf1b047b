import { Piscina } from 'piscina';
import { AppError, anySignal, type Log, messageOf, ResourceShortage, rejectOnAbort, Semaphore } from '../base/index.ts';
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
	log: Log;
}

/** How long a job may take, and whether its waiting for a thread counts. */
export interface TimeLimit {
	ms: number;
	from: 'asking' | 'running';
}

/**
 * Threads for one kind of job. A thread that fails outside of a job (it cannot be started, or runs out of memory while it is
 * being ended) may leave its pool with jobs that nothing takes up: such a pool is replaced, and its jobs are refused as
 * `unavailable`.
 */
export class ThreadPool implements AsyncDisposable {
	readonly #options: ThreadPoolOptions;
	readonly #semaphore: Semaphore;
	#piscina: Piscina;
	/** Whether the pool before this one was left by a thread that could not run, rather than by one whose job took its memory. */
	#threadCouldNotStart = false;

	constructor(options: ThreadPoolOptions) {
		this.#options = options;
		this.#semaphore = new Semaphore(options.maxThreads, options.maxQueued);
		this.#piscina = this.#open();
	}

	/**
	 * @param onFailure makes the error for what the job itself failed with, or for its time being up
	 * @throws AppError; the signal's reason
	 */
	async run<T>(
		job: unknown,
		{ ms, from }: TimeLimit,
		signal: AbortSignal | undefined,
		onFailure: (cause: unknown) => AppError,
	): Promise<T> {
		let timeout = from === 'asking' ? AbortSignal.timeout(ms) : undefined;
		const abortSignal = () => anySignal(signal, timeout);
		let result: WorkerResult<T>;
		try {
			const running = this.#semaphore.run(() => {
				timeout ??= AbortSignal.timeout(ms);
				return this.#runInPool<T>(job, from === 'asking' ? timeout : abortSignal());
			}, abortSignal());
			// A search is short: a caller that stops waiting for it must not cost the others the thread and what it has loaded. It
			// keeps its place until it ends, so that no more are in the queue than may be.
			result = await (from === 'asking' ? rejectOnAbort(running, signal) : running);
		} catch (cause) {
			if (signal?.aborted) throw signal.reason;
			// Refused before it ran; errors of workers are never AppErrors.
			if (cause instanceof AppError) throw cause;
			throw onFailure(timeout?.aborted ? timeout.reason : cause);
		}
		if (!result.ok) throw new AppError(result.error.code, result.error.message);
		return result.value;
	}

	async [Symbol.asyncDispose](): Promise<void> {
		await this.#piscina.destroy();
	}

	async #runInPool<T>(job: unknown, signal: AbortSignal): Promise<WorkerResult<T>> {
		const piscina = this.#piscina;
		try {
			return await piscina.run(job, { signal });
		} catch (cause) {
			if (piscina === this.#piscina || signal.aborted) throw cause;
			if (this.#threadCouldNotStart) throw new ResourceShortage('The server could not start a thread.', cause);
			throw new AppError('unavailable', 'The server could not run this task. Try again.', { retry_after: 1, cause });
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
		// Without a listener this event ends the server.
		piscina.on('error', (error: unknown) => this.#replacePool(piscina, error));
		return piscina;
	}

	#replacePool(failedPool: Piscina, error: unknown): void {
		const { name, log } = this.#options;
		const { code } = error as { code?: unknown };
		log.error({ threads: name, error: messageOf(error), code }, 'a thread failed, and its pool is replaced');
		if (failedPool !== this.#piscina) return;
		this.#threadCouldNotStart = code !== 'ERR_WORKER_OUT_OF_MEMORY';
		this.#piscina = this.#open();
		// Rejects every job in it.
		failedPool.destroy().catch((cause: unknown) => {
			log.error({ threads: name, error: messageOf(cause) }, 'a pool of threads could not be closed');
		});
	}
}
