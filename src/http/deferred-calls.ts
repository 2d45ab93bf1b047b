/** Calls a function for each of the items of one turn of the event loop, in one callback. */
export class DeferredCalls<T> {
	readonly #defer: (callback: () => void) => void;
	readonly #call: (item: T) => void;
	readonly #run = (): void => this.#callAll();
	#items: T[] = [];

	/**
	 * @param defer calls its callback later, for example `queueMicrotask`
	 * @param call must not throw
	 */
	constructor(defer: (callback: () => void) => void, call: (item: T) => void) {
		this.#defer = defer;
		this.#call = call;
	}

	add(item: T): void {
		if (this.#items.push(item) === 1) this.#defer(this.#run);
	}

	#callAll(): void {
		const items = this.#items;
		this.#items = [];
		for (const item of items) this.#call(item);
	}
}
