import { AppError } from '../base/index.ts';
import type { EventsReader, Store, StoredEvent } from '../store/index.ts';
import type { StreamPosition } from './position.ts';
import { SubscriberPosition } from './subscriber-position.ts';
import {
	type PositionedUpdate,
	type StreamEvent,
	type StreamEventData,
	type StreamUpdate,
	SubscriberBuffer,
	type Topic,
} from './topic.ts';
import { WakeScheduler } from './wake-scheduler.ts';

export interface SubscribeOptions {
	/** Where the client was; null: from now on, with a text that is growing given from its beginning. */
	after: StreamPosition | null;
	signal: AbortSignal;
}

/** Events of the log read at once while catching up. */
const PAGE_SIZE = 200;
/** Events of a growing stream that are remembered: who joins it at its beginning need not read the log. */
const RECENT_EVENTS = 32;

/** What the outbox reads of the store. */
export interface OutboxStore extends Pick<Store, 'onEvents'> {
	readonly events: Pick<EventsReader, 'after'>;
}

/**
 * Streams of events, each readable from any position: what was missed comes from the log, then the follower cuts over to
 * what happens, without gap or repeat. Growing texts travel as deltas that only live here until their closing event.
 */
export class Outbox implements Disposable {
	readonly #store: OutboxStore;
	readonly #topics = new Map<string, Topic>();
	readonly #unsubscribe: () => void;
	readonly #wakeQueue = new WakeScheduler();
	#isClosed = false;

	constructor(store: OutboxStore) {
		this.#store = store;
		this.#unsubscribe = store.onEvents((events) => this.#onCommitted(events));
	}

	/** Adds to the text that is growing in a stream. Ignored when none is: its closing event was faster. */
	appendText(stream: string, text: string): void {
		const topic = this.#topics.get(stream);
		if (!topic?.openText || text === '') return;
		const { openText } = topic;
		const delta = { seq: openText.seq, message_id: openText.message_id, index: openText.text.length, text };
		openText.text += text;
		this.#publish(topic, { kind: 'delta', delta });
	}

	/** Ends a stream whose subject is gone: its followers are told no more, and end. */
	close(stream: string): void {
		const topic = this.#topics.get(stream);
		if (!topic) return;
		topic.isClosed = true;
		topic.openText = null;
		this.#wakeQueue.wake(topic.subscribers);
		this.#topics.delete(stream);
	}

	/** How many streams are held in memory. */
	get size(): number {
		return this.#topics.size;
	}

	/** How many follow a stream. */
	subscriberCount(stream: string): number {
		return this.#topics.get(stream)?.subscribers.size ?? 0;
	}

