import { PHRASES, personRequestIn } from '../extractive/index.ts';
import type { Turn } from './turn.ts';

/** What a reply says about a stored request for a person. */
export interface Acknowledgement {
	text: string;
	/** Whether it is the whole reply. Otherwise it follows the model's answer. */
	isWholeReply: boolean;
}

/** The acknowledgement of a question that asks for a person; null where it does not, or the request was not stored or is withdrawn. */
export function acknowledgementFor({ conversation, question }: Turn): Acknowledgement | null {
	if (conversation.requested_person_at === null) return null;
	const request = personRequestIn(question.content);
	return request && { text: PHRASES[request.language].personAsked, isWholeReply: request.isOnlyRequest };
}
