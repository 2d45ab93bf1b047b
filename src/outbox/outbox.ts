import { isId, type PullSource } from '../base/index.ts';
import type { EventsReader, FenceOf, ShardFence, Store, StoredEvent } from '../store/index.ts';
import type { StreamPosition } from './position.ts';
import { recordRecentEvent } from './recent-events.ts';
import { Subscription, type SubscriptionHost } from './subscription.ts';
import type { PositionedUpdate, StreamEvent, StreamEventData, StreamUpdate, Topic } from './topic.ts';
import { WakeScheduler } from './wake-scheduler.ts';

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
 * In a cluster, the streams of a conversation are those of its owner: elsewhere they end at once, and events that an earlier owner has
 * stored are not published late, because others may have come since.
 */
export class Outbox implements Disposable {
	readonly #store: OutboxStore;
	readonly #fenceOf: FenceOf | undefined;
	readonly #topics = new Map<string, Topic>();
	readonly #unsubscribe: () => void;
	readonly #wakeQueue = new WakeScheduler();
	readonly #host: SubscriptionHost;
	#isClosed = false;

	/** @param fenceOf absent: the store has one owner */
	constructor(store: OutboxStore, fenceOf?: FenceOf) {
		this.#store = store;
		this.#fenceOf = fenceOf;
		this.#unsubscribe = store.onEvents((events, fence) => this.#onCommitted(events, fence));
		this.#host = this.#createHost();
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

	/** Closes the streams of other subjects: another node publishes them now. Their readers resume there. */
	closeWhere(isClosed: (stream: string) => boolean): void {
		for (const stream of [...this.#topics.keys()]) if (isClosed(stream)) this.close(stream);
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
	 * The updates of a stream. A subscription that is too slow fails with `unavailable`: its reader may resume from its last
	 * position.
	 * @param after the position of the client; null: from now on, with an open text from its beginning
	 */
	subscribe(stream: string, after: StreamPosition | null): PullSource<PositionedUpdate> {
		return new Subscription(this.#host, stream, after);
	}

	[Symbol.dispose](): void {
		this.#isClosed = true;
		this.#unsubscribe();
		for (const topic of this.#topics.values()) for (const follower of topic.subscribers) follower.wake();
		this.#topics.clear();
	}

	#createHost(): SubscriptionHost {
		const isClosed = () => this.#isClosed;
		return {
			get isClosed() {
				return isClosed();
			},
			isServed: (stream) =>
				this.#fenceOf === undefined || !isId('conversation', stream) || this.#fenceOf(stream) !== null,
			join: (stream, subscriber) => {
				const topic = this.#getOrCreateTopic(stream);
				topic.subscribers.add(subscriber);
				return topic;
			},
			leave: (stream, topic, subscriber) => {
				topic.subscribers.delete(subscriber);
				this.#wakeQueue.remove(subscriber);
				this.#dropIfUnused(stream, topic);
			},
			readLog: (stream, after, limit) => this.#store.events.after(stream, after, limit) as Promise<StreamEvent[]>,
		};
	}

	#onCommitted(events: StoredEvent[], fence: ShardFence | undefined): void {
		for (const event of events as StreamEvent[]) {
			if (this.#isOutdated(event, fence)) continue;
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

	/** Whether this node has given the conversation of an event up since the event was committed. */
	#isOutdated({ stream }: StreamEvent, fence: ShardFence | undefined): boolean {
		if (fence === undefined || this.#fenceOf === undefined || !isId('conversation', stream)) return false;
		return this.#fenceOf(stream)?.epoch !== fence.epoch;
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
