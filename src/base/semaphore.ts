import { AppError } from './errors.ts';

/** The queue in which a task waits. Tasks in `preferred` go before all tasks in `common`. */
export type SemaphoreQueue = 'common' | 'preferred';

/** Runs a limited number of tasks at once. The others wait in order of arrival. */
export class Semaphore {
	readonly #permits: number;
	readonly #maxQueued: number;
	#acquired = 0;
	readonly #waiters: Record<SemaphoreQueue, Set<() => void>> = { preferred: new Set(), common: new Set() };

	/**
	 * @param permits tasks that run concurrently
	 * @param maxQueued tasks that may wait in each queue
	 */
	constructor(permits: number, maxQueued: number) {
		this.#permits = permits;
		this.#maxQueued = maxQueued;
	}

	/**
	 * Runs a task once there is a permit for it.
	 * @throws AppError `unavailable` when too many wait; the signal's reason when it aborts before the task has begun
	 */
	async run<T>(task: () => Promise<T>, signal?: AbortSignal, queue: SemaphoreQueue = 'common'): Promise<T> {
		signal?.throwIfAborted();
		if (this.#acquired < this.#permits) this.#acquired++;
		else await this.#acquire(this.#waiters[queue], signal);
		try {
			return await task();
		} finally {
			this.#release();
		}
	}

	#acquire(waiting: Set<() => void>, signal?: AbortSignal): Promise<void> {
		if (waiting.size >= this.#maxQueued) {
			throw new AppError('unavailable', 'Too much work waits already. Try again.', { retry_after: 1 });
		}
		return new Promise((resolve, reject) => {
			const grant = () => {
				signal?.removeEventListener('abort', cancel);
				resolve();
			};
			const cancel = () => {
				waiting.delete(grant);
				reject(signal?.reason);
			};
			waiting.add(grant);
			signal?.addEventListener('abort', cancel, { once: true });
		});
	}

	/** Hands the permit to the first waiter, so that no later task can take it in between. */
	#release(): void {
		const { preferred, common } = this.#waiters;
		const waiting = preferred.size > 0 ? preferred : common;
		const [first] = waiting;
		if (first === undefined) {
			this.#acquired--;
			return;
		}
		waiting.delete(first);
		first();
	}
}
