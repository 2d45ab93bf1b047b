import type {
	Appearance,
	Citation,
	Conversation,
	DeploymentJwt,
	DeploymentRateLimit,
	Document,
	EndUser,
	Features,
	Message,
	RagSettings,
	Scope,
	ToolCall,
	Usage,
} from '../contract/index.ts';

/**
 * A stored record. Times are integer milliseconds since the epoch. `version` starts at 1 and grows by one with every write
 * of the record; it is the resource's ETag.
 */
interface VersionedRecord {
	id: string;
	version: number;
	created_at: number;
}

interface WorkspaceScopedRecord extends VersionedRecord {
	workspace_id: string;
	updated_at: number;
}

export interface WorkspaceRecord extends VersionedRecord {
	name: string;
	plan: string;
	retention_days: number | null;
	updated_at: number;
}

export interface ApiKeyRecord extends VersionedRecord {
	workspace_id: string;
	name: string;
	/** SHA-256 of the whole key, hexadecimal. The key itself is not stored. */
	hash: string;
	/** The first characters, so that people can tell keys apart. */
	prefix: string;
	scopes: ('*' | Scope)[];
	last_used_at: number | null;
	expires_at: number | null;
}

export interface UserRecord extends WorkspaceScopedRecord {
	/** Lower-case; unique in a workspace. */
	email: string;
	name: string;
	role: 'owner' | 'member';
	/** In the PHC string format; null until the user sets a password. */
	password_hash: string | null;
	/** SHA-256 of the token of the password link, hexadecimal. */
	password_link_hash: string | null;
	password_link_expires_at: number | null;
}

export interface SessionRecord extends VersionedRecord {
	workspace_id: string;
	user_id: string;
	/** SHA-256 of the cookie's value, hexadecimal. */
	hash: string;
	expires_at: number;
}

/**
 * One for each workspace, with its id. A decision that depends on a count or on uniqueness within the workspace expects its
 * version and patches it with nothing, so that two such decisions at the same time conflict.
 */
interface WorkspaceGuardRecord extends VersionedRecord {}

export interface ToolRecord extends WorkspaceScopedRecord {
	name: string;
	description: string | null;
	type: 'api' | 'mcp';
	/** As the API accepts it, with each secret sealed. */
	config: Record<string, unknown>;
	status: 'active' | 'archived';
}

export interface WebhookRecord extends WorkspaceScopedRecord {
	url: string;
	events: string[];
	description: string | null;
	status: 'active' | 'disabled';
	disabled_reason: string | null;
	/** Sealed. */
	secret: string;
	/** Former secrets, the latest first: each sealed, with the time (ms since the epoch) until which it signs. */
	former_secrets: { secret: string; until: number }[];
}

/** One event for one endpoint. */
export interface DeliveryRecord extends WorkspaceScopedRecord {
	webhook_id: string;
	/** The event's commit sequence. */
	event_seq: number;
	event_id: string;
	event_type: string;
	/** The conversation that the event is about; null when it is about none. */
	subject: string | null;
	status: 'pending' | 'delivered' | 'failed' | 'cancelled';
	/** Attempts so far. */
	attempts: number;
	/** Failed attempts since an event or a person made it due. */
	failures: number;
	/** The first attempt since then: the 72 hours of retries count from here. */
	first_attempt_at: number | null;
	/** When the next attempt is due: 0 for a first attempt, which is made in the order of events; null when none will follow. */
	due_at: number | null;
	/** Of the last attempt. */
	status_code: number | null;
	/** Why the last attempt failed, as a sentence. */
	error: string | null;
	completed_at: number | null;
}

/** One attempt to deliver; `created_at` is when it began. */
export interface DeliveryAttemptRecord extends VersionedRecord {
	delivery_id: string;
	/** From 1. */
	number: number;
	/** Null when there was no response. */
	status_code: number | null;
	duration_ms: number;
	error: string | null;
	/** The beginning of the response body. */
	answer: string | null;
}

export interface AssistantRecord extends WorkspaceScopedRecord {
	name: string;
	description: string | null;
	master_prompt: string;
	model: string;
	rag_settings: RagSettings;
	status: 'active' | 'archived';
	knowledge_base_ids: string[];
	tool_ids: string[];
	archived_at: number | null;
}

