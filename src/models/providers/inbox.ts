import { type Deferred, deferred } from '../../base/index.ts';

/** What several senders tell one reader, in order. */
export class Inbox<T> {
	readonly #items: T[] = [];
	#failure: { reason: unknown } | null = null;
	#news: Deferred<void> | null = null;
	#taken: Deferred<void> | null = null;

	push(item: T): void {
		this.#items.push(item);
		this.#news?.resolve();
	}

	/** After what was pushed before, the reader is told of a failure. */
	fail(reason: unknown): void {
		this.#failure ??= { reason };
		this.#news?.resolve();
	}

	/** The next one. Rejects with the failure. One reader at a time. */
	async next(): Promise<T> {
		if (this.#items.length === 0) {
			this.#taken?.resolve();
			this.#taken = null;
			this.#news = deferred();
			if (this.#failure === null) await this.#news.promise;
		}
		if (this.#items.length === 0) throw this.#failure?.reason;
		return this.#items.shift() as T;
	}

	/** Resolves when the reader has taken everything: a sender that waits for it keeps what waits small. */
	async taken(): Promise<void> {
		if (this.#items.length === 0) return;
		this.#taken ??= deferred();
		await this.#taken.promise;
	}
}
