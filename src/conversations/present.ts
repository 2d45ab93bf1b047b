import { AppError, timestamp, timestampOrNull } from '../base/index.ts';
import type {
	Citation,
	Conversation,
	Message,
	Note,
	ToolCall,
	WidgetCitation,
	WidgetMessage,
	WidgetToolCall,
} from '../contract/index.ts';
import type { ConversationRecord, MessageRecord, NoteRecord, StoredCitation } from '../store/index.ts';

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
		taken_over_by: record.taken_over_by,
		requested_person_at: timestampOrNull(record.requested_person_at),
		contact_email: record.contact_email,
		message_count: record.message_count,
		last_message_at: timestampOrNull(record.last_message_at),
		created_at: timestamp(record.created_at),
		updated_at: timestamp(record.updated_at),
		archived_at: timestampOrNull(record.archived_at),
		assignee_id: record.assignee_id,
		cost_micros: record.cost_micros,
		visitor_id: record.visitor_id,
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
		citations: record.citations.map(presentCitation),
		error: record.error,
		feedback: record.feedback,
		created_at: timestamp(record.created_at),
		completed_at: timestampOrNull(record.completed_at),
		feedback_comment: record.feedback_comment,
		model: record.model,
		tool_calls: record.tool_calls,
		usage: record.usage,
		answered_by: record.answered_by,
		first_token_ms: record.first_token_ms,
		duration_ms: record.duration_ms,
		cost_micros: record.cost_micros,
	};
}

/** A citation for the API. */
export function presentCitation(citation: StoredCitation): Citation {
	const { knowledge_base_id = null, chunk_id = null } = citation;
	return { ...citation, knowledge_base_id, chunk_id };
}

/** An internal note for the API. Visitors never get one. */
export function presentNote({ id, conversation_id, author, content, created_at }: NoteRecord): Note {
	return { id, conversation_id, author, content, created_at: timestamp(created_at) };
}

/** A message for visitors: without the fields for operators, and the arguments and results of tool calls. */
export function presentForVisitor(record: MessageRecord): WidgetMessage {
	const { tool_calls, citations, ...message } = presentMessage(record);
	const { model: _model, usage: _usage, feedback_comment: _comment, ...timed } = message;
	const { answered_by: _answeredBy, first_token_ms: _firstToken, duration_ms: _duration, ...priced } = timed;
	const { cost_micros: _cost, error, ...visible } = priced;
	return {
		...visible,
		error: error && visitorError(error),
		citations: citations.map(presentCitationForVisitor),
		tool_calls: tool_calls.map(presentCallForVisitor),
	};
}

/** Visitors do not learn of budgets: they get the general sentence of the code. */
function visitorError(error: NonNullable<Message['error']>): Message['error'] {
	return error.code === 'usage_limit_reached' ? { ...error, message: new AppError(error.code).message } : error;
}

function presentCitationForVisitor(citation: Citation): WidgetCitation {
	const { knowledge_base_id: _base, chunk_id: _chunk, ...visible } = citation;
	return visible;
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
