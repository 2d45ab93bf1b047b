import { LinkedList, type LinkedNode } from './linked-list.ts';

interface Entry<K, V> extends LinkedNode<Entry<K, V>> {
	readonly key: K;
	value: V;
}

/**
 * A map that evicts the least recently used entry once it holds more than `capacity` entries. The order is a linked list:
 * the first entry of a `Map` is found only by passing over every gap that deletions have left there.
 */
export class LruCache<K, V> {
	readonly #entries = new Map<K, Entry<K, V>>();
	/** The least recently used entry comes first. */
	readonly #order = new LinkedList<Entry<K, V>>();
	readonly #capacity: number;

	constructor(capacity: number) {
		this.#capacity = capacity;
	}

	get size(): number {
		return this.#entries.size;
	}

	get(key: K): V | undefined {
		const entry = this.#entries.get(key);
		if (entry === undefined) return undefined;
		this.#order.moveToEnd(entry);
		return entry.value;
	}

	set(key: K, value: V): void {
		const known = this.#entries.get(key);
		if (known) {
			known.value = value;
			this.#order.moveToEnd(known);
			return;
		}
		this.add(key, value);
	}

	/** As `set`, for a key that is known to be absent. */
	add(key: K, value: V): void {
		const entry: Entry<K, V> = { key, value, previous: undefined, next: undefined };
		this.#entries.set(key, entry);
		this.#order.append(entry);
		if (this.#entries.size > this.#capacity) this.evictOldest();
	}

	delete(key: K): void {
		const entry = this.#entries.get(key);
		if (entry === undefined) return;
		this.#entries.delete(key);
		this.#order.remove(entry);
	}

	clear(): void {
		this.#entries.clear();
		this.#order.clear();
	}

	/** All entries, in no particular order. They stay as recently used as they are. */
	*entries(): Generator<[K, V]> {
		for (const { key, value } of this.#entries.values()) yield [key, value];
	}

	/** Removes the least recently used entry and returns its value. */
	evictOldest(): V | undefined {
		const oldest = this.#order.first;
		if (oldest === undefined) return undefined;
		this.delete(oldest.key);
		return oldest.value;
	}
}
