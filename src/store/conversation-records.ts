import type {
	Conversation,
	EndUser,
	Message,
	TakenOverBy,
	ToolCall,
	Usage,
	WidgetCitation,
} from '../contract/index.ts';
import type { VersionedRecord, WorkspaceScopedRecord } from './versioned-record.ts';

export interface ConversationRecord extends WorkspaceScopedRecord {
	deployment_id: string;
	assistant_id: string;
	channel: Conversation['channel'];
	status: Conversation['status'];
	title: string | null;
	metadata: Record<string, unknown>;
	end_user_id: string | null;
	end_user: EndUser | null;
	handled_by: Conversation['handled_by'];
	/** Null while the model answers. */
	taken_over_by: TakenOverBy | null;
	/** When the visitor asked for a person who has not taken over yet. Always null while a human handles the conversation. */
	requested_person_at: number | null;
	/** The e-mail address that the visitor left with the request. */
	contact_email: string | null;
	message_count: number;
	last_message_at: number | null;
	archived_at: number | null;
	/** The user who takes care of it. */
	assignee_id: string | null;
	/** The sum of the known costs of its replies, in micros of the currency; null while there is none. */
	cost_micros: number | null;
	/** The account of the visitor who has started it, a keyed hash; null without costs, and for clients of the API. */
	visitor_id: string | null;
}

/** A citation of a reply. Those from before the last two fields lack them. */
export interface StoredCitation extends WidgetCitation {
	knowledge_base_id?: string;
	chunk_id?: string;
}

export interface MessageRecord extends VersionedRecord {
	workspace_id: string;
	conversation_id: string;
	/** Its number in the conversation, from 1. */
	seq: number;
	role: Message['role'];
	author: Message['author'];
	content: string;
	status: Message['status'];
	model: string | null;
	citations: StoredCitation[];
	/** Of a reply that has ended. The calls of an unfinished reply are `reply_calls` records. */
	tool_calls: ToolCall[];
	usage: Usage | null;
	error: Message['error'];
	answered_by: Message['answered_by'];
	/** Milliseconds from the start of the reply. */
	first_token_ms: number | null;
	duration_ms: number | null;
	/** Of a reply that has ended, in micros of the currency; null if it is not known. */
	cost_micros: number | null;
	feedback: Message['feedback'];
	feedback_comment: string | null;
	/** How often the reply was started: after one crash it is started again, after a second it has failed. */
	attempts: number;
	completed_at: number | null;
}

/** An internal note in a conversation. */
export interface NoteRecord extends VersionedRecord {
	workspace_id: string;
	conversation_id: string;
	author: TakenOverBy;
	content: string;
}

/** A round of an unfinished or failed reply: the model's text before its tool calls. */
export interface ReplyRoundRecord extends VersionedRecord {
	message_id: string;
	/** Its number in the reply, from 1. */
	number: number;
	/** The full name of the model that wrote it. */
	model: string;
	text: string;
	/** Usage of the reply up to the calls of this round. */
	usage: Usage | null;
	/** Data that the model needs again with the round. */
	memory: unknown;
	/** What the reply is based on; with its first round only. */
	grounding: unknown;
}

/** A tool call of such a round. */
export interface ReplyCallRecord extends VersionedRecord {
	message_id: string;
	/** Its round's number in the reply, from 1. */
	round: number;
	/** Its number among all calls of the reply, from 1. */
	number: number;
	call: ToolCall;
}
