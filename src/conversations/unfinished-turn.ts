import type { Models } from '../models/index.ts';
import type { ConversationRecord, Store } from '../store/index.ts';
import { roundsOf } from './reply-rounds.ts';
import type { Turn } from './turn.ts';

/** The turn whose reply an earlier process, or an earlier actor, did not finish. */
export async function unfinishedTurn(
	{ store, models }: { store: Pick<Store, 'conversations' | 'list' | 'spending'>; models: Pick<Models, 'priceOf'> },
	conversation: ConversationRecord,
): Promise<Turn | null> {
	const reply = await store.conversations.unfinishedReply(conversation.id);
	if (!reply) return null;
	const where = { conversation_id: conversation.id, seq: reply.seq - 1 };
	const [question] = await store.list('messages', { where, order: 'asc', limit: 1 });
	if (!question) return null;
	const price = models.priceOf(reply.model as string);
	const billing = { price, reserved: await store.spending.reservedFor(reply.id) };
	return { conversation, question, reply, rounds: await roundsOf(store, reply.id), billing };
}
