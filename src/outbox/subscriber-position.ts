import type { StreamPosition } from './position.ts';
import type { OpenText, PositionedUpdate, StreamEvent, StreamUpdate } from './topic.ts';

/** The position of one subscriber. Decides which updates are new to it, and moves with them. */
export class SubscriberPosition {
	#seq: number;
	/** Within the text that is open here. Events that open or close no text do not change it. */
	#offset: number;
	/** The last known event that opened or closed a text: deltas of an earlier text are stale. */
	#lastTextBoundary = 0;

	constructor({ seq, offset }: StreamPosition) {
		this.#seq = seq;
		this.#offset = offset;
	}

	/** The update as this subscriber gets it; null if it has it already. */
	advance(item: StreamUpdate): PositionedUpdate | null {
		return item.kind === 'event' ? this.#advanceByEvent(item) : this.#advanceByDelta(item);
	}

	/** For a subscriber that joins while a text is open: the opening event, as if it came now. */
	joinOpenText({ seq, lastSeq, message_id }: OpenText, stream: string): PositionedUpdate {
		this.#seq = lastSeq;
		this.#offset = 0;
		this.#lastTextBoundary = seq;
		const data = { message_id, text: 'opens' } as const;
		const event: StreamEvent = { id: '', stream, seq, type: 'message.created', data, created_at: 0 };
		return { kind: 'event', event, replayed: false, position: this.#current() };
	}

	#advanceByEvent(item: Extract<StreamUpdate, { kind: 'event' }>): PositionedUpdate | null {
		const { seq, data } = item.event;
		const isTextBoundary = data?.text !== undefined;
		if (isTextBoundary) this.#lastTextBoundary = Math.max(this.#lastTextBoundary, seq);
		if (seq <= this.#seq) return null;
		this.#seq = seq;
		if (isTextBoundary) this.#offset = 0;
		return { ...item, position: this.#current() };
	}

	#advanceByDelta({ delta }: Extract<StreamUpdate, { kind: 'delta' }>): PositionedUpdate | null {
		const end = delta.index + delta.text.length;
		if (delta.seq < this.#lastTextBoundary || end <= this.#offset) return null;
		const knownChars = Math.max(0, this.#offset - delta.index);
		this.#seq = Math.max(this.#seq, delta.seq);
		this.#offset = end;
		const remaining =
			knownChars === 0 ? delta : { ...delta, index: delta.index + knownChars, text: delta.text.slice(knownChars) };
		return { kind: 'delta', delta: remaining, position: this.#current() };
	}

	#current(): StreamPosition {
		return { seq: this.#seq, offset: this.#offset };
	}
}
