interface Waiter {
	exclusive: boolean;
	grant(): void;
}

/**
 * A readers-writer lock: shared holders run side by side, an exclusive holder runs with nothing beside it. Waiters are
 * served in the order of their arrival, so neither kind starves the other.
 */
export class ReadWriteLock {
	#shared = 0;
	#exclusive = false;
	readonly #waiters: Waiter[] = [];

	/**
	 * Runs a task beside other shared ones.
	 * @throws the signal's reason when it aborts before the task has begun
	 */
	shared<T>(task: () => Promise<T>, signal?: AbortSignal): Promise<T> {
		return this.#run(false, task, signal);
	}

	/**
	 * Runs a task with no other beside it.
	 * @throws the signal's reason when it aborts before the task has begun
	 */
	exclusive<T>(task: () => Promise<T>, signal?: AbortSignal): Promise<T> {
		return this.#run(true, task, signal);
	}

	async #run<T>(exclusive: boolean, task: () => Promise<T>, signal: AbortSignal | undefined): Promise<T> {
		signal?.throwIfAborted();
		if (this.#waiters.length === 0 && this.#canAcquire(exclusive)) this.#acquire(exclusive);
		else await this.#waitToAcquire(exclusive, signal);
		try {
			return await task();
		} finally {
			if (exclusive) this.#exclusive = false;
			else this.#shared--;
			this.#grantWaiters();
		}
	}

	#canAcquire(exclusive: boolean): boolean {
		return !this.#exclusive && (!exclusive || this.#shared === 0);
	}

	#acquire(exclusive: boolean): void {
		if (exclusive) this.#exclusive = true;
		else this.#shared++;
	}

	#waitToAcquire(exclusive: boolean, signal: AbortSignal | undefined): Promise<void> {
		return new Promise((resolve, reject) => {
			const waiter: Waiter = {
				exclusive,
				grant: () => {
					signal?.removeEventListener('abort', cancel);
					resolve();
				},
			};
			const cancel = () => {
				this.#waiters.splice(this.#waiters.indexOf(waiter), 1);
				reject(signal?.reason);
				// An exclusive waiter may have held up shared ones behind it.
				this.#grantWaiters();
			};
			this.#waiters.push(waiter);
			signal?.addEventListener('abort', cancel, { once: true });
		});
	}

	/** Takes the lock for the first waiters that fit, before they run: nothing can slip in between. */
	#grantWaiters(): void {
		for (let first = this.#waiters[0]; first && this.#canAcquire(first.exclusive); first = this.#waiters[0]) {
			this.#waiters.shift();
			this.#acquire(first.exclusive);
			first.grant();
		}
	}
}
