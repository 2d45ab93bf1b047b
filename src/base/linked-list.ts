/** An item of a `LinkedList`. The list alone writes these fields. */
export interface LinkedNode<T> {
	previous: T | undefined;
	next: T | undefined;
}

/**
 * A list whose links are in its items: adding and removing an item, even in the middle, costs a few assignments, and an
 * empty list costs two fields. An item is in one list at a time.
 */
export class LinkedList<T extends LinkedNode<T>> {
	#first: T | undefined = undefined;
	#last: T | undefined = undefined;

	get first(): T | undefined {
		return this.#first;
	}

	append(item: T): void {
		item.previous = this.#last;
		if (this.#last) this.#last.next = item;
		else this.#first = item;
		this.#last = item;
	}

	/** Makes an item of this list the last one. */
	moveToEnd(item: T): void {
		if (item === this.#last) return;
		this.remove(item);
		this.append(item);
	}

	/** Removes an item of this list. */
	remove(item: T): void {
		if (item.previous) item.previous.next = item.next;
		else this.#first = item.next;
		if (item.next) item.next.previous = item.previous;
		else this.#last = item.previous;
		item.previous = undefined;
		item.next = undefined;
	}

	clear(): void {
		this.#first = undefined;
		this.#last = undefined;
	}
}
