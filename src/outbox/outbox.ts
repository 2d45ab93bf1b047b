import { AppError } from '../base/index.ts';
import type { Store, StoredEvent } from '../store/index.ts';
import { isAfter, type StreamPosition } from './position.ts';
import { Backlog, type GrowingText, type StreamEvent, type StreamItem, type Topic } from './topic.ts';

export interface FollowOptions {
	/** Where the client was; null: from now on, with a text that is growing given from its beginning. */
	after: StreamPosition | null;
	signal: AbortSignal;
}

/** Events of the log read at once while catching up. */
const PAGE = 200;

/**
 * Streams of events, each readable from any position: what was missed comes from the log, then the follower cuts over to
 * what happens, without gap or repeat. Growing texts travel as deltas that only live here until their closing event.
 */
export class Outbox implements Disposable {
	readonly #store: Pick<Store, 'events' | 'onEvents'>;
	readonly #topics = new Map<string, Topic>();
	readonly #unsubscribe: () => void;
	#closed = false;

	constructor(store: Pick<Store, 'events' | 'onEvents'>) {
		this.#store = store;
		this.#unsubscribe = store.onEvents((events) => this.#hear(events));
	}

	/** Adds to the text that is growing in a stream. Ignored when none is: its closing event was faster. */
	grow(stream: string, text: string): void {
		const topic = this.#topics.get(stream);
		if (!topic?.growing || text === '') return;
		const { growing } = topic;
		const delta = { seq: growing.seq, message_id: growing.message_id, index: growing.text.length, text };
		growing.text += text;
		for (const follower of topic.followers) follower.push({ kind: 'delta', delta });
	}

	/** How many streams are held in memory. */
	get size(): number {
		return this.#topics.size;
	}

	/**
	 * Follows a stream until the signal aborts.
	 * @throws AppError `unavailable` when the follower is too slow: it may come back with its last position
	 */
	async *follow(stream: string, { after, signal }: FollowOptions): AsyncGenerator<StreamItem, void, undefined> {
		// Listening begins before reading: what commits in between is in both, and told once because positions only grow.
		const backlog = new Backlog();
		const topic = this.#topic(stream);
		topic.followers.add(backlog);
		const snapshot = topic.growing && { ...topic.growing };
		const onAbort = () => backlog.wake();
		signal.addEventListener('abort', onAbort, { once: true });
		try {
			// A position that no event of this stream reaches was not given out by this database: then nothing was missed.
			let at = after && (await this.#reaches(stream, after)) ? after : null;
			if (at) {
				for await (const event of this.#missed(stream, at)) {
					if (signal.aborted) return;
					yield { kind: 'event', event, replayed: true };
					at = { seq: event.seq, offset: 0 };
				}
			}
			if (snapshot) {
				const { items, position } = growthSince(stream, snapshot, at);
				yield* items;
				at = position;
			}
			at ??= { seq: 0, offset: 0 };
			while (!signal.aborted && !this.#closed) {
				for (const item of backlog.take()) {
					const told = unseen(item, at);
					if (!told) continue;
					yield told.item;
					at = told.position;
				}
				if (backlog.overflown) throw new AppError('unavailable', 'The stream was read too slowly. Resume it.');
				if (backlog.isEmpty && !signal.aborted && !this.#closed) await backlog.changed();
			}
		} finally {
			signal.removeEventListener('abort', onAbort);
			topic.followers.delete(backlog);
			this.#release(stream, topic);
		}
	}

	[Symbol.dispose](): void {
		this.#closed = true;
		this.#unsubscribe();
		for (const topic of this.#topics.values()) for (const follower of topic.followers) follower.wake();
		this.#topics.clear();
	}

	async #reaches(stream: string, { seq }: StreamPosition): Promise<boolean> {
		return (await this.#store.events(stream, seq - 1, 1)).length > 0;
	}

	async *#missed(stream: string, after: StreamPosition): AsyncGenerator<StreamEvent> {
		let at = after.seq;
		for (;;) {
			const page = await this.#store.events(stream, at, PAGE);
			for (const event of page) yield event as StreamEvent;
			const last = page.at(-1);
			if (!last || page.length < PAGE) return;
			at = last.seq;
		}
	}

	#hear(events: StoredEvent[]): void {
		for (const event of events as StreamEvent[]) {
			const opens = event.data.text === 'opens';
			const topic = opens ? this.#topic(event.stream) : this.#topics.get(event.stream);
			if (!topic) continue;
			if (opens) topic.growing = { seq: event.seq, message_id: event.data.message_id, text: '' };
			if (event.data.text === 'closes') topic.growing = null;
			for (const follower of topic.followers) follower.push({ kind: 'event', event, replayed: false });
			this.#release(event.stream, topic);
		}
	}

	#topic(stream: string): Topic {
		let topic = this.#topics.get(stream);
		if (!topic) {
			topic = { followers: new Set(), growing: null };
			this.#topics.set(stream, topic);
		}
		return topic;
	}

	#release(stream: string, topic: Topic): void {
		if (topic.followers.size === 0 && !topic.growing) this.#topics.delete(stream);
	}
}

/** What a follower at a position must still hear of the text that was growing when it came. */
function growthSince(
	stream: string,
	growing: GrowingText,
	at: StreamPosition | null,
): { items: StreamItem[]; position: StreamPosition } {
	const { seq, message_id, text } = growing;
	const here = { seq, offset: text.length };
	if (at && !isAfter(here, at)) return { items: [], position: at };
	const items: StreamItem[] = [];
	const from = at?.seq === seq ? at.offset : 0;
	if (at === null) {
		const data = { message_id, text: 'opens' } as const;
		const event = { id: '', stream, seq, type: 'message.created', data, created_at: 0 };
		items.push({ kind: 'event', event, replayed: false });
	}
	if (text.length > from)
		items.push({ kind: 'delta', delta: { seq, message_id, index: from, text: text.slice(from) } });
	return { items, position: here };
}

/** The part of an item that lies after a position, and the position after it. */
function unseen(item: StreamItem, at: StreamPosition): { item: StreamItem; position: StreamPosition } | null {
	if (item.kind === 'event') {
		const position = { seq: item.event.seq, offset: 0 };
		return isAfter(position, at) ? { item, position } : null;
	}
	const { delta } = item;
	const position = { seq: delta.seq, offset: delta.index + delta.text.length };
	if (!isAfter(position, at)) return null;
	const known = at.seq === delta.seq ? Math.max(0, at.offset - delta.index) : 0;
	if (known === 0) return { item, position };
	return {
		item: { kind: 'delta', delta: { ...delta, index: delta.index + known, text: delta.text.slice(known) } },
		position,
	};
}
