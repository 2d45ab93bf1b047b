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
	/** The position of the client; null: from now on, with an open text from its beginning. */
	after: StreamPosition | null;
	signal: AbortSignal;
}

/** Events of the log that are read at once for the backlog. */
const PAGE_SIZE = 200;
/** Events that are cached while a text is open: a subscriber that joins at its beginning need not read the log. */
const RECENT_EVENTS = 32;

/** The part of the store that the outbox reads. */
export interface OutboxStore extends Pick<Store, 'onEvents'> {
	readonly events: Pick<EventsReader, 'after'>;
}

/**
 * Streams of events, each readable from any position, without gap or repeat. A subscription has three phases:
 * 1. Backlog: the events after the position come from the log (or from the cache of recent events).
 * 2. Cut-over: the text that was open when the subscription started is sent up to that moment.
 * 3. Live: new events and deltas come from a buffer, which has been filled since before phase 1.
 * `SubscriberPosition` drops what a subscriber has already. The deltas of an open text are in memory only until its closing
 * event. A subscriber that is too slow is ended and can resume.
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

	/** Appends to the open text of a stream. Ignored when no text is open, because the closing event arrived first. */
	appendText(stream: string, text: string): void {
		const topic = this.#topics.get(stream);
		if (!topic?.openText || text === '') return;
		const { openText } = topic;
		const delta = { seq: openText.seq, message_id: openText.message_id, index: openText.text.length, text };
		openText.text += text;
		this.#publish(topic, { kind: 'delta', delta });
	}

	/** Closes a stream whose subject was erased: its subscriptions end. */
	close(stream: string): void {
		const topic = this.#topics.get(stream);
		if (!topic) return;
		topic.isClosed = true;
		topic.openText = null;
		this.#wakeQueue.wake(topic.subscribers);
		this.#topics.delete(stream);
	}

	/** The number of streams in memory. */
	get size(): number {
		return this.#topics.size;
	}

	/** The number of subscribers of a stream. */
	subscriberCount(stream: string): number {
		return this.#topics.get(stream)?.subscribers.size ?? 0;
	}

	/**
	 * Follows a stream until the signal aborts.
	 * @throws AppError `unavailable` when the subscriber is too slow: it may resume from its last position
	 */
	async *subscribe(
		stream: string,
		{ after, signal }: SubscribeOptions,
	): AsyncGenerator<PositionedUpdate, void, undefined> {
		if (this.#isClosed) return;
		// The buffer is filled before the log is read: an event that commits meanwhile is in both, and the duplicate is dropped by its position.
		const buffer = new SubscriberBuffer();
		const topic = this.#getOrCreateTopic(stream);
		topic.subscribers.add(buffer);
		const snapshot = topic.openText && { ...topic.openText };
		const onAbort = () => buffer.wake();
		signal.addEventListener('abort', onAbort, { once: true });
		try {
			// A position after the last event of this stream was not issued by this database: there is no backlog.
			const recent = after && recentEventsSince(topic, after, snapshot?.seq ?? after.seq);
			const from = recent || (after && (await this.#hasEventAt(stream, after))) ? after : null;
			const position = new SubscriberPosition(from ?? { seq: 0, offset: 0 });
			if (from) {
				// From the earlier of position and snapshot: only the log says whether the text of the snapshot is still open.
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
			// Streams of a workspace have events of every shape.
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

	/** Every subscriber's buffer gets the item at once, in order. Only waking them is spread over turns of the event loop. */
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

/** Caches an event of a stream with an open text, with the events that were committed with the opening event. */
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
 * The events of a stream after the earlier of two positions, if they are cached. A position after the last cached event is
 * that of an event that is on disk and was not published yet.
 */
function recentEventsSince({ recent }: Topic, { seq }: StreamPosition, textOpenedAt: number): StreamEvent[] | null {
	const start = Math.min(seq, textOpenedAt);
	const last = recent?.events.at(-1)?.seq ?? 0;
	if (recent === null || start < recent.after || seq > last) return null;
	return recent.events.filter((event) => event.seq > start);
}