	/**
	 * Follows a stream until the signal aborts.
	 * @throws AppError `unavailable` when the follower is too slow: it may come back with its last position
	 */
	async *subscribe(
		stream: string,
		{ after, signal }: SubscribeOptions,
	): AsyncGenerator<PositionedUpdate, void, undefined> {
		if (this.#isClosed) return;
		// Listening begins before reading: what commits in between is in both, and told once because positions only grow.
		const buffer = new SubscriberBuffer();
		const topic = this.#getOrCreateTopic(stream);
		topic.subscribers.add(buffer);
		const snapshot = topic.openText && { ...topic.openText };
		const onAbort = () => buffer.wake();
		signal.addEventListener('abort', onAbort, { once: true });
		try {
			// A position that no event of this stream reaches was not given out by this database: then nothing was missed.
			const recent = after && recentEventsSince(topic, after, snapshot?.seq ?? after.seq);
			const from = recent || (after && (await this.#hasEventAt(stream, after))) ? after : null;
			const position = new SubscriberPosition(from ?? { seq: 0, offset: 0 });
			if (from) {
				// Not only from the position: whether the text in the snapshot is still open there is told by the log.
				const start = Math.min(from.seq, snapshot?.seq ?? from.seq);
				for await (const event of recent ?? this.#readMissedEvents(stream, start)) {
					if (signal.aborted || this.#isClosed) return;
					const update = position.advance({ kind: 'event', event, replayed: true });
					if (update) yield update;
				}
			} else if (snapshot) {
				yield position.joinOpenText(snapshot, stream);
			}
			if (snapshot?.text) {
				const { seq, message_id, text } = snapshot;
				const update = position.advance({ kind: 'delta', delta: { seq, message_id, index: 0, text } });
				if (update) yield update;
			}
			const isActive = () => !signal.aborted && !this.#isClosed && !topic.isClosed;
			while (isActive()) {
				for (const item of buffer.drain()) {
					if (signal.aborted) return;
					const update = position.advance(item);
					if (update) yield update;
				}
				if (buffer.hasOverflowed) throw new AppError('unavailable', 'The stream was read too slowly. Resume it.');
				if (buffer.isEmpty && isActive()) await buffer.changed();
			}
		} finally {
			signal.removeEventListener('abort', onAbort);
			topic.subscribers.delete(buffer);
			this.#wakeQueue.remove(buffer);
			this.#dropIfUnused(stream, topic);
		}
	}

	[Symbol.dispose](): void {
		this.#isClosed = true;
		this.#unsubscribe();
		for (const topic of this.#topics.values()) for (const follower of topic.subscribers) follower.wake();
		this.#topics.clear();
	}

	async #hasEventAt(stream: string, { seq }: StreamPosition): Promise<boolean> {
		return (await this.#store.events.after(stream, seq - 1, 1)).length > 0;
	}

	async *#readMissedEvents(stream: string, after: number): AsyncGenerator<StreamEvent> {
		let at = after;
		for (;;) {
			if (this.#isClosed) return;
			const page = await this.#store.events.after(stream, at, PAGE_SIZE);
			for (const event of page) yield event as StreamEvent;
			const last = page.at(-1);
			if (!last || page.length < PAGE_SIZE) return;
			at = last.seq;
		}
	}

	#onCommitted(events: StoredEvent[]): void {
		for (const event of events as StreamEvent[]) {
			// Streams of a workspace carry events of every shape.
			const data = event.data as StreamEventData | null | undefined;
			const opensText = data?.text === 'opens';
			const topic = opensText ? this.#getOrCreateTopic(event.stream) : this.#topics.get(event.stream);
			if (!topic) continue;
			recordRecentEvent(topic, event, events as StreamEvent[]);
			if (opensText) topic.openText = { seq: event.seq, lastSeq: event.seq, message_id: data.message_id, text: '' };
			else if (data?.text === 'closes') topic.openText = null;
			else if (topic.openText) topic.openText.lastSeq = event.seq;
			this.#publish(topic, { kind: 'event', event, replayed: false });
			this.#dropIfUnused(event.stream, topic);
		}
	}

	/** Every follower has the item at once, in order; only waking them is shared out over turns. */
	#publish(topic: Topic, item: StreamUpdate): void {
		for (const subscriber of topic.subscribers) subscriber.add(item);
		this.#wakeQueue.wake(topic.subscribers);
	}

	#getOrCreateTopic(stream: string): Topic {
		let topic = this.#topics.get(stream);
		if (!topic) {
			topic = { recent: null, subscribers: new Set(), openText: null, isClosed: false };
			this.#topics.set(stream, topic);
		}
		return topic;
	}

	#dropIfUnused(stream: string, topic: Topic): void {
		if (topic.subscribers.size === 0 && !topic.openText && this.#topics.get(stream) === topic)
			this.#topics.delete(stream);
	}
}

/** Remembers an event of a stream that grows, together with what came with the event that opened it. */
function recordRecentEvent(topic: Topic, event: StreamEvent, committed: readonly StreamEvent[]): void {
	if (topic.recent) {
		topic.recent.events.push(event);
		if (topic.recent.events.length > RECENT_EVENTS) topic.recent = null;
	} else if (event.data?.text === 'opens') {
		const before = committed.filter(({ stream, seq }) => stream === event.stream && seq <= event.seq);
		topic.recent = { after: (before[0] as StreamEvent).seq - 1, events: before };
	}
}

/**
 * The events of a stream after the earlier of two places, where they are remembered. What is known of a later place than the
 * last of them is on disk and was not heard of yet.
 */
function recentEventsSince({ recent }: Topic, { seq }: StreamPosition, textOpenedAt: number): StreamEvent[] | null {
	const start = Math.min(seq, textOpenedAt);
	const last = recent?.events.at(-1)?.seq ?? 0;
	if (recent === null || start < recent.after || seq > last) return null;
	return recent.events.filter((event) => event.seq > start);
}
