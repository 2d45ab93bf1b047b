/** A map that forgets what was not used for longest once it holds more than `capacity` entries. */
export class Lru<K, V> {
	readonly #entries = new Map<K, V>();
	readonly #capacity: number;

	constructor(capacity: number) {
		this.#capacity = capacity;
	}

	get size(): number {
		return this.#entries.size;
	}

	get(key: K): V | undefined {
		const value = this.#entries.get(key);
		if (value !== undefined) {
			this.#entries.delete(key);
			this.#entries.set(key, value);
		}
		return value;
	}

	set(key: K, value: V): void {
		this.#entries.delete(key);
		this.#entries.set(key, value);
		if (this.#entries.size > this.#capacity) {
			const oldest = this.#entries.keys().next().value as K;
			this.#entries.delete(oldest);
		}
	}

	delete(key: K): void {
		this.#entries.delete(key);
	}
}
