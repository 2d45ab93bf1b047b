interface Waiter {
	exclusive: boolean;
	grant(): void;
}

/**
 * A readers-writer lock: shared holders run concurrently, an exclusive holder runs alone. Waiters are served in order of
 * arrival, so neither kind starves the other.
 */
export class ReadWriteLock {
	#shared = 0;
	#exclusive = false;
	readonly #waiters: Waiter[] = [];

	/**
	 * Runs a task concurrently with other shared tasks.
	 * @throws the signal's reason when it aborts before the task has begun
	 */
	shared<T>(task: () => Promise<T>, signal?: AbortSignal): Promise<T> {
		return this.#run(false, task, signal);
	}

	/**
	 * Runs a task alone.
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
				// An exclusive waiter may have blocked shared ones behind it.
				this.#grantWaiters();
			};
			this.#waiters.push(waiter);
			signal?.addEventListener('abort', cancel, { once: true });
		});
	}

	/** Takes the lock for the first waiters that fit before they run, so that no other task can take it in between. */
	#grantWaiters(): void {
		for (let first = this.#waiters[0]; first && this.#canAcquire(first.exclusive); first = this.#waiters[0]) {
			this.#waiters.shift();
			this.#acquire(first.exclusive);
			first.grant();
		}
	}
}
