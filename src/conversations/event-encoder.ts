import { encodeSingleLines, LruCache } from '../base/index.ts';
import type { StreamEventName } from '../contract/index.ts';
import { type Delta, formatPosition, type PositionedUpdate, type StreamPosition } from '../outbox/index.ts';
import type { MessageRecord, Store } from '../store/index.ts';
import { type Audience, presentCallFor, presentFor, presentNote } from './present.ts';

/** An event of a conversation for its followers: one server-sent event. */
export interface ConversationEvent {
	/** The position after it, from which a client resumes. */
	id: string;
	event: StreamEventName;
	/** One line of JSON whose `type` repeats the event's name. */
	data: string;
	/** The server-sent event as text, or in UTF-8 once a second follower gets it. */
	encoded: string | Uint8Array;
}

/** Null: the message or note was erased, or the event is not for this audience. `finished`: a reply that has ended replays as its closing event alone. */
export type Encoded = ConversationEvent | 'finished' | null;
export type EventUpdate = Extract<PositionedUpdate, { kind: 'event' }>;
export type DeltaUpdate = Extract<PositionedUpdate, { kind: 'delta' }>;

/** An event that further followers may get too. */
interface SharedEvent {
	encoded: Encoded | Promise<Encoded>;
	since: number;
}

/** For how long an encoded event is shared (ms). Later followers get the message in its current state. */
const SHARED_EVENT_TTL_MS = 1_000;
/** Encoded events that are cached for further followers. Events with many followers are used most recently, so they stay. */
const SHARED_EVENT_CACHE_SIZE = 32;

/** Encodes the events of conversations: once for all followers of one audience that get an event at about the same time. */
export class EventEncoder {
	readonly #store: Pick<Store, 'get'>;
	readonly #events = new LruCache<string, SharedEvent>(SHARED_EVENT_CACHE_SIZE);
	#lastDelta: { delta: Delta; event: ConversationEvent } | null = null;

	constructor(store: Pick<Store, 'get'>) {
		this.#store = store;
	}

	/** An event of the log: a promise where its message must be read first. A replayed event shows the current message. */
	event(item: EventUpdate, audience: Audience): Encoded | Promise<Encoded> {
		if (item.replayed) return this.#encode(item, audience);
		const key = `${item.event.stream} ${item.event.id} ${formatPosition(item.position)} ${audience}`;
		const cached = this.#events.get(key);
		const now = performance.now();
		if (cached !== undefined && now - cached.since < SHARED_EVENT_TTL_MS) {
			return cached.encoded instanceof Promise ? cached.encoded.then(withBytes) : withBytes(cached.encoded);
		}
		const encoded = this.#encode(item, audience);
		const shared: SharedEvent = { encoded, since: now };
		this.#events.set(key, shared);
		encoded.then(
			(value) => {
				shared.encoded = value;
			},
			() => this.#events.delete(key),
		);
		return encoded;
	}

	delta({ delta, position }: DeltaUpdate): ConversationEvent {
		const last = this.#lastDelta;
		const id = formatPosition(position);
		if (last?.event.id === id && isSameDelta(last.delta, delta)) return withBytes(last.event);
		const { message_id, index, text } = delta;
		const event = eventOf(id, 'message.delta', { type: 'message.delta', message_id, index, delta: text });
		this.#lastDelta = { delta, event };
		return event;
	}

	async #encode({ event, position, replayed }: EventUpdate, audience: Audience): Promise<Encoded> {
		const encoded = (name: StreamEventName, body: object) => conversationEvent(name, body, position);
		if (event.data.note_id !== undefined) {
			if (audience === 'visitor') return null;
			if (event.type === 'note.deleted') return encoded('note.deleted', { note_id: event.data.note_id });
			const note = await this.#store.get('notes', event.data.note_id);
			return note ? encoded('note.created', { note: presentNote(note) }) : null;
		}
		const record = await this.#store.get('messages', event.data.message_id);
		if (!record) return null;
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
				return encoded('message.failed', { message, error: message.error });
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
				const usage = 'usage' in message ? { usage: null, cost_micros: null } : {};
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
	return eventOf(formatPosition(position), name, { type: name, ...body });
}

function eventOf(id: string, event: StreamEventName, body: object): ConversationEvent {
	const data = JSON.stringify(body);
	return { id, event, data, encoded: encodeSingleLines({ id, event, data }) };
}

/** Encodes an event for its second follower. Most events have one follower, for whom a copy would be waste. */
function withBytes<E extends Encoded>(event: E): E {
	if (event !== null && typeof event === 'object' && typeof event.encoded === 'string')
		event.encoded = Buffer.from(event.encoded);
	return event;
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
