interface Entry<K, V> {
	readonly key: K;
	value: V;
	older: Entry<K, V> | undefined;
	newer: Entry<K, V> | undefined;
}

/**
 * A map that forgets what was not used for longest once it holds more than `capacity` entries. The order is kept in links
 * between the entries: to look for a map's first entry means to pass over every gap that forgetting has left there.
 */
export class LruCache<K, V> {
	readonly #entries = new Map<K, Entry<K, V>>();
	readonly #capacity: number;
	#oldest: Entry<K, V> | undefined;
	#newest: Entry<K, V> | undefined;

	constructor(capacity: number) {
		this.#capacity = capacity;
	}

	get size(): number {
		return this.#entries.size;
	}

	get(key: K): V | undefined {
		const entry = this.#entries.get(key);
		if (entry === undefined) return undefined;
		this.#moveToNewest(entry);
		return entry.value;
	}

	set(key: K, value: V): void {
		const known = this.#entries.get(key);
		if (known) {
			known.value = value;
			this.#moveToNewest(known);
			return;
		}
		this.add(key, value);
	}

	/** As `set`, of a key that is known not to be there. */
	add(key: K, value: V): void {
		const entry: Entry<K, V> = { key, value, older: undefined, newer: undefined };
		this.#entries.set(key, entry);
		this.#append(entry);
		if (this.#entries.size > this.#capacity) this.evictOldest();
	}

	delete(key: K): void {
		const entry = this.#entries.get(key);
		if (entry === undefined) return;
		this.#entries.delete(key);
		this.#unlink(entry);
	}

	clear(): void {
		this.#entries.clear();
		this.#oldest = undefined;
		this.#newest = undefined;
	}

	/** Forgets what was not used for longest, and gives it back. */
	evictOldest(): V | undefined {
		const oldest = this.#oldest;
		if (oldest === undefined) return undefined;
		this.delete(oldest.key);
		return oldest.value;
	}

	#moveToNewest(entry: Entry<K, V>): void {
		if (entry === this.#newest) return;
		this.#unlink(entry);
		this.#append(entry);
	}

	#append(entry: Entry<K, V>): void {
		entry.older = this.#newest;
		if (this.#newest) this.#newest.newer = entry;
		else this.#oldest = entry;
		this.#newest = entry;
	}

	#unlink(entry: Entry<K, V>): void {
		if (entry.older) entry.older.newer = entry.newer;
		else this.#oldest = entry.newer;
		if (entry.newer) entry.newer.older = entry.older;
		else this.#newest = entry.older;
		entry.older = undefined;
		entry.newer = undefined;
	}
}
