import { encodeServerSentEvent, LruCache } from '../base/index.ts';
import type { StreamEventName } from '../contract/index.ts';
import { type Delta, formatPosition, type PositionedUpdate, type StreamPosition } from '../outbox/index.ts';
import type { MessageRecord, Store } from '../store/index.ts';
import { type Audience, presentCallFor, presentFor } from './present.ts';

/** An event of a conversation for its followers: one server-sent event. */
export interface ConversationEvent {
	/** The position after it, from which a client resumes. */
	id: string;
	event: StreamEventName;
	/** One line of JSON whose `type` repeats the event's name. */
	data: string;
	/** The encoded event, once a second follower gets it. */
	bytes: Uint8Array | null;
}

/** Null: the message was erased. `finished`: a reply that has ended replays as its closing event alone. */
type Encoded = ConversationEvent | 'finished' | null;
type EventItem = Extract<PositionedUpdate, { kind: 'event' }>;
type DeltaItem = Extract<PositionedUpdate, { kind: 'delta' }>;

/** For how long an encoded event is shared (ms). Later followers get the message in its current state. */
const SHARED_EVENT_TTL_MS = 1_000;
/** Encoded events that are cached for further followers. Events with many followers are used most recently, so they stay. */
const SHARED_EVENT_CACHE_SIZE = 32;

/** Encodes the events of conversations: once for all followers of one audience that get an event at about the same time. */
export class EventEncoder {
	readonly #store: Pick<Store, 'get'>;
	readonly #events = new LruCache<string, { encoded: Promise<Encoded>; since: number }>(SHARED_EVENT_CACHE_SIZE);
	#lastDelta: { delta: Delta; event: ConversationEvent } | null = null;

	constructor(store: Pick<Store, 'get'>) {
		this.#store = store;
	}

	/** An event of the log. A replayed event shows the current message. */
	async event(item: EventItem, audience: Audience): Promise<Encoded> {
		if (item.replayed) return this.#encode(item, audience);
		const key = `${item.event.stream} ${item.event.id} ${formatPosition(item.position)} ${audience}`;
		const cached = this.#events.get(key);
		const now = performance.now();
		if (cached !== undefined && now - cached.since < SHARED_EVENT_TTL_MS) return withBytes(await cached.encoded);
		const encoded = this.#encode(item, audience);
		this.#events.set(key, { encoded, since: now });
		encoded.catch(() => this.#events.delete(key));
		return encoded;
	}

	delta({ delta, position }: DeltaItem): ConversationEvent {
		const last = this.#lastDelta;
		const id = formatPosition(position);
		if (last?.event.id === id && isSameDelta(last.delta, delta)) return withBytes(last.event);
		const { message_id, index, text } = delta;
		const data = JSON.stringify({ type: 'message.delta', message_id, index, delta: text });
		const event: ConversationEvent = { id, event: 'message.delta', data, bytes: null };
		this.#lastDelta = { delta, event };
		return event;
	}

	async #encode({ event, position, replayed }: EventItem, audience: Audience): Promise<Encoded> {
		const record = await this.#store.get('messages', event.data.message_id);
		if (!record) return null;
		const encoded = (name: StreamEventName, body: object) => conversationEvent(name, body, position);
		if (event.data.tool_call) {
			// The reply has ended: its closing event has all calls.
			if (replayed && record.status !== 'in_progress') return null;
			const tool_call = presentCallFor(audience, event.data.tool_call);
			return encoded(event.type as StreamEventName, { message_id: record.id, tool_call });
		}
		const opens = event.data.text === 'opens';
		if (opens && replayed && record.status !== 'in_progress') return 'finished';
		const message = presentFor(audience, record);
		switch (event.type) {
			case 'message.reset':
				return encoded('message.reset', { message_id: record.id });
			case 'message.failed':
				// A repeat of the request has restarted the reply since: later events report that.
				if (record.status !== 'failed') return null;
				return encoded('message.failed', { message, error: record.error });
			case 'message.completed':
				return encoded('message.completed', { message });
			default: {
				// The initial state, even if the reply has ended meanwhile: its text follows.
				const asStarted = {
					content: '',
					status: 'in_progress',
					citations: [],
					tool_calls: [],
					error: null,
					completed_at: null,
				};
				const usage = 'usage' in message ? { usage: null } : {};
				return encoded('message.created', { message: opens ? { ...message, ...asStarted, ...usage } : message });
			}
		}
	}
}

/** A question as it was created, for a follower that joins its turn later. */
export function questionEvent(question: MessageRecord, seq: number, audience: Audience): ConversationEvent {
	return conversationEvent('message.created', { message: presentFor(audience, question) }, { seq, offset: 0 });
}

export function conversationEvent(name: StreamEventName, body: object, position: StreamPosition): ConversationEvent {
	const data = JSON.stringify({ type: name, ...body });
	return { id: formatPosition(position), event: name, data, bytes: null };
}

/** Encodes an event for its second follower. Most events have one follower, for whom a copy would be waste. */
function withBytes<E extends Encoded>(encoded: E): E {
	if (encoded !== null && typeof encoded === 'object') encoded.bytes ??= Buffer.from(encodeServerSentEvent(encoded));
	return encoded;
}

/** A text only grows, so position and length identify a delta. */
function isSameDelta(one: Delta, other: Delta): boolean {
	return (
		one.message_id === other.message_id &&
		one.seq === other.seq &&
		one.index === other.index &&
		one.text.length === other.text.length
	);
}
