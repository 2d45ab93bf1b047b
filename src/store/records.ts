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
	SearchSettings,
	ToolCall,
	Usage,
} from '../contract/index.ts';

/**
 * What the store keeps. Times are integer milliseconds since the epoch; `version` starts at 1 and grows by one with every
 * write of the record (it is the resource's ETag).
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
	/** SHA-256 of the whole key, hexadecimal. The key itself is nowhere. */
	hash: string;
	/** The first characters, for people to tell keys apart. */
	prefix: string;
	scopes: ('*' | Scope)[];
	last_used_at: number | null;
	expires_at: number | null;
}

export interface UserRecord extends WorkspaceScopedRecord {
	/** Lower-case; once in a workspace. */
	email: string;
	name: string;
	role: 'owner' | 'member';
	/** In the PHC string format; null until the person has set one. */
	password_hash: string | null;
	/** SHA-256 of the token of the link with which the person sets a password, hexadecimal. */
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
 * One for each workspace, with its id. A decision that rests on a count or on uniqueness within the workspace expects its
 * version and patches it with nothing, so that two such decisions at once cannot both hold.
 */
export interface WorkspaceGuardRecord extends VersionedRecord {}

export interface ToolRecord extends WorkspaceScopedRecord {
	name: string;
	description: string | null;
	type: 'api' | 'mcp';
	/** As the API takes it, with each secret sealed. */
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
	/** Secrets before the newest one, the latest first: each sealed, and until when it signs (ms since the epoch). */
	former_secrets: { secret: string; until: number }[];
}

/** What becomes of one event at one endpoint. */
export interface DeliveryRecord extends WorkspaceScopedRecord {
	webhook_id: string;
	/** The event's place in the log. */
	event_seq: number;
	event_id: string;
	event_type: string;
	/** The conversation that the event tells of, where it does. */
	subject: string | null;
	status: 'pending' | 'delivered' | 'failed' | 'cancelled';
	/** How many there were. */
	attempts: number;
	/** How many have failed since an event or a person made it due. */
	failures: number;
	/** The first one since then: the time for retries counts from here. */
	first_attempt_at: number | null;
	/** When the next attempt is due: 0 for the first one, which is in order of the log; null where none is to come. */
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
	/** Null where there was no answer. */
	status_code: number | null;
	duration_ms: number;
	error: string | null;
	/** The beginning of what the endpoint answered. */
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
	search_settings: SearchSettings;
	/** The generation of the search index that serves; null until the first document is indexed. */
	generation: string | null;
	/** The generation that a reindex is building beside the serving one; null where none runs. */
	rebuilding: string | null;
	/** Whose vectors the serving generation holds; null where there is none. */
	embedder: string | null;
	/**
	 * Why the index is to be built anew: the server's embedder is another one by now, or documents were added without vectors
	 * while the index's own was not to be had, or another model answers to its name. Null where nothing calls for it.
	 */
	reindex_reason: 'embedder' | 'vectors' | 'model' | null;
	/** What indexing waits for, or why the last reindex came to nothing; null where there is no such thing. */
	problem: { code: string; message: string } | null;
	/** Counted in the record itself, so that its version tells of every change of its documents. */
	documents_total: number;
	/** Documents that are queued or being processed. */
	documents_pending: number;
	documents_failed: number;
	last_indexed_at: number | null;
	/** When the basis that serves was trained; null where there is none, or the vectors come from a provider. */
	trained_at: number | null;
	/** When a training was last asked for that has not ended; null where none is due or under way. */
	training_asked_at: number | null;
}

export interface DocumentRecord extends WorkspaceScopedRecord {
	knowledge_base_id: string;
	title: string;
	source_type: Document['source_type'];
	url: string | null;
	file_name: string | null;
	content_type: string | null;
	size_bytes: number | null;
	/** Where the bytes are in the blob store: their SHA-256. Null for a URL that was not fetched yet. */
	blob: string | null;
	status: Document['status'];
	error: Document['error'];
	/** How often processing has failed, and may yet succeed, since it was last queued by a person. */
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
	/** What it does not set has a default, which is filled in when it is read. */
	appearance: Partial<Appearance> &
		Pick<Appearance, 'primary_color' | 'theme' | 'position' | 'greeting' | 'suggested_questions'>;
	features: Partial<Features> & Pick<Features, 'streaming' | 'rich_content' | 'jwt_required'>;
	rate_limit: DeploymentRateLimit;
	/** How visitors' tokens are verified, its secret sealed. */
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
	/** Its place in the conversation, from 1. */
	seq: number;
	role: Message['role'];
	author: Message['author'];
	content: string;
	status: Message['status'];
	model: string | null;
	citations: Citation[];
	/** Of a reply that has ended; those of one that is being written are records of their own. */
	tool_calls: ToolCall[];
	usage: Usage | null;
	error: Message['error'];
	feedback: Message['feedback'];
	feedback_comment: string | null;
	/** How often the reply was begun: a crash of ours allows one more, then it has failed. */
	attempts: number;
	completed_at: number | null;
}

/** A round of a reply that is being written, or that has failed: what its model said before it asked for calls. */
export interface ReplyRoundRecord extends VersionedRecord {
	message_id: string;
	/** Its place in the reply, from 1. */
	number: number;
	/** The full name of the model that wrote it. */
	model: string;
	text: string;
	/** What the reply has cost up to the calls of this round. */
	usage: Usage | null;
	/** What the model wants to be given again with the round. */
	memory: unknown;
	/** What the reply is answered from; with its first round only. */
	grounding: unknown;
}

/** A call of such a round. */
export interface ReplyCallRecord extends VersionedRecord {
	message_id: string;
	/** Its round's place in the reply, from 1. */
	round: number;
	/** Its place among all calls of the reply, from 1. */
	number: number;
	call: ToolCall;
}

/** What the database knows of the server that it belongs to; the id names the fact. */
export interface ServerFactRecord extends VersionedRecord {
	value: string;
}

/** The kinds of records and what each holds. */
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

export type Kind = keyof Records;
