import { timestamp, timestampOrNull } from '../base/index.ts';
import type { Conversation, Message, ToolCall, WidgetMessage, WidgetToolCall } from '../contract/index.ts';
import type { ConversationRecord, MessageRecord } from '../store/index.ts';

/** A conversation for the API. */
export function presentConversation(record: ConversationRecord): Conversation {
	return {
		id: record.id,
		deployment_id: record.deployment_id,
		assistant_id: record.assistant_id,
		channel: record.channel,
		status: record.status,
		title: record.title,
		metadata: record.metadata,
		end_user: record.end_user,
		handled_by: record.handled_by,
		message_count: record.message_count,
		last_message_at: timestampOrNull(record.last_message_at),
		created_at: timestamp(record.created_at),
		updated_at: timestamp(record.updated_at),
		archived_at: timestampOrNull(record.archived_at),
	};
}

/** A message for the API. */
export function presentMessage(record: MessageRecord): Message {
	return {
		id: record.id,
		conversation_id: record.conversation_id,
		role: record.role,
		author: record.author,
		content: record.content,
		status: record.status,
		citations: record.citations,
		error: record.error,
		feedback: record.feedback,
		created_at: timestamp(record.created_at),
		completed_at: timestampOrNull(record.completed_at),
		feedback_comment: record.feedback_comment,
		model: record.model,
		tool_calls: record.tool_calls,
		usage: record.usage,
	};
}

/** A message for visitors: without usage, model, feedback comment, and the arguments and results of tool calls. */
export function presentForVisitor(record: MessageRecord): WidgetMessage {
	const { model: _model, usage: _usage, feedback_comment: _comment, tool_calls, ...visible } = presentMessage(record);
	return { ...visible, tool_calls: tool_calls.map(presentCallForVisitor) };
}

/** Who reads: clients of the API see everything, visitors less. */
export type Audience = 'api' | 'visitor';

/** A tool call for an audience. */
export function presentCallFor(audience: Audience, call: ToolCall): ToolCall | WidgetToolCall {
	return audience === 'api' ? call : presentCallForVisitor(call);
}

function presentCallForVisitor({ id, name, status }: ToolCall): WidgetToolCall {
	return { id, name, status };
}

export function presentFor(audience: Audience, record: MessageRecord): Message | WidgetMessage {
	return audience === 'api' ? presentMessage(record) : presentForVisitor(record);
}
