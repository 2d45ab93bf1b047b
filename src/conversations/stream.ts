import type { Transport } from '../actors/index.ts';
import type { StreamEventName } from '../contract/index.ts';
import { formatPosition, type StreamItem, type StreamPosition } from '../outbox/index.ts';
import type { MessageRecord, Store } from '../store/index.ts';
import { type Audience, presentCallFor, presentFor } from './present.ts';

/** An event of a conversation as its followers get it: one server-sent event. */
export interface ConversationEvent {
	/** The position after it, for resuming. */
	id: string;
	event: StreamEventName;
	/** One line of JSON whose `type` repeats the event's name. */
	data: string;
}

/** For which an encoded event is shared by followers that are told it one after the other. */
const SHARED_MS = 1_000;

export interface StreamOptions {
	/** Null: from now on. */
	after: StreamPosition | null;
	signal: AbortSignal;
	audience: Audience;
	/** Ends the stream after this reply has ended; null: it goes on until the signal aborts. */
	until: string | null;
}

/** A conversation's events from a position on, shaped for their reader. */
export async function* streamConversation(
	transport: Pick<Transport<never, never, StreamItem>, 'subscribe'>,
	store: Pick<Store, 'get'>,
	conversationId: string,
	{ after, signal, audience, until }: StreamOptions,
): AsyncGenerator<ConversationEvent, void, undefined> {
	/** The event that opened a text that has ended by now: its deltas are not told, its closing event says it all. */
	let finished = 0;
	/** The reply that had ended when a call of it was read from the log: its other calls are as little news. */
	let over = '';
	const from = after === null ? undefined : formatPosition(after);
	for await (const item of transport.subscribe(conversationId, from, signal)) {
		if (item.kind === 'delta') {
			if (item.delta.seq !== finished) yield deltaOnce(item);
			continue;
		}
		const { message_id, tool_call } = item.event.data;
		if (tool_call && item.replayed && message_id === over) continue;
		const told = await shapeOnce(store, item, audience);
		if (told === 'finished') finished = item.event.seq;
		else if (told) yield told;
		if (tool_call && item.replayed) over = told === null ? message_id : '';
		if (item.event.data.text === 'closes' && item.event.data.message_id === until) return;
	}
}

type Told = ReturnType<typeof shape>;

/** Events that many followers hear at about the same time, encoded once for an audience and a position. */
const shaped = new WeakMap<object, Map<string, { told: Told; since: number }>>();
const deltas = new WeakMap<object, ConversationEvent>();

/** Encoded by the first follower that hears it. What is read from the log is told as the message is then. */
function shapeOnce(store: Pick<Store, 'get'>, item: Extract<StreamItem, { kind: 'event' }>, audience: Audience): Told {
	if (item.replayed) return shape(store, item, audience);
	const forms = shaped.get(item.event) ?? new Map<string, { told: Told; since: number }>();
	shaped.set(item.event, forms);
	const key = `${audience} ${formatPosition(item.position)}`;
	const known = forms.get(key);
	const now = performance.now();
	// Whoever is late is told what the message is by then.
	if (known !== undefined && now - known.since < SHARED_MS) return known.told;
	const told = shape(store, item, audience);
	forms.set(key, { told, since: now });
	told.catch(() => forms.delete(key));
	return told;
}

function deltaOnce(item: Extract<StreamItem, { kind: 'delta' }>): ConversationEvent {
	const known = deltas.get(item.delta);
	if (known?.id === formatPosition(item.position)) return known;
	const event = deltaEvent(item);
	deltas.set(item.delta, event);
	return event;
}

function deltaEvent({ delta, position }: Extract<StreamItem, { kind: 'delta' }>): ConversationEvent {
	const { message_id, index, text } = delta;
	return {
		id: formatPosition(position),
		event: 'message.delta',
		data: JSON.stringify({ type: 'message.delta', message_id, index, delta: text }),
	};
}

/** Null: the message was erased. `finished`: a reply that has ended replays as its closing event alone. */
async function shape(
	store: Pick<Store, 'get'>,
	{ event, position, replayed }: Extract<StreamItem, { kind: 'event' }>,
	audience: Audience,
): Promise<ConversationEvent | 'finished' | null> {
	const record = await store.get('messages', event.data.message_id);
	if (!record) return null;
	const told = (name: StreamEventName, body: object) => toldEvent(name, body, position);
	if (event.data.tool_call) {
		// Of a reply that has ended: what follows says it all.
		if (replayed && record.status !== 'in_progress') return null;
		const tool_call = presentCallFor(audience, event.data.tool_call);
		return told(event.type as StreamEventName, { message_id: record.id, tool_call });
	}
	const opens = event.data.text === 'opens';
	if (opens && replayed && record.status !== 'in_progress') return 'finished';
	const message = presentFor(audience, record);
	switch (event.type) {
		case 'message.reset':
			return told('message.reset', { message_id: record.id });
		case 'message.failed':
			// A repeat of the request had it written anew since: what follows tells of that.
			if (record.status !== 'failed') return null;
			return told('message.failed', { message, error: record.error });
		case 'message.completed':
			return told('message.completed', { message });
		default: {
			// Told as it began, also where the reply has ended in the meantime: its text follows.
			const begun = {
				content: '',
				status: 'in_progress',
				citations: [],
				tool_calls: [],
				error: null,
				completed_at: null,
			};
			const usage = 'usage' in message ? { usage: null } : {};
			return told('message.created', { message: opens ? { ...message, ...begun, ...usage } : message });
		}
	}
}

/** The stream of a turn that has ended already: its question, and the whole of its reply. */
export async function* endedTurnEvents(
	{ question, ended, closing }: { question: MessageRecord; ended: MessageRecord; closing: number },
	audience: Audience,
): AsyncGenerator<ConversationEvent, void, undefined> {
	yield questionEvent(question, Math.max(0, closing - 1), audience);
	yield toldEvent('message.completed', { message: presentFor(audience, ended) }, { seq: closing, offset: 0 });
}

/** The stream of a message that waits for a person: itself, and no more. */
export async function* notedEvents(
	{ noted, position }: { noted: MessageRecord; position: number },
	audience: Audience,
): AsyncGenerator<ConversationEvent, void, undefined> {
	yield questionEvent(noted, position, audience);
}

/** A question as it was created, for somebody who joins its turn later. */
export function questionEvent(question: MessageRecord, seq: number, audience: Audience): ConversationEvent {
	return toldEvent('message.created', { message: presentFor(audience, question) }, { seq, offset: 0 });
}

function toldEvent(name: StreamEventName, body: object, position: StreamPosition): ConversationEvent {
	return { id: formatPosition(position), event: name, data: JSON.stringify({ type: name, ...body }) };
}
