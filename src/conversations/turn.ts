import { newId } from '../base/index.ts';
import type { Commit, ConversationRecord, MessageRecord, NewEvent } from '../store/index.ts';
import { presentConversation, presentMessage } from './present.ts';

/** A visitor's or client's message on its way into a conversation. */
export interface IncomingMessage {
	content: string;
	/** The author's name where it is known. */
	author_name: string | null;
}

/** A stored question and the reply that is being written to it. */
export interface Turn {
	conversation: ConversationRecord;
	question: MessageRecord;
	reply: MessageRecord;
}

/** How the reply to a turn ended. */
export type ReplyOutcome = Pick<MessageRecord, 'content' | 'status' | 'citations' | 'usage' | 'error'>;

/**
 * The commit that stores a message together with the beginning of its reply, and with the conversation where it is new.
 * From then on the reply will be written, whatever happens to this process.
 */
export function beginTurn(
	conversation: ConversationRecord,
	isNew: boolean,
	message: IncomingMessage,
	model: string,
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
	const set = { message_count: conversation.message_count + 2, last_message_at: now, updated_at: now };
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
			workspaceEvent(next, 'message.created', presentMessage(question), now),
			streamEvent(next, 'message.created', { message_id: question.id }, now),
			streamEvent(next, 'message.created', { message_id: reply.id, text: 'opens' }, now),
		],
	};
	return { commit, turn: { conversation: next, question, reply } };
}

/** The commit that stores how a reply ended. */
export function endTurn(
	{ conversation, reply }: Turn,
	outcome: ReplyOutcome,
	now: number,
): { commit: Commit; conversation: ConversationRecord } {
	const ended: MessageRecord = { ...reply, ...outcome, completed_at: now, version: reply.version + 1 };
	const set = { last_message_at: now, updated_at: now };
	const next: ConversationRecord = { ...conversation, ...set, version: conversation.version + 1 };
	const commit: Commit = {
		expect: [
			{ kind: 'conversations', id: conversation.id, version: conversation.version },
			{ kind: 'messages', id: reply.id, version: reply.version },
		],
		write: [
			{ op: 'patch', kind: 'messages', id: reply.id, set: { ...outcome, completed_at: now } },
			{ op: 'patch', kind: 'conversations', id: conversation.id, set },
		],
		events: [
			workspaceEvent(conversation, 'message.created', presentMessage(ended), now),
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

/** The commit by which a reply that a crash cut off begins anew. */
export function restartTurn({ conversation, reply }: Pick<Turn, 'conversation' | 'reply'>, now: number): Commit {
	return {
		expect: [{ kind: 'messages', id: reply.id, version: reply.version }],
		write: [{ op: 'patch', kind: 'messages', id: reply.id, set: { attempts: reply.attempts + 1 } }],
		events: [streamEvent(conversation, 'message.reset', { message_id: reply.id, text: 'opens' }, now)],
	};
}

function emptyMessage(
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
		feedback: null,
		feedback_comment: null,
		attempts: 0,
		created_at: now,
		completed_at: null,
	};
}

function workspaceEvent(conversation: ConversationRecord, type: string, data: unknown, now: number): NewEvent {
	return { id: newId('event'), stream: conversation.workspace_id, type, data, created_at: now };
}

function streamEvent(
	conversation: ConversationRecord,
	type: string,
	data: { message_id: string; text?: 'opens' | 'closes' },
	now: number,
): NewEvent {
	return { id: newId('event'), stream: conversation.id, type, data, created_at: now };
}
