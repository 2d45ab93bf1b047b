import { eventsOf } from '../support/event-stream.ts';
import type { ApiClient } from './api-client.ts';
import { type Change, type KnownConversation, type Ledger, replyTo } from './ledger.ts';

/**
 * Follows a conversation from the last event that its follower has seen, until the signal or the end of the stream. What it sees is stored,
 * and so recorded as acknowledged; events out of order are recorded as faults.
 * @returns the response if it is not a stream
 */
export async function followConversation(
	server: ApiClient,
	ledger: Ledger,
	conversation: KnownConversation,
	signal: AbortSignal,
): Promise<{ status: number; body: object } | null> {
	try {
		const headers: Record<string, string> = { authorization: `Bearer ${server.key}` };
		if (conversation.lastEventId !== null) headers['last-event-id'] = conversation.lastEventId;
		const path = `/api/v1/conversations/${conversation.id}/events`;
		const response = await fetch(server.url + path, { headers, signal });
		if (response.status !== 200) return { status: response.status, body: (await response.json()) as object };
		for await (const { id, event, data } of eventsOf(response)) {
			if (id !== undefined) checkOrder(ledger, conversation, id);
			if (event === 'message.created') {
				const turn = conversation.turns.find(({ question }) => question.name === data.message.content);
				if (turn?.question.isUncertain) ledger.acknowledge(turn.question.changes.at(-1) as Change);
			} else if (event === 'message.completed') {
				const turn = conversation.turns.find(({ question }) => replyTo(question.name) === data.message.content);
				if (turn === undefined) ledger.faults.push(`A follower got the reply ${data.message.content}.`);
				else ledger.complete(turn, data.message.content);
			}
		}
	} catch {
		// The signal, or the end of the server.
	}
	return null;
}

function checkOrder(ledger: Ledger, conversation: KnownConversation, id: string): void {
	const [event = 0, delta = 0] = id.split('.').map(Number);
	const [lastEvent = 0, lastDelta = -1] = (conversation.lastEventId ?? '0.-1').split('.').map(Number);
	if (event < lastEvent || (event === lastEvent && delta <= lastDelta))
		ledger.faults.push(`A follower got event ${id} after ${conversation.lastEventId}.`);
	conversation.lastEventId = id;
}
