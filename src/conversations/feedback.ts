import { AppError } from '../base/index.ts';
import type { Feedback } from '../contract/index.ts';
import {
	type Commit,
	type ConversationRecord,
	expectVersion,
	type MessageRecord,
	prepareChange,
	type Store,
	type UncommittedChange,
} from '../store/index.ts';
import { statisticsEvent } from './conversation-events.ts';

/**
 * Stores the rating of a reply. It needs no actor: the actor changes no message that is finished.
 * @param now milliseconds since the epoch
 * @param mayRate whether the caller may see the message's conversation
 * @throws AppError `not_found`; `invalid_request` for a message that is no finished reply
 */
export function rateMessage(
	store: Store,
	messageId: string,
	{ rating, comment }: Feedback,
	now: number,
	mayRate: (conversation: ConversationRecord) => boolean,
): UncommittedChange<MessageRecord> {
	return prepareChange(store, async () => {
		const message = await store.get('messages', messageId);
		const conversation = message && (await store.get('conversations', message.conversation_id));
		if (!conversation || !mayRate(conversation)) throw new AppError('not_found', 'The message does not exist.');
		if (message.role !== 'assistant' || message.status === 'in_progress') {
			throw new AppError('invalid_request', 'Only a finished message of the assistant can be rated.');
		}
		const feedbackComment = comment === undefined ? message.feedback_comment : comment;
		const set = { feedback: rating, feedback_comment: rating === null ? null : feedbackComment };
		const { feedback: before, completed_at, created_at } = message;
		const rated = { before, after: rating, rated_at: completed_at ?? created_at };
		const commit: Commit = {
			expect: [expectVersion('messages', message)],
			write: [
				{ op: 'patch', kind: 'messages', id: message.id, set },
				{ op: 'inbox.refresh', conversation_id: conversation.id },
			],
			events: rating === before ? [] : [statisticsEvent(conversation, 'message.rated', rated, now)],
		};
		return { commit, result: { ...message, ...set, version: message.version + 1 } };
	});
}
