import type { Transport } from '../actors/index.ts';
import { formatPosition, type PositionedUpdate, type StreamPosition } from '../outbox/index.ts';
import type { MessageRecord } from '../store/index.ts';
import { type ConversationEvent, conversationEvent, type EventEncoder, questionEvent } from './event-encoder.ts';
import { type Audience, presentFor } from './present.ts';

export interface StreamOptions {
	/** Null: from now on. */
	after: StreamPosition | null;
	signal: AbortSignal;
	audience: Audience;
	/** The stream ends after the end of this reply; null: it ends when the signal aborts. */
	until: string | null;
}

/** A conversation's events from a position on, for an audience. */
export async function* streamConversation(
	transport: Pick<Transport<never, never, PositionedUpdate>, 'subscribe'>,
	encoder: EventEncoder,
	conversationId: string,
	{ after, signal, audience, until }: StreamOptions,
): AsyncGenerator<ConversationEvent, void, undefined> {
	/** The event that opened a text that has ended: its deltas are skipped, because its closing event has the whole text. */
	let finishedSeq = 0;
	/** The reply that had ended when one of its calls was read from the log: its other calls are skipped too. */
	let finishedReplyId = '';
	const from = after === null ? undefined : formatPosition(after);
	for await (const item of transport.subscribe(conversationId, from, signal)) {
		if (item.kind === 'delta') {
			if (item.delta.seq !== finishedSeq) yield encoder.delta(item);
			continue;
		}
		const { message_id, tool_call } = item.event.data;
		if (tool_call && item.replayed && message_id === finishedReplyId) continue;
		const encoded = await encoder.event(item, audience);
		if (encoded === 'finished') finishedSeq = item.event.seq;
		else if (encoded) yield encoded;
		if (tool_call && item.replayed) finishedReplyId = encoded === null ? message_id : '';
		if (item.event.data.text === 'closes' && item.event.data.message_id === until) return;
	}
}

/** The stream of a turn that has ended: its question, and its whole reply. */
export async function* finishedTurnEvents(
	{
		question,
		finishedReply,
		closingSeq,
	}: { question: MessageRecord; finishedReply: MessageRecord; closingSeq: number },
	audience: Audience,
): AsyncGenerator<ConversationEvent, void, undefined> {
	yield questionEvent(question, Math.max(0, closingSeq - 1), audience);
	const message = presentFor(audience, finishedReply);
	yield conversationEvent('message.completed', { message }, { seq: closingSeq, offset: 0 });
}

/** The stream of a message that waits for a human: the message alone. */
export async function* messageForHumanEvents(
	{ messageForHuman, position }: { messageForHuman: MessageRecord; position: number },
	audience: Audience,
): AsyncGenerator<ConversationEvent, void, undefined> {
	yield questionEvent(messageForHuman, position, audience);
}
