import type { SourceReader } from '../base/index.ts';
import type { ToolCall } from '../contract/index.ts';
import type { StoredEvent } from '../store/index.ts';
import type { StreamPosition } from './position.ts';

/** The part of an event's data that the outbox reads. */
export interface StreamEventData {
	/** Absent in an event about a note. */
	message_id: string;
	/** The internal note that the event is about. */
	note_id?: string;
	/** Whether the event opens or closes a text that grows by deltas. */
	text?: 'opens' | 'closes';
	/** A tool call of the message that begins or ends. */
	tool_call?: ToolCall;
}

export type StreamEvent = StoredEvent & { data: StreamEventData };

/** An addition to an open text. It is never stored: the whole text is stored when it closes. */
export interface Delta {
	/** The event that opened the text. */
	seq: number;
	message_id: string;
	/** Its position in the text, in UTF-16 code units. */
	index: number;
	text: string;
}

/** An update of a stream. */
export type StreamUpdate =
	| { kind: 'event'; event: StreamEvent /** Read from the log, not published live. */; replayed: boolean }
	| { kind: 'delta'; delta: Delta };

/** An update for one subscriber. */
export type PositionedUpdate = StreamUpdate & {
	/** The position after it, from which this subscriber can resume. It grows with every update. */
	position: StreamPosition;
};

/** The text that is open in a stream. */
export interface OpenText {
	/** The event that opened it. */
	seq: number;
	/** The last event of the stream. */
	lastSeq: number;
	message_id: string;
	text: string;
}

/** Characters that are buffered for one subscriber. A subscriber that is slower is ended and can resume. */
const BUFFER_CHARS = 1_000_000;
const BUFFER_ITEMS = 5_000;

export const NO_UPDATES: readonly StreamUpdate[] = [];

/** The updates that a subscriber has not read yet. Waiting deltas are merged, so a slow subscriber gets fewer and larger ones. */
export class SubscriberBuffer {
	readonly #reader: SourceReader;
	#items: StreamUpdate[] = [];
	#chars = 0;
	hasOverflowed = false;

	constructor(reader: SourceReader) {
		this.#reader = reader;
	}

	/** Adds an item without waking the subscriber. */
	add(item: StreamUpdate): void {
		// Items after a gap must not be delivered: the subscriber would resume after the gap.
		if (this.hasOverflowed) return;
		const items = this.#items;
		const last = items.at(-1);
		if (item.kind === 'delta') this.#chars += item.delta.text.length;
		if (item.kind === 'delta' && last?.kind === 'delta' && last.delta.seq === item.delta.seq) {
			// A new object, because other subscribers have the item too.
			items[items.length - 1] = { kind: 'delta', delta: { ...last.delta, text: last.delta.text + item.delta.text } };
		} else {
			items.push(item);
		}
		if (this.#chars > BUFFER_CHARS || items.length > BUFFER_ITEMS) {
			this.hasOverflowed = true;
			this.#items = [];
			this.#chars = 0;
		}
	}

	/** Takes all items. The buffer does not change the returned array later. */
	drain(): readonly StreamUpdate[] {
		const items = this.#items;
		if (items.length === 0) return NO_UPDATES;
		this.#items = [];
		this.#chars = 0;
		return items;
	}

	/** Tells the subscriber that it may have items, or that it has ended. */
	wake(): void {
		this.#reader.onReadable();
	}
}

/** The last events of a stream: all after an event number. */
export interface RecentEvents {
	after: number;
	events: StreamEvent[];
}

/** A stream that has subscribers or an open text. */
export interface Topic {
	/** Null where they are unknown or too many: then the log is read. */
	recent: RecentEvents | null;
	subscribers: Set<SubscriberBuffer>;
	openText: OpenText | null;
	/** The subject of the stream was erased. */
	isClosed: boolean;
}
