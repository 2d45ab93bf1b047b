/** Runs tasks of one key one after the other, and tasks of different keys concurrently. */
export class KeyedLock {
	readonly #tails = new Map<string, Promise<unknown>>();

	async run<T>(key: string, task: () => Promise<T>): Promise<T> {
		const tail = (this.#tails.get(key) ?? Promise.resolve()).then(task, task);
		this.#tails.set(key, tail);
		try {
			return await tail;
		} finally {
			if (this.#tails.get(key) === tail) this.#tails.delete(key);
		}
	}
}
