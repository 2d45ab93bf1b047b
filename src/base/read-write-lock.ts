interface Waiting {
	exclusive: boolean;
	enter(): void;
}

/**
 * A readers-writer lock: shared holders run side by side, an exclusive holder runs with nothing beside it. Waiters are
 * served in the order of their arrival, so neither kind starves the other.
 */
export class ReadWriteLock {
	#shared = 0;
	#exclusive = false;
	readonly #waiting: Waiting[] = [];

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
		if (this.#waiting.length === 0 && this.#isFree(exclusive)) this.#take(exclusive);
		else await this.#turn(exclusive, signal);
		try {
			return await task();
		} finally {
			if (exclusive) this.#exclusive = false;
			else this.#shared--;
			this.#admit();
		}
	}

	#isFree(exclusive: boolean): boolean {
		return !this.#exclusive && (!exclusive || this.#shared === 0);
	}

	#take(exclusive: boolean): void {
		if (exclusive) this.#exclusive = true;
		else this.#shared++;
	}

	#turn(exclusive: boolean, signal: AbortSignal | undefined): Promise<void> {
		return new Promise((resolve, reject) => {
			const waiting: Waiting = {
				exclusive,
				enter: () => {
					signal?.removeEventListener('abort', giveUp);
					resolve();
				},
			};
			const giveUp = () => {
				this.#waiting.splice(this.#waiting.indexOf(waiting), 1);
				reject(signal?.reason);
				// An exclusive waiter may have held up shared ones behind it.
				this.#admit();
			};
			this.#waiting.push(waiting);
			signal?.addEventListener('abort', giveUp, { once: true });
		});
	}

	/** Takes the lock for the first waiters that fit, before they run: nothing can slip in between. */
	#admit(): void {
		for (let first = this.#waiting[0]; first && this.#isFree(first.exclusive); first = this.#waiting[0]) {
			this.#waiting.shift();
			this.#take(first.exclusive);
			first.enter();
		}
	}
}