export interface KnowledgeBaseRecord extends WorkspaceScopedRecord {
	name: string;
	description: string | null;
	search_settings: {
		hybrid: boolean;
		/** The weight of the semantic half; null for the weight that the knowledge base chooses itself. */
		semantic_weight: number | null;
	};
	/** The generation of the search index that serves; null until the first document is indexed. */
	generation: string | null;
	/** The generation that a reindex is building beside the serving one; null when none runs. */
	rebuilding: string | null;
	/** The embedder of the serving generation's vectors; null when there is none. */
	embedder: string | null;
	/**
	 * Why the knowledge base needs a reindex: the server has another embedder now, or documents were added without vectors
	 * while the index's embedder was unavailable, or another model has its name. Null when it needs none.
	 */
	reindex_reason: 'embedder' | 'vectors' | 'model' | null;
	/** What indexing waits for, or why the last reindex failed; null when there is no problem. */
	problem: { code: string; message: string } | null;
	/** Counted in the record itself, so that its version changes with every change of its documents. */
	documents_total: number;
	/** Documents that are queued or being processed. */
	documents_pending: number;
	documents_failed: number;
	last_indexed_at: number | null;
	/** When the serving basis was trained; null when there is none, or the vectors come from a provider. */
	trained_at: number | null;
	/** When the pending or running training was requested; null when there is none. */
	training_asked_at: number | null;
	/** How many chunks the last tuned training had, if its basis serves; 0 if the serving basis is not tuned. */
	tuned_on: number;
	/** Chunks that were added, removed or replaced since that training began. */
	changed_chunks: number;
	/** The weight of the semantic half that it chose; null without a tuned basis, and if there was too little text to choose. */
	tuned_weight: number | null;
}

export interface DocumentRecord extends WorkspaceScopedRecord {
	knowledge_base_id: string;
	title: string;
	source_type: Document['source_type'];
	url: string | null;
	file_name: string | null;
	content_type: string | null;
	size_bytes: number | null;
	/** The name of the bytes in the blob store: their SHA-256. Null for a URL that was not fetched yet. */
	blob: string | null;
	status: Document['status'];
	error: Document['error'];
	/** Failures of processing since a person last queued it, after which it may still succeed. */
	attempts: number;
	chunk_count: number;
	page_count: number | null;
	language: string | null;
	indexed_at: number | null;
}

export interface DeploymentRecord extends WorkspaceScopedRecord {
	name: string;
	assistant_id: string;
	allowed_domains: string[];
	/** A missing field has a default, which is filled in when the record is read. */
	appearance: Partial<Appearance> &
		Pick<Appearance, 'primary_color' | 'theme' | 'position' | 'greeting' | 'suggested_questions'>;
	features: Partial<Features> & Pick<Features, 'streaming' | 'rich_content' | 'jwt_required'>;
	rate_limit: DeploymentRateLimit;
	/** How visitors' tokens are verified, with its secret sealed. */
	jwt: DeploymentJwt | null;
	status: 'active' | 'archived';
}

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
	message_count: number;
	last_message_at: number | null;
	archived_at: number | null;
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
	citations: Citation[];
	/** Of a reply that has ended. The calls of an unfinished reply are `reply_calls` records. */
	tool_calls: ToolCall[];
	usage: Usage | null;
	error: Message['error'];
	feedback: Message['feedback'];
	feedback_comment: string | null;
	/** How often the reply was started: after one crash it is started again, after a second it has failed. */
	attempts: number;
	completed_at: number | null;
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

/** A fact about the server that the database belongs to; the id names the fact. */
interface ServerFactRecord extends VersionedRecord {
	value: string;
}

/** The kinds of records and the type of each. */
export interface Records {
	server_facts: ServerFactRecord;
	workspaces: WorkspaceRecord;
	api_keys: ApiKeyRecord;
	users: UserRecord;
	sessions: SessionRecord;
	workspace_guards: WorkspaceGuardRecord;
	tools: ToolRecord;
	webhooks: WebhookRecord;
	deliveries: DeliveryRecord;
	delivery_attempts: DeliveryAttemptRecord;
	assistants: AssistantRecord;
	knowledge_bases: KnowledgeBaseRecord;
	documents: DocumentRecord;
	deployments: DeploymentRecord;
	conversations: ConversationRecord;
	messages: MessageRecord;
	reply_rounds: ReplyRoundRecord;
	reply_calls: ReplyCallRecord;
}

/** A kind of record; also the name of its table. */
export type Kind = keyof Records;
