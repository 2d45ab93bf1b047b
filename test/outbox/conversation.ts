import assert from 'node:assert/strict';
import { newId } from '../../src/base/index.ts';
import {
	formatPosition,
	type Outbox,
	type PositionedUpdate,
	parsePosition,
	type StreamEventData,
	type StreamPosition,
} from '../../src/outbox/index.ts';
import type { Store } from '../../src/store/index.ts';

/** The writing side of a stream: events that are committed, and a reply that grows between two of them. */
export class StreamWriter {
	readonly stream = newId('conversation');
	/** The text of each reply by the event that opened it, as it really became. */
	readonly texts = new Map<number, string>();
	/** The reply that is growing: its message and the event that opened it. */
	growing: { message_id: string; seq: number } | null = null;
	readonly #store: Pick<Store, 'commit'>;
	readonly #outbox: Outbox;

	constructor(store: Pick<Store, 'commit'>, outbox: Outbox) {
		this.#store = store;
		this.#outbox = outbox;
	}

	/** Events that neither open nor close anything, in one commit. */
	async say(count = 1): Promise<number> {
		return this.#commit(
			'message.created',
			Array.from({ length: count }, () => ({ message_id: newId('message') })),
		);
	}

	async opens(message_id: string = newId('message')): Promise<void> {
		const seq = await this.#commit('message.created', [{ message_id, text: 'opens' }]);
		this.growing = { message_id, seq };
		this.texts.set(seq, '');
	}

	/** The reply starts again from the beginning, as after a crash. */
	async resets(): Promise<void> {
		assert.ok(this.growing);
		const { message_id } = this.growing;
		const seq = await this.#commit('message.reset', [{ message_id, text: 'opens' }]);
		this.growing = { message_id, seq };
		this.texts.set(seq, '');
	}

	grows(text: string): void {
		if (!this.growing) return;
		this.#outbox.appendText(this.stream, text);
		this.texts.set(this.growing.seq, this.texts.get(this.growing.seq) + text);
	}

	async closes(): Promise<void> {
		assert.ok(this.growing);
		const { message_id } = this.growing;
		// From here on nothing grows: what the reply became is in the record that this commit stores.
		this.growing = null;
		await this.#commit('message.completed', [{ message_id, text: 'closes' }]);
	}

	async #commit(type: string, data: StreamEventData[]): Promise<number> {
		const events = data.map((one) => ({ id: newId('event'), stream: this.stream, type, data: one, created_at: 0 }));
		const end = await this.#store.commit({ events });
		assert.equal(end.outcome, 'committed');
		return end.outcome === 'committed' ? (end.seqs.at(-1) as number) : 0;
	}
}

/** A client: what it has heard, and from where it would go on. It checks every item against the rules of the stream. */
export class StreamReader {
	position: StreamPosition | null;
	/** The sequence numbers of events it heard, without those that were made up for it (the growing reply's beginning). */
	readonly heard: number[] = [];
	/** The reply that it shows and what of it has come. */
	shown: { seq: number; message_id: string; text: string } | null;
	/** Replies that it saw grow to their end. */
	readonly finished: Array<{ seq: number; text: string }> = [];

	constructor(position: StreamPosition | null = null, shown: StreamReader['shown'] = null) {
		this.position = position;
		this.shown = shown;
	}

	take(item: PositionedUpdate): void {
		if (item.kind === 'delta') {
			const { seq, message_id, index, text } = item.delta;
			assert.ok(this.shown, 'more of a reply whose beginning was not told');
			assert.equal(this.shown.seq, seq);
			assert.equal(this.shown.message_id, message_id);
			assert.equal(index, this.shown.text.length, 'a gap or a repeat in the text');
			assert.notEqual(text, '');
			this.shown.text += text;
			this.#moveTo(item.position);
			return;
		}
		const { event, replayed } = item;
		if (event.id !== '') this.heard.push(event.seq);
		this.#moveTo(item.position);
		if (event.data.text === 'opens') this.shown = { seq: event.seq, message_id: event.data.message_id, text: '' };
		if (event.data.text === 'closes') {
			// Told from the log, the closing event stands for the text; heard live, all of the text came before it.
			if (this.shown && !replayed) this.finished.push({ seq: this.shown.seq, text: this.shown.text });
			this.shown = null;
		}
	}

	#moveTo(next: StreamPosition): void {
		const at = this.position;
		if (at) assert.ok(next.seq > at.seq || (next.seq === at.seq && next.offset > at.offset), 'told twice');
		// A client only has the position in writing.
		this.position = parsePosition(formatPosition(next));
	}
}
