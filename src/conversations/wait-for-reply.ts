import type { Transport } from '../actors/index.ts';
import { AppError } from '../base/index.ts';
import { formatPosition, type PositionedUpdate } from '../outbox/index.ts';
import type { MessageRecord, Store } from '../store/index.ts';
import { conversationErased } from './not-found.ts';
import type { RunningTurn } from './turn-result.ts';

/**
 * Waits until a reply has ended, well or not.
 * @throws AppError `not_found` where the conversation is erased meanwhile; `unavailable` where the signal aborts first
 */
export async function waitForReply(
	transport: Pick<Transport<never, never, PositionedUpdate>, 'subscribe'>,
	store: Pick<Store, 'get'>,
	{ reply, position }: RunningTurn,
	signal: AbortSignal,
): Promise<MessageRecord> {
	const after = formatPosition({ seq: position, offset: 0 });
	for await (const item of transport.subscribe(reply.conversation_id, after, signal)) {
		if (item.kind !== 'event' || item.event.data.message_id !== reply.id || item.event.data.text !== 'closes') continue;
		const ended = await store.get('messages', reply.id);
		if (ended) return ended;
		throw conversationErased();
	}
	if (!signal.aborted && !(await store.get('messages', reply.id))) throw conversationErased();
	throw new AppError('unavailable', 'The reply is still being written. Read the conversation later.', {
		retry_after: 5,
	});
}
