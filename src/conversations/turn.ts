import { newId } from '../base/index.ts';
import { type Commit, type ConversationRecord, expectVersion, type MessageRecord } from '../store/index.ts';
import { streamEvent, workspaceEvent } from './conversation-events.ts';
import { personFieldsOf } from './person-request.ts';
import { presentConversation, presentMessage } from './present.ts';
import { chargeFor } from './reply-cost.ts';
import { titleOfReply } from './title.ts';
import type { Billing, ReplyOutcome, Turn } from './turn-state.ts';

export type { ReplyOutcome, Turn } from './turn-state.ts';

/** A visitor's or client's message on its way into a conversation. */
export interface IncomingMessage {
	content: string;
	/** The author's name where it is known. */
	author_name: string | null;
	/** Whether it asks for a person, in a deployment in which visitors may do so. */
	asks_for_person: boolean;
	/** The account of the visitor; null for clients of the API, and where the reply costs nothing. */
	visitor_id: string | null;
}

/** The `seq` of the first reply of a conversation. */
const FIRST_REPLY_SEQ = 2;

/**
 * The commit that stores a message with its empty reply, and the conversation where it is new. From then on the reply will
 * be written, also after a crash.
 */
export function beginTurn(
	conversation: ConversationRecord,
	isNew: boolean,
	message: IncomingMessage,
	model: string,
	billing: Billing,
	now: number,
): { commit: Commit; turn: Turn } {
	const question: MessageRecord = {
		...emptyMessage(conversation, 'user', conversation.message_count + 1, now),
		author: { type: 'visitor', name: message.author_name },
		content: message.content,
		status: 'completed',
		completed_at: now,
	};
	const reply: MessageRecord = {
		...emptyMessage(conversation, 'assistant', conversation.message_count + 2, now),
		author: { type: 'model', name: null },
		status: 'in_progress',
		model,
		attempts: 1,
	};
	const requested = personFieldsOf(conversation, message, now);
	const spends = conversation.visitor_id === null && message.visitor_id !== null;
	const set = {
		...{ message_count: conversation.message_count + 2, last_message_at: now, updated_at: now, ...requested },
		...(spends ? { visitor_id: message.visitor_id } : {}),
	};
	const next: ConversationRecord = { ...conversation, ...set, version: isNew ? 1 : conversation.version + 1 };
	const commit: Commit = {
		expect: isNew ? [] : [{ kind: 'conversations', id: conversation.id, version: conversation.version }],
		write: [
			isNew
				? { op: 'insert', kind: 'conversations', record: next }
				: { op: 'patch', kind: 'conversations', id: conversation.id, set },
			{ op: 'insert', kind: 'messages', record: question },
			{ op: 'insert', kind: 'messages', record: reply },
		],
		events: [
			...(isNew ? [workspaceEvent(next, 'conversation.created', presentConversation(next), now)] : []),
			...(Object.keys(requested).length === 0
				? []
				: [workspaceEvent(next, 'conversation.updated', presentConversation(next), now)]),
			workspaceEvent(next, 'message.created', presentMessage(question), now),
			streamEvent(next, 'message.created', { message_id: question.id }, now),
			streamEvent(next, 'message.created', { message_id: reply.id, text: 'opens' }, now),
		],
	};
	return { commit, turn: { conversation: next, question, reply, rounds: [], billing } };
}

/**
 * The commit that stores a message without a reply: a human handles the conversation.
 */
export function storeForHuman(
	conversation: ConversationRecord,
	message: IncomingMessage,
	now: number,
): { commit: Commit; conversation: ConversationRecord; messageForHuman: MessageRecord } {
	const messageForHuman: MessageRecord = {
		...emptyMessage(conversation, 'user', conversation.message_count + 1, now),
		author: { type: 'visitor', name: message.author_name },
		content: message.content,
		status: 'completed',
		answered_by: 'human',
		completed_at: now,
	};
	const set = { message_count: conversation.message_count + 1, last_message_at: now, updated_at: now };
	const next = { ...conversation, ...set, version: conversation.version + 1 };
	const commit: Commit = {
		expect: [expectVersion('conversations', conversation)],
		write: [
			{ op: 'patch', kind: 'conversations', id: conversation.id, set },
			{ op: 'insert', kind: 'messages', record: messageForHuman },
		],
		events: [
			workspaceEvent(next, 'message.created', presentMessage(messageForHuman), now),
			streamEvent(next, 'message.created', { message_id: messageForHuman.id }, now),
		],
	};
	return { commit, conversation: next, messageForHuman };
}

/** The commit that stores the end of a reply. A failed reply keeps its rounds: when it is rewritten, it continues from them. */
export function endTurn(
	turn: Turn,
	{ unreportedCalls, ...outcome }: ReplyOutcome,
	now: number,
): { commit: Commit; conversation: ConversationRecord } {
	const { conversation, reply, rounds } = turn;
	const charge = chargeFor(turn, { usage: outcome.usage, unreportedCalls });
	const end = { ...outcome, cost_micros: charge.cost, completed_at: now };
	const ended: MessageRecord = { ...reply, ...end, version: reply.version + 1 };
	const isFirst = reply.seq === FIRST_REPLY_SEQ && outcome.status === 'completed';
	const title = conversation.title === null && isFirst ? titleOfReply(outcome.content) : null;
	const set = {
		...{ last_message_at: now, updated_at: now, ...(title === null ? {} : { title }) },
		...(charge.cost === null ? {} : { cost_micros: (conversation.cost_micros ?? 0) + charge.added }),
	};
	const next: ConversationRecord = { ...conversation, ...set, version: conversation.version + 1 };
	const erasesRounds = rounds.length > 0 && outcome.status !== 'failed';
	const commit: Commit = {
		expect: [
			{ kind: 'conversations', id: conversation.id, version: conversation.version },
			{ kind: 'messages', id: reply.id, version: reply.version },
		],
		write: [
			{ op: 'patch', kind: 'messages', id: reply.id, set: end },
			...(erasesRounds ? [{ op: 'erase_rounds', message_id: reply.id } as const] : []),
			{ op: 'patch', kind: 'conversations', id: conversation.id, set },
			...charge.writes,
		],
		events: [
			workspaceEvent(conversation, 'message.created', presentMessage(ended), now),
			...(title === null ? [] : [workspaceEvent(next, 'conversation.updated', presentConversation(next), now)]),
			streamEvent(
				conversation,
				outcome.status === 'failed' ? 'message.failed' : 'message.completed',
				{ message_id: reply.id, text: 'closes' },
				now,
			),
		],
	};
	return { commit, conversation: next };
}

/** A message without content and end, with its number in the conversation. */
export function emptyMessage(
	conversation: ConversationRecord,
	role: MessageRecord['role'],
	seq: number,
	now: number,
): Omit<MessageRecord, 'author' | 'status'> {
	return {
		id: newId('message'),
		version: 1,
		workspace_id: conversation.workspace_id,
		conversation_id: conversation.id,
		seq,
		role,
		content: '',
		model: null,
		citations: [],
		tool_calls: [],
		usage: null,
		error: null,
		answered_by: null,
		first_token_ms: null,
		duration_ms: null,
		cost_micros: null,
		feedback: null,
		feedback_comment: null,
		attempts: 0,
		created_at: now,
		completed_at: null,
	};
}
