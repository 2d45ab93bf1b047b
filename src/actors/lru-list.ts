/** An item that can be kept in order of its use. */
export interface LruNode<T> {
	newer: T | undefined;
	older: T | undefined;
	/** Milliseconds since a point in time that is the same for all. */
	lastUsedAt: number;
}

/** Items in order of their last use. Linked through the items, so that a use costs a few assignments. */
export class LruList<T extends LruNode<T>> {
	#oldest: T | undefined = undefined;
	#newest: T | undefined = undefined;

	get oldest(): T | undefined {
		return this.#oldest;
	}

	add(item: T, now: number): void {
		item.lastUsedAt = now;
		item.older = this.#newest;
		if (this.#newest) this.#newest.newer = item;
		else this.#oldest = item;
		this.#newest = item;
	}

	moveToNewest(item: T, now: number): void {
		item.lastUsedAt = now;
		if (item === this.#newest) return;
		this.remove(item);
		this.add(item, now);
	}

	remove(item: T): void {
		if (item.older) item.older.newer = item.newer;
		else this.#oldest = item.newer;
		if (item.newer) item.newer.older = item.older;
		else this.#newest = item.older;
		item.newer = undefined;
		item.older = undefined;
	}
}
