import { PHRASES, personRequestIn } from '../extractive/index.ts';
import type { Store } from '../store/index.ts';
import { emailLeftIn } from './contact-email.ts';
import type { Turn } from './turn.ts';

/** What a reply says about a stored request for a person. */
export interface Acknowledgement {
	text: string;
	/** Whether it is the whole reply. Otherwise it follows the model's answer. */
	isWholeReply: boolean;
}

export interface AcknowledgementDependencies {
	store: Pick<Store, 'conversations'>;
	/** Whether a person of the workspace is there. */
	isPersonAvailable(workspaceId: string): boolean;
}

/** Messages among which the request is looked for, for its language. */
const MAX_MESSAGES_BACK = 20;

/**
 * The acknowledgement of a question that asks for a person, or that leaves the e-mail address for which such an acknowledgement
 * has asked. Null for other questions, and where no request is stored or it was withdrawn.
 */
export async function acknowledgementFor(
	{ store, isPersonAvailable }: AcknowledgementDependencies,
	{ conversation, question }: Turn,
): Promise<Acknowledgement | null> {
	if (conversation.requested_person_at === null) return null;
	const request = personRequestIn(question.content);
	if (request !== null) {
		const phrases = PHRASES[request.language];
		const isReachable = conversation.contact_email !== null || isPersonAvailable(conversation.workspace_id);
		const text = isReachable ? phrases.personAsked : phrases.personAskedAndAbsent;
		return { text, isWholeReply: request.isOnlyRequest };
	}
	if (emailLeftIn(question.content) === null) return null;
	const earlier = await store.conversations.messagesBefore(conversation.id, question.seq, MAX_MESSAGES_BACK);
	const requests = earlier.flatMap(({ role, content }) => (role === 'user' ? (personRequestIn(content) ?? []) : []));
	return { text: PHRASES[requests.at(-1)?.language ?? 'en'].emailKept, isWholeReply: true };
}
