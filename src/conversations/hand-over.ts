import { AppError } from '../base/index.ts';
import type { TakenOverBy } from '../contract/index.ts';
import {
	type Commit,
	type ConversationRecord,
	expectVersion,
	type MessageRecord,
	requireVersion,
	type Write,
} from '../store/index.ts';
import { statisticsEvent, streamEvent, workspaceEvent } from './conversation-events.ts';
import { requireSameWorkspace } from './not-found.ts';
import { presentConversation, presentMessage } from './present.ts';
import { emptyMessage, endTurn, type ReplyOutcome, type Turn } from './turn.ts';

/** Who answers in a conversation from now on. */
export interface HandOver {
	workspaceId: string;
	to: ConversationRecord['handled_by'];
	/** Who makes the change. */
	by: TakenOverBy;
	/** The versions that the client accepts (If-Match); null: any. */
	versions: readonly number[] | null;
	/** Committed with the change: its record in the audit log. */
	writes?: readonly Write[];
}

/** The message of a human of the workspace. */
export interface AgentMessage {
	workspaceId: string;
	content: string;
	/** The author's name, as the visitor sees it; null: a person without a name. */
	name: string | null;
}

/**
 * The commit that gives a conversation to a human, to another human, or back to the model. A reply that is being written ends in the same
 * commit with its text so far, so that never both answer. Null where nothing changes.
 * @param running the turn whose reply is being written, and the reply as it would end now
 */
export function handOver(
	record: ConversationRecord,
	running: { turn: Turn; outcome: ReplyOutcome } | null,
	{ workspaceId, to, by, versions, writes = [] }: HandOver,
	now: number,
): { commit: Commit; conversation: ConversationRecord } | null {
	requireSameWorkspace(record, workspaceId);
	requireVersion(record, versions);
	if (record.handled_by === to && (to === 'model' || record.taken_over_by?.id === by.id)) return null;
	const set = { handled_by: to, taken_over_by: to === 'human' ? by : null, requested_person_at: null, updated_at: now };
	const ended = running && to === 'human' ? endTurn(running.turn, running.outcome, now) : null;
	const before = ended?.conversation ?? record;
	const conversation = { ...before, ...set, version: before.version + 1 };
	const { expect = [expectVersion('conversations', record)], write = [], events = [] } = ended?.commit ?? {};
	const commit: Commit = {
		expect,
		write: [...write, { op: 'patch', kind: 'conversations', id: record.id, set }, ...writes],
		events: [
			...events,
			workspaceEvent(conversation, 'conversation.updated', presentConversation(conversation), now),
			...(to === 'human' && record.handled_by === 'model'
				? [statisticsEvent(conversation, 'conversation.taken_over', {}, now)]
				: []),
		],
	};
	return { commit, conversation };
}

/**
 * The commit that stores the message of a human for the visitor.
 * @throws AppError `not_found`, `conversation_archived`, `conversation_not_taken_over`
 */
export function agentMessage(
	record: ConversationRecord,
	{ workspaceId, content, name }: AgentMessage,
	now: number,
): { commit: Commit; conversation: ConversationRecord; message: MessageRecord } {
	requireSameWorkspace(record, workspaceId);
	if (record.status === 'archived') throw new AppError('conversation_archived');
	if (record.handled_by !== 'human') {
		throw new AppError('conversation_not_taken_over');
	}
	const message: MessageRecord = {
		...emptyMessage(record, 'assistant', record.message_count + 1, now),
		author: { type: 'human', name },
		content,
		status: 'completed',
		answered_by: 'human',
		completed_at: now,
	};
	const set = { message_count: record.message_count + 1, last_message_at: now, updated_at: now };
	const conversation = { ...record, ...set, version: record.version + 1 };
	const commit: Commit = {
		expect: [expectVersion('conversations', record)],
		write: [
			{ op: 'patch', kind: 'conversations', id: record.id, set },
			{ op: 'insert', kind: 'messages', record: message },
		],
		events: [
			workspaceEvent(conversation, 'message.created', presentMessage(message), now),
			streamEvent(conversation, 'message.created', { message_id: message.id }, now),
			streamEvent(conversation, 'message.completed', { message_id: message.id }, now),
		],
	};
	return { commit, conversation, message };
}
