import type { ToolCall } from '../contract/index.ts';
import type { StoredEvent } from '../store/index.ts';
import type { StreamPosition } from './position.ts';

/** What the data of a stream's events says to the outbox. */
export interface StreamEventData {
	message_id: string;
	/** Whether the event begins or ends a text that grows by deltas. */
	text?: 'opens' | 'closes';
	/** A tool call of the message, as it begins or ends. */
	tool_call?: ToolCall;
}

export type StreamEvent = StoredEvent & { data: StreamEventData };

/** More of a growing text. It is never stored: what it tells is stored as a whole when the text closes. */
export interface Delta {
	/** The event that opened the text. */
	seq: number;
	message_id: string;
	/** Where it goes in the text, in UTF-16 code units. */
	index: number;
	text: string;
}

/** What happens in a stream. */
export type StreamUpdate =
	| { kind: 'event'; event: StreamEvent /** Read from the log, not heard as it happened. */; replayed: boolean }
	| { kind: 'delta'; delta: Delta };

/** What happened, as one follower is told it. */
export type PositionedUpdate = StreamUpdate & {
	/** The place after it, from which this follower can go on. Later with every item. */
	position: StreamPosition;
};

/** The text that is growing in a stream right now. */
export interface OpenText {
	/** The event that opened it. */
	seq: number;
	/** The last event of the stream. */
	lastSeq: number;
	message_id: string;
	text: string;
}

/** Characters that may wait for one follower; one that is slower than that is cut off and can resume. */
const BUFFER_CHARS = 1_000_000;
const BUFFER_ITEMS = 5_000;

/** What a follower has not taken yet. Deltas that wait are merged, so a slow reader gets fewer and larger ones. */
export class SubscriberBuffer {
	#items: StreamUpdate[] = [];
	#chars = 0;
	#wakeUp: (() => void) | undefined;
	hasOverflowed = false;

	/** Adds an item and wakes the follower. */
	push(item: StreamUpdate): void {
		this.add(item);
		this.wake();
	}

	/** Adds an item; the follower learns of it when it is woken. */
	add(item: StreamUpdate): void {
		// What came after a gap must not be told: the follower would resume behind it.
		if (this.hasOverflowed) return;
		const last = this.#items.at(-1);
		if (item.kind === 'delta') {
			this.#chars += item.delta.text.length;
			if (last?.kind === 'delta' && last.delta.seq === item.delta.seq) {
				last.delta = { ...last.delta, text: last.delta.text + item.delta.text };
			} else {
				this.#items.push({ kind: 'delta', delta: item.delta });
			}
		} else {
			this.#items.push(item);
		}
		if (this.#chars > BUFFER_CHARS || this.#items.length > BUFFER_ITEMS) {
			this.hasOverflowed = true;
			this.#items = [];
			this.#chars = 0;
		}
	}

	/** Everything that waits, at once. */
	drain(): StreamUpdate[] {
		const items = this.#items;
		if (items.length > 0) {
			this.#items = [];
			this.#chars = 0;
		}
		return items;
	}

	get isEmpty(): boolean {
		return this.#items.length === 0;
	}

	/** Resolves when something was pushed since the last take, or at `wake`. */
	async changed(): Promise<void> {
		if (this.#items.length > 0 || this.hasOverflowed) return;
		await new Promise<void>((resolve) => {
			this.#wakeUp = resolve;
		});
	}

	wake(): void {
		this.#wakeUp?.();
		this.#wakeUp = undefined;
	}
}

/** The last events of a stream: all that came after an event number. */
export interface RecentEvents {
	after: number;
	events: StreamEvent[];
}

/** One stream that somebody follows or that grows right now. */
export interface Topic {
	/** Null where they are not known, or are too many: then the log tells. */
	recent: RecentEvents | null;
	subscribers: Set<SubscriberBuffer>;
	openText: OpenText | null;
	/** What the stream tells of is gone. */
	isClosed: boolean;
}
