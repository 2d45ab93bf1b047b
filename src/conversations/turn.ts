import { newId } from '../base/index.ts';
import {
	type Commit,
	type ConversationRecord,
	type IdempotencyRecord,
	type MessageRecord,
	type NewEvent,
	versionOf,
} from '../store/index.ts';
import { presentConversation, presentMessage } from './present.ts';

/** A visitor's or client's message on its way into a conversation. */
export interface IncomingMessage {
	content: string;
	/** The author's name where it is known. */
	author_name: string | null;
	/** Stored with the message, completed by where its reply is: repeats are answered by that. */
	receipt: IdempotencyRecord | null;
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
	if (message.receipt) {
		const body = JSON.stringify({ conversation_id: next.id, question_id: question.id, reply_id: reply.id });
		commit.idempotency = { ...message.receipt, body, subject: next.id };
	}
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

/** The commit by which a reply that failed is to be written anew, to the same stored question. */
export function rewriteTurn(
	conversation: ConversationRecord,
	question: MessageRecord,
	failed: MessageRecord,
	now: number,
): { commit: Commit; turn: Turn } {
	const set = {
		content: '',
		status: 'in_progress' as const,
		citations: [],
		tool_calls: [],
		usage: null,
		error: null,
		feedback: null,
		feedback_comment: null,
		attempts: 1,
		completed_at: null,
	};
	const commit: Commit = {
		expect: [versionOf('messages', failed)],
		write: [{ op: 'patch', kind: 'messages', id: failed.id, set }],
		events: [streamEvent(conversation, 'message.reset', { message_id: failed.id, text: 'opens' }, now)],
	};
	return { commit, turn: { conversation, question, reply: { ...failed, ...set, version: failed.version + 1 } } };
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

/** An event for the workspace's log and webhooks; it is erased with the conversation. */
export function workspaceEvent(
	{ id, workspace_id }: ConversationRecord,
	type: string,
	data: unknown,
	now: number,
): NewEvent {
	return { id: newId('event'), stream: workspace_id, type, data, subject: id, created_at: now };
}

function streamEvent(
	conversation: ConversationRecord,
	type: string,
	data: { message_id: string; text?: 'opens' | 'closes' },
	now: number,
): NewEvent {
	return { id: newId('event'), stream: conversation.id, type, data, created_at: now };
}
