import type { Transport } from '../actors/index.ts';
import { AppError } from '../base/index.ts';
import type { Outbox } from '../outbox/index.ts';
import type { MessageRecord, PendingReply, Store } from '../store/index.ts';
import type { ConversationMessage, ConversationResult } from './conversation-messages.ts';
import { requireRepeatCapacity } from './follower-limit.ts';
import { conversationErased } from './not-found.ts';
import type { FinishedTurn, MessageForHuman, RunningTurn } from './turn-result.ts';

export interface RepeatDependencies {
	store: Pick<Store, 'conversations' | 'get'>;
	outbox: Pick<Outbox, 'subscriberCount'>;
	transport: Pick<Transport<ConversationMessage, ConversationResult, never>, 'ask'>;
	/** Milliseconds that a failed reply may wait in the mailbox to be written again. */
	rewriteTimeoutMs: number;
}

const JOIN_TIMEOUT_MS = 10_000;
const MAX_JOIN_ATTEMPTS = 20;

/**
 * Finds what a repeat of a stored message returns: the reply, if it has ended well; otherwise the turn in which it is
 * written, again if it had failed; or the message alone, if a human handles the conversation by now.
 * @throws AppError `not_found`; `rate_limit_exceeded` where too many clients follow the conversation; `unavailable`
 */
export async function joinRepeat(
	deps: RepeatDependencies,
	ids: PendingReply,
): Promise<RunningTurn | FinishedTurn | MessageForHuman> {
	const { store } = deps;
	for (let attempt = 0; attempt < MAX_JOIN_ATTEMPTS; attempt++) {
		const question = await store.get('messages', ids.question_id);
		if (question && ids.reply_id === null) return { messageForHuman: question, position: 0 };
		const reply = ids.reply_id === null ? undefined : await store.get('messages', ids.reply_id);
		if (!question || !reply) throw conversationErased();
		if (reply.status === 'completed' || reply.status === 'stopped') {
			const closingSeq = (await store.conversations.closingEventSeq(ids.conversation_id, reply.id)) ?? 0;
			return { question, finishedReply: reply, closingSeq };
		}
		requireRepeatCapacity(deps.outbox.subscriberCount(ids.conversation_id));
		const result = await joinOrRewrite(deps, question, reply);
		if ('turn' in result && result.turn) return result.turn;
		if ('messageForHuman' in result) return result;
		// The reply has ended, or was started again, since it was read: read it again.
	}
	throw new AppError('unavailable', 'The reply cannot be joined right now.', { retry_after: 1 });
}

function joinOrRewrite(
	{ transport, rewriteTimeoutMs }: RepeatDependencies,
	question: MessageRecord,
	reply: MessageRecord,
): Promise<ConversationResult> {
	if (reply.status === 'failed') {
		const rewrite = { type: 'rewrite', questionId: question.id, replyId: reply.id } as const;
		return transport.ask(reply.conversation_id, rewrite, { deadlineMs: rewriteTimeoutMs });
	}
	const join = { type: 'join', replyId: reply.id } as const;
	return transport.ask(reply.conversation_id, join, { lane: 'control', deadlineMs: JOIN_TIMEOUT_MS });
}
