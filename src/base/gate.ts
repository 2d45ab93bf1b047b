import { AppError } from './errors.ts';

/** In which queue a task waits: those of `preferred` go before all of `common`. */
export type GateQueue = 'common' | 'preferred';

/** Lets a number of tasks in at once; the others wait outside in the order in which they came. */
export class Gate {
	readonly #room: number;
	readonly #queue: number;
	#inside = 0;
	readonly #waiting: Record<GateQueue, Set<() => void>> = { preferred: new Set(), common: new Set() };

	/**
	 * @param room tasks that run side by side
	 * @param queue tasks that may wait in each queue
	 */
	constructor(room: number, queue: number) {
		this.#room = room;
		this.#queue = queue;
	}

	/**
	 * Runs a task once there is room for it.
	 * @throws AppError `unavailable` when too many wait; the signal's reason when it aborts before the task has begun
	 */
	async run<T>(task: () => Promise<T>, signal?: AbortSignal, queue: GateQueue = 'common'): Promise<T> {
		signal?.throwIfAborted();
		if (this.#inside < this.#room) this.#inside++;
		else await this.#turn(this.#waiting[queue], signal);
		try {
			return await task();
		} finally {
			this.#leave();
		}
	}

	#turn(waiting: Set<() => void>, signal?: AbortSignal): Promise<void> {
		if (waiting.size >= this.#queue) {
			throw new AppError('unavailable', 'Too much work waits already. Try again.', { retry_after: 1 });
		}
		return new Promise((resolve, reject) => {
			const enter = () => {
				signal?.removeEventListener('abort', giveUp);
				resolve();
			};
			const giveUp = () => {
				waiting.delete(enter);
				reject(signal?.reason);
			};
			waiting.add(enter);
			signal?.addEventListener('abort', giveUp, { once: true });
		});
	}

	/** Who leaves hands its place to the first that waits, so that nobody can slip in between. */
	#leave(): void {
		const { preferred, common } = this.#waiting;
		const waiting = preferred.size > 0 ? preferred : common;
		const [first] = waiting;
		if (first === undefined) {
			this.#inside--;
			return;
		}
		waiting.delete(first);
		first();
	}
}
