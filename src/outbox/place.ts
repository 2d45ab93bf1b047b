import type { StreamPosition } from './position.ts';
import type { GrowingText, Happening, StreamEvent, StreamItem } from './topic.ts';

/** Where one follower is: decides what of all that happens is new to it, and where that brings it. */
export class Place {
	#seq: number;
	/** Within the text that is open here. Events that open or close none leave it as it is. */
	#offset: number;
	/** The last event known to have opened or closed a text: what belongs to a text before it is over. */
	#turn = 0;

	constructor({ seq, offset }: StreamPosition) {
		this.#seq = seq;
		this.#offset = offset;
	}

	/** The item as this follower is to be told it, or null where it knows it already. */
	tell(item: Happening): StreamItem | null {
		return item.kind === 'event' ? this.#event(item) : this.#delta(item);
	}

	/** For a follower that comes while a text grows: its beginning, as if it had been opened just now. */
	begin({ seq, at, message_id }: GrowingText, stream: string): StreamItem {
		this.#seq = at;
		this.#offset = 0;
		this.#turn = seq;
		const data = { message_id, text: 'opens' } as const;
		const event: StreamEvent = { id: '', stream, seq, type: 'message.created', data, created_at: 0 };
		return { kind: 'event', event, replayed: false, position: this.#here() };
	}

	#event(item: Extract<Happening, { kind: 'event' }>): StreamItem | null {
		const { seq, data } = item.event;
		const turns = data?.text !== undefined;
		if (turns) this.#turn = Math.max(this.#turn, seq);
		if (seq <= this.#seq) return null;
		this.#seq = seq;
		if (turns) this.#offset = 0;
		return { ...item, position: this.#here() };
	}

	#delta({ delta }: Extract<Happening, { kind: 'delta' }>): StreamItem | null {
		const end = delta.index + delta.text.length;
		if (delta.seq < this.#turn || end <= this.#offset) return null;
		const known = Math.max(0, this.#offset - delta.index);
		this.#seq = Math.max(this.#seq, delta.seq);
		this.#offset = end;
		const rest = known === 0 ? delta : { ...delta, index: delta.index + known, text: delta.text.slice(known) };
		return { kind: 'delta', delta: rest, position: this.#here() };
	}

	#here(): StreamPosition {
		return { seq: this.#seq, offset: this.#offset };
	}
}
