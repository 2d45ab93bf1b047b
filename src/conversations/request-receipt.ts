import type {
	ConversationRecord,
	IdempotencyRecord,
	MessageRecord,
	NoteRecord,
	RequestReceipt,
} from '../store/index.ts';
import { presentConversation, presentMessage, presentNote } from './present.ts';

/** What a request to the actor has changed, as far as its response shows it. */
export type RequestOutcome =
	/** A stored message with the reply that is being written; null where a human answers later. */
	| { question: MessageRecord; reply: MessageRecord | null }
	| { changed: ConversationRecord }
	| { agentMessage: MessageRecord }
	| { note: NoteRecord };

/**
 * The receipt of a request, completed with its response. The response to a message is pending until its reply has ended. The
 * receipt is erased with the conversation.
 */
export function completeReceipt({ status, ...key }: RequestReceipt, outcome: RequestOutcome): IdempotencyRecord {
	if ('question' in outcome) {
		const { question, reply } = outcome;
		const { conversation_id } = question;
		const pending = { conversation_id, question_id: question.id, reply_id: reply?.id ?? null };
		return { ...key, pending, subject: conversation_id };
	}
	if ('changed' in outcome) {
		const { changed } = outcome;
		return { ...key, status, body: JSON.stringify(presentConversation(changed)), subject: changed.id };
	}
	if ('note' in outcome) {
		const { note } = outcome;
		return { ...key, status, body: JSON.stringify(presentNote(note)), subject: note.conversation_id };
	}
	const { agentMessage } = outcome;
	return {
		...key,
		status,
		body: JSON.stringify(presentMessage(agentMessage)),
		subject: agentMessage.conversation_id,
	};
}
