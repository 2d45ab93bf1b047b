import { AppError } from '../base/index.ts';
import type { Store, StoredEvent } from '../store/index.ts';
import { Place } from './place.ts';
import type { StreamPosition } from './position.ts';
import {
	Backlog,
	type Happening,
	type StreamEvent,
	type StreamEventData,
	type StreamItem,
	type Topic,
} from './topic.ts';
import { WakeQueue } from './wake-queue.ts';

export interface FollowOptions {
	/** Where the client was; null: from now on, with a text that is growing given from its beginning. */
	after: StreamPosition | null;
	signal: AbortSignal;
}

/** Events of the log read at once while catching up. */
const PAGE = 200;
/** Events of a growing stream that are remembered: who joins it at its beginning need not read the log. */
const REMEMBERED = 32;

/**
 * Streams of events, each readable from any position: what was missed comes from the log, then the follower cuts over to
 * what happens, without gap or repeat. Growing texts travel as deltas that only live here until their closing event.
 */
export class Outbox implements Disposable {
	readonly #store: Pick<Store, 'events' | 'onEvents'>;
	readonly #topics = new Map<string, Topic>();
	readonly #unsubscribe: () => void;
	readonly #wakeQueue = new WakeQueue();
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
		this.#tell(topic, { kind: 'delta', delta });
	}

	/** Ends a stream whose subject is gone: its followers are told no more, and end. */
	close(stream: string): void {
		const topic = this.#topics.get(stream);
		if (!topic) return;
		topic.closed = true;
		topic.growing = null;
		this.#wakeQueue.wake(topic.followers);
		this.#topics.delete(stream);
	}

	/** How many streams are held in memory. */
	get size(): number {
		return this.#topics.size;
	}

	/** How many follow a stream. */
	followers(stream: string): number {
		return this.#topics.get(stream)?.followers.size ?? 0;
	}

	/**
	 * Follows a stream until the signal aborts.
	 * @throws AppError `unavailable` when the follower is too slow: it may come back with its last position
	 */
	async *follow(stream: string, { after, signal }: FollowOptions): AsyncGenerator<StreamItem, void, undefined> {
		if (this.#closed) return;
		// Listening begins before reading: what commits in between is in both, and told once because positions only grow.
		const backlog = new Backlog();
		const topic = this.#topic(stream);
		topic.followers.add(backlog);
		const snapshot = topic.growing && { ...topic.growing };
		const onAbort = () => backlog.wake();
		signal.addEventListener('abort', onAbort, { once: true });
		try {
			// A position that no event of this stream reaches was not given out by this database: then nothing was missed.
			const recent = after && recentSince(topic, after, snapshot?.seq ?? after.seq);
			const from = recent || (after && (await this.#reaches(stream, after))) ? after : null;
			const place = new Place(from ?? { seq: 0, offset: 0 });
			if (from) {
				// Not only from the position: whether the text in the snapshot is still open there is told by the log.
				const start = Math.min(from.seq, snapshot?.seq ?? from.seq);
				for await (const event of recent ?? this.#missed(stream, start)) {
					if (signal.aborted || this.#closed) return;
					const told = place.tell({ kind: 'event', event, replayed: true });
					if (told) yield told;
				}
			} else if (snapshot) {
				yield place.begin(snapshot, stream);
			}
			if (snapshot?.text) {
				const { seq, message_id, text } = snapshot;
				const told = place.tell({ kind: 'delta', delta: { seq, message_id, index: 0, text } });
				if (told) yield told;
			}
			const goesOn = () => !signal.aborted && !this.#closed && !topic.closed;
			while (goesOn()) {
				for (const item of backlog.take()) {
					if (signal.aborted) return;
					const told = place.tell(item);
					if (told) yield told;
				}
				if (backlog.overflown) throw new AppError('unavailable', 'The stream was read too slowly. Resume it.');
				if (backlog.isEmpty && goesOn()) await backlog.changed();
			}
		} finally {
			signal.removeEventListener('abort', onAbort);
			topic.followers.delete(backlog);
			this.#wakeQueue.forget(backlog);
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

	async *#missed(stream: string, after: number): AsyncGenerator<StreamEvent> {
		let at = after;
		for (;;) {
			if (this.#closed) return;
			const page = await this.#store.events(stream, at, PAGE);
			for (const event of page) yield event as StreamEvent;
			const last = page.at(-1);
			if (!last || page.length < PAGE) return;
			at = last.seq;
		}
	}

	#hear(events: StoredEvent[]): void {
		for (const event of events as StreamEvent[]) {
			// Streams of a workspace carry events of every shape.
			const data = event.data as StreamEventData | null | undefined;
			const opens = data?.text === 'opens';
			const topic = opens ? this.#topic(event.stream) : this.#topics.get(event.stream);
			if (!topic) continue;
			remember(topic, event, events as StreamEvent[]);
			if (opens) topic.growing = { seq: event.seq, at: event.seq, message_id: data.message_id, text: '' };
			else if (data?.text === 'closes') topic.growing = null;
			else if (topic.growing) topic.growing.at = event.seq;
			this.#tell(topic, { kind: 'event', event, replayed: false });
			this.#release(event.stream, topic);
		}
	}

	/** Every follower has the item at once, in order; only waking them is shared out over turns. */
	#tell(topic: Topic, item: Happening): void {
		for (const follower of topic.followers) follower.add(item);
		this.#wakeQueue.wake(topic.followers);
	}

	#topic(stream: string): Topic {
		let topic = this.#topics.get(stream);
		if (!topic) {
			topic = { recent: null, followers: new Set(), growing: null, closed: false };
			this.#topics.set(stream, topic);
		}
		return topic;
	}

	#release(stream: string, topic: Topic): void {
		if (topic.followers.size === 0 && !topic.growing && this.#topics.get(stream) === topic) this.#topics.delete(stream);
	}
}

/** Remembers an event of a stream that grows, together with what came with the event that opened it. */
function remember(topic: Topic, event: StreamEvent, committed: readonly StreamEvent[]): void {
	if (topic.recent) {
		topic.recent.events.push(event);
		if (topic.recent.events.length > REMEMBERED) topic.recent = null;
	} else if (event.data?.text === 'opens') {
		const before = committed.filter(({ stream, seq }) => stream === event.stream && seq <= event.seq);
		topic.recent = { after: (before[0] as StreamEvent).seq - 1, events: before };
	}
}

/**
 * The events of a stream after the earlier of two places, where they are remembered. What is known of a later place than the
 * last of them is on disk and was not heard of yet.
 */
function recentSince({ recent }: Topic, { seq }: StreamPosition, opened: number): StreamEvent[] | null {
	const start = Math.min(seq, opened);
	const last = recent?.events.at(-1)?.seq ?? 0;
	if (recent === null || start < recent.after || seq > last) return null;
	return recent.events.filter((event) => event.seq > start);
}
