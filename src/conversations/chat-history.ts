import type { ChatMessage } from '../models/index.ts';
import type { MessageRecord, Store } from '../store/index.ts';

/** Earlier messages that a model gets at most. It uses those that fit. */
const MAX_HISTORY_MESSAGES = 100;

/** The messages before a question, oldest first, as a model gets them. The question need not be stored. */
export async function chatHistory(
	store: Pick<Store, 'conversations'>,
	{ conversation_id, seq }: Pick<MessageRecord, 'conversation_id' | 'seq'>,
): Promise<ChatMessage[]> {
	if (seq === 1) return [];
	const messages = await store.conversations.messagesBefore(conversation_id, seq, MAX_HISTORY_MESSAGES);
	return messages
		.filter(({ content, status }) => content.trim() !== '' && (status === 'completed' || status === 'stopped'))
		.map(({ role, content }) => ({ role, content }));
}
