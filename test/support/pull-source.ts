import type { PullSource, SourceReader } from '../../src/base/index.ts';

/** The items of a source. Aborting the signal closes it. */
export async function* itemsOf<T>(source: PullSource<T>, signal?: AbortSignal): AsyncGenerator<T, void, undefined> {
	let wake = (): void => {};
	const closeSource = (): void => {
		void source.close();
		wake();
	};
	if (signal?.aborted) closeSource();
	signal?.addEventListener('abort', closeSource, { once: true });
	try {
		source.open({ onReadable: () => wake() });
		for (;;) {
			const item = source.read();
			if (item !== null) yield item;
			else if (source.isEnded) return;
			else await new Promise<void>((resolve) => (wake = resolve));
		}
	} finally {
		signal?.removeEventListener('abort', closeSource);
		await source.close();
	}
}

/** A source of the items of an iterable, each of which is asked for when the one before was read. */
export class IterableSource<T> implements PullSource<T> {
	readonly #iterator: AsyncIterator<T>;
	#reader: SourceReader | null = null;
	#isWaiting = false;
	/** What the iterator returned last, until it is read. */
	#step: IteratorResult<T> | { error: unknown } | null = null;
	isEnded = false;

	constructor(items: AsyncIterable<T>) {
		this.#iterator = items[Symbol.asyncIterator]();
	}

	open(reader: SourceReader): void {
		this.#reader = reader;
	}

	read(): T | null {
		const step = this.#step;
		if (this.isEnded) return null;
		if (step === null) {
			this.#waitForNext();
			return null;
		}
		this.#step = null;
		if ('error' in step) throw step.error;
		this.isEnded = step.done === true;
		return step.done ? null : step.value;
	}

	async close(): Promise<void> {
		this.isEnded = true;
		await this.#iterator.return?.();
	}

	#waitForNext(): void {
		if (this.#isWaiting) return;
		this.#isWaiting = true;
		const settle = (step: IteratorResult<T> | { error: unknown }): void => {
			this.#isWaiting = false;
			this.#step = step;
			this.#reader?.onReadable();
		};
		this.#iterator.next().then(settle, (error: unknown) => settle({ error }));
	}
}
