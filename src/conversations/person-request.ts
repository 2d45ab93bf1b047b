import { AppError } from '../base/index.ts';
import { personRequestIn } from '../extractive/index.ts';
import { type Commit, type ConversationRecord, expectVersion } from '../store/index.ts';
import { emailLeftIn } from './contact-email.ts';
import { workspaceEvent } from './conversation-events.ts';
import { presentConversation } from './present.ts';

/** A visitor's request for a person, or its withdrawal. */
export interface PersonRequestChange {
	withdraw: boolean;
	/** The e-mail address to store; null: none is given. */
	email: string | null;
}

/**
 * The commit that stores a visitor's request for a person, or withdraws it; null where nothing changes. While a human handles the
 * conversation there is nothing to request: a request that comes after the takeover stores only the e-mail address.
 * @throws AppError `conversation_archived` for a request
 */
export function changePersonRequest(
	record: ConversationRecord,
	{ withdraw, email }: PersonRequestChange,
	now: number,
): { commit: Commit; conversation: ConversationRecord } | null {
	if (!withdraw && record.status === 'archived') throw new AppError('conversation_archived');
	const fields = withdraw
		? { requested_person_at: null, contact_email: null }
		: { ...requestedPerson(record, now), contact_email: email ?? record.contact_email };
	const { requested_person_at = record.requested_person_at, contact_email } = fields;
	if (requested_person_at === record.requested_person_at && contact_email === record.contact_email) return null;
	const set = { requested_person_at, contact_email, updated_at: now };
	const conversation = { ...record, ...set, version: record.version + 1 };
	const commit: Commit = {
		expect: [expectVersion('conversations', record)],
		write: [{ op: 'patch', kind: 'conversations', id: record.id, set }],
		events: [workspaceEvent(conversation, 'conversation.updated', presentConversation(conversation), now)],
	};
	return { commit, conversation };
}

/** The field that a request for a person sets; none where the visitor waits already, or a human handles the conversation. */
export function requestedPerson(
	{ handled_by, requested_person_at }: ConversationRecord,
	now: number,
): Partial<Pick<ConversationRecord, 'requested_person_at'>> {
	return handled_by === 'model' && requested_person_at === null ? { requested_person_at: now } : {};
}

/** The fields that a message sets: it asks for a person, or it leaves an e-mail address while the visitor waits for one. */
export function personFieldsOf(
	record: ConversationRecord,
	{ asks_for_person, content }: { asks_for_person: boolean; content: string },
	now: number,
): Partial<Pick<ConversationRecord, 'requested_person_at' | 'contact_email'>> {
	const requested = asks_for_person ? requestedPerson(record, now) : {};
	const isWaiting = (requested.requested_person_at ?? record.requested_person_at) !== null;
	const contact_email = isWaiting ? emailLeftIn(content) : null;
	return contact_email === null || contact_email === record.contact_email ? requested : { ...requested, contact_email };
}

/** Whether a message asks for a person in words. */
export function asksForPerson(content: string): boolean {
	return personRequestIn(content) !== null;
}
