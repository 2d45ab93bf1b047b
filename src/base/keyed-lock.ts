/** Runs tasks of one key one after the other, tasks of different keys side by side. */
export class KeyedLock {
	readonly #last = new Map<string, Promise<unknown>>();

	async run<T>(key: string, task: () => Promise<T>): Promise<T> {
		const turn = (this.#last.get(key) ?? Promise.resolve()).then(task, task);
		this.#last.set(key, turn);
		try {
			return await turn;
		} finally {
			if (this.#last.get(key) === turn) this.#last.delete(key);
		}
	}
}
