import { newId } from '../base/index.ts';
import type { ToolCall } from '../contract/index.ts';
import type { ConversationRecord, NewEvent } from '../store/index.ts';

/** An event for the workspace's log and webhooks; it is erased with the conversation. */
export function workspaceEvent(
	{ id, workspace_id }: ConversationRecord,
	type: string,
	data: unknown,
	now: number,
): NewEvent {
	return { id: newId('event'), stream: workspace_id, type, data, subject: id, created_at: now };
}

/** An event for the statistics of the workspace only; it is erased with the conversation. */
export function statisticsEvent(
	{ id, workspace_id }: ConversationRecord,
	type: 'conversation.taken_over' | 'message.rated',
	data: unknown,
	now: number,
): NewEvent {
	return { id: newId('event'), stream: `statistics_${workspace_id}`, type, data, subject: id, created_at: now };
}

/** An event for the followers of the conversation. */
export function streamEvent(
	conversation: ConversationRecord,
	type: string,
	data: { message_id: string; text?: 'opens' | 'closes'; tool_call?: ToolCall },
	now: number,
): NewEvent {
	return { id: newId('event'), stream: conversation.id, type, data, created_at: now };
}

/** An event about an internal note, for those followers of the conversation who are no visitors. It does not have the note's text. */
export function noteEvent(
	conversation: ConversationRecord,
	type: 'note.created' | 'note.deleted',
	noteId: string,
	now: number,
): NewEvent {
	return { id: newId('event'), stream: conversation.id, type, data: { note_id: noteId }, created_at: now };
}

/** The event of a call that begins or has ended. */
export function callEvent(conversation: ConversationRecord, messageId: string, call: ToolCall, now: number): NewEvent {
	const type = call.status === 'running' ? 'tool.started' : 'tool.completed';
	return streamEvent(conversation, type, { message_id: messageId, tool_call: call }, now);
}
