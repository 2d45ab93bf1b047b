/** Reads a `PullSource`. */
export interface SourceReader {
	/** `read` may have something to return: an item, the end, or a failure. It may also be called without a cause. */
	onReadable(): void;
}

/**
 * A stream of items that one reader pulls, without a promise for each item:
 * 1. `open` starts the source. A source that was not opened holds nothing.
 * 2. The reader calls `read` until it returns null. After that the source calls `onReadable` when there is more to read. It calls
 *    `onReadable` neither within `open` nor within `read`.
 * 3. The source ends after its last item, after a failure, or when the reader closes it. Then it holds nothing any more.
 */
export interface PullSource<T> {
	/** Starts the source. Called once. The reader calls `read` after it. */
	open(reader: SourceReader): void;
	/**
	 * The next item; null where none is ready now, or the source has ended.
	 * @throws the error with which the source failed, after the items before it. Then nothing more is read.
	 */
	read(): T | null;
	/** Whether no item follows. Valid once `read` has returned null. */
	readonly isEnded: boolean;
	/** Ends the source, opened or not. Calling it again changes nothing. A promise resolves when it holds nothing any more. */
	close(): void | Promise<void>;
}

/** A source of items that are ready. */
export class ReadyItems<T> implements PullSource<T> {
	readonly #items: T[];

	constructor(items: readonly T[]) {
		this.#items = [...items];
	}

	open(): void {}

	read(): T | null {
		return this.#items.shift() ?? null;
	}

	get isEnded(): boolean {
		return this.#items.length === 0;
	}

	close(): void {
		this.#items.length = 0;
	}
}
