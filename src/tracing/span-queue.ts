import type { TracingSettings } from './environment.ts';
import type { EndedSpan } from './span-message.ts';

type Limits = Pick<TracingSettings, 'scheduleDelayMs' | 'maxQueueSize' | 'maxBatchSize'>;

/**
 * Collects spans and hands them over in batches, one at a time: when a batch is full, and after a delay. Spans are encoded when their
 * batch is closed: many at once take much less processor time than each at its end.
 */
export class SpanQueue {
	readonly #limits: Limits;
	readonly #encode: (spans: readonly EndedSpan[]) => Uint8Array;
	readonly #send: (body: Uint8Array) => Promise<void>;
	readonly #onDropped: () => void;
	#spans: EndedSpan[] = [];
	/** Full batches that wait. */
	readonly #batches: { body: Uint8Array; spans: number }[] = [];
	/** Spans in these and in the batch that is being sent. */
	#waiting = 0;
	#timer: NodeJS.Timeout | null = null;
	#sending: Promise<void> | null = null;

	/**
	 * @param send must not reject
	 * @param onDropped called for a span that is dropped because too many wait
	 */
	constructor(
		limits: Limits,
		encode: (spans: readonly EndedSpan[]) => Uint8Array,
		send: (body: Uint8Array) => Promise<void>,
		onDropped: () => void,
	) {
		this.#limits = limits;
		this.#encode = encode;
		this.#send = send;
		this.#onDropped = onDropped;
	}

	add(span: EndedSpan): void {
		if (this.#waiting + this.#spans.length >= this.#limits.maxQueueSize) {
			this.#onDropped();
			return;
		}
		this.#spans.push(span);
		if (this.#spans.length >= this.#limits.maxBatchSize) this.#closeBatch();
		else this.#timer ??= setTimeout(() => this.#closeBatch(), this.#limits.scheduleDelayMs).unref();
	}

	/** Sends everything that waits. */
	async flush(): Promise<void> {
		this.#closeBatch();
		await this.#sending;
	}

	#closeBatch(): void {
		if (this.#timer !== null) clearTimeout(this.#timer);
		this.#timer = null;
		if (this.#spans.length === 0) return;
		const spans = this.#spans;
		this.#spans = [];
		this.#batches.push({ body: this.#encode(spans), spans: spans.length });
		this.#waiting += spans.length;
		this.#sending ??= this.#sendBatches();
	}

	async #sendBatches(): Promise<void> {
		for (let batch = this.#batches.shift(); batch !== undefined; batch = this.#batches.shift()) {
			await this.#send(batch.body);
			this.#waiting -= batch.spans;
		}
		// In the same step as the last look, so that no batch is closed in between.
		this.#sending = null;
	}
}
