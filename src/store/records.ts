import type { IdKind } from '../base/index.ts';
import type {
	Appearance,
	Budget,
	DeploymentJwt,
	DeploymentRateLimit,
	Features,
	RagSettings,
	RedactionKind,
	Role,
	Scope,
} from '../contract/index.ts';
import type {
	ConversationRecord,
	MessageRecord,
	NoteRecord,
	ReplyCallRecord,
	ReplyRoundRecord,
} from './conversation-records.ts';
import type { ErasureRecord } from './erasure-record.ts';
import type { DocumentRecord, KnowledgeBaseRecord, SourcePageRecord, SourceRecord } from './knowledge-records.ts';
import type { VersionedRecord, WorkspaceScopedRecord } from './versioned-record.ts';

export interface WorkspaceRecord extends VersionedRecord {
	name: string;
	plan: string;
	retention_days: number | null;
	budget: Budget | null;
	/** Whether people need a second factor. */
	require_totp: boolean;
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
	role: Role;
	/** In the PHC string format; null until the user sets a password. */
	password_hash: string | null;
	/** SHA-256 of the token of the password link, hexadecimal. */
	password_link_hash: string | null;
	password_link_expires_at: number | null;
	/** The second factor; null without one. */
	totp: TotpRecord | null;
	/** The issuer and subject of the identity that signs in to the account; both null without one. */
	oidc_issuer: string | null;
	oidc_subject: string | null;
	/** Since when the person may not sign in; null: may. */
	deactivated_at: number | null;
}

/** A second factor by time-based codes (RFC 6238). */
export interface TotpRecord {
	/** In base32, sealed. */
	secret: string;
	/** When its first code was confirmed; null until then: it has no effect yet. */
	enabled_at: number | null;
	/** The time step of the last accepted code. */
	last_step: number;
	/** Keyed hashes of the recovery codes that are not used. */
	recovery_hashes: string[];
}

export interface SessionRecord extends VersionedRecord {
	workspace_id: string;
	user_id: string;
	/** SHA-256 of the cookie's value, hexadecimal. */
	hash: string;
	/** The User-Agent header of the sign-in; null for none. */
	user_agent: string | null;
	/** `oidc`: an identity provider has authenticated the person. */
	signed_in_by: 'password' | 'oidc';
	expires_at: number;
}

/** A change that a person or a program has made through the API. It holds no value of any field. */
export interface AuditRecord extends VersionedRecord {
	workspace_id: string;
	actor_type: 'user' | 'api_key';
	actor_id: string;
	/** At the time of the change. */
	actor_name: string;
	/** The id of the operation. */
	action: string;
	/** The kind of the resource; null where its id is of no known form. */
	resource_type: IdKind | null;
	resource_id: string;
	/** At the time of the change; null where the response did not show one, and for conversations, whose titles visitors write. */
	resource_name: string | null;
	/** The names of the fields and parameters of the request. */
	fields: string[];
	path: string;
	request_id: string;
	/** The client's address. */
	address: string;
	expires_at: number;
	/** What the change has done, where its record says more than the fields above. */
	details: Record<string, unknown> | null;
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
	/** Those that were set; `completeRagSettings` adds the defaults. */
	rag_settings: Partial<RagSettings>;
	status: 'active' | 'archived';
	knowledge_base_ids: string[];
	tool_ids: string[];
	archived_at: number | null;
	/** What providers of models get placeholders for. */
	redaction: RedactionKind[];
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
	/** IANA name. */
	time_zone: string;
	/** How visitors' tokens are verified, with its secret sealed. */
	jwt: DeploymentJwt | null;
	status: 'active' | 'archived';
	budget: Budget | null;
	/** Of each visitor. */
	visitor_budget: Budget | null;
	/** Days that its conversations are kept; null: as the workspace's. */
	retention_days: number | null;
}

/** Says that the webhooks of a workspace were told of a budget; the id names the account, the period and the share that is used. */
interface BudgetNoticeRecord extends VersionedRecord {
	workspace_id: string;
	account: string;
	expires_at: number;
}

/** Questions without an answer that ask about the same; the questions themselves are no records. */
export interface QuestionGroupRecord extends WorkspaceScopedRecord {
	status: 'open' | 'resolved' | 'dismissed';
	/** The document that answers it, if one was named. */
	document_id: string | null;
	/** When it was resolved or dismissed. */
	resolved_at: number | null;
}

/** A text that people of a workspace insert into their replies. */
export interface CannedReplyRecord extends WorkspaceScopedRecord {
	shortcut: string;
	content: string;
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
	audit_log: AuditRecord;
	workspace_guards: WorkspaceGuardRecord;
	tools: ToolRecord;
	webhooks: WebhookRecord;
	deliveries: DeliveryRecord;
	delivery_attempts: DeliveryAttemptRecord;
	assistants: AssistantRecord;
	knowledge_bases: KnowledgeBaseRecord;
	documents: DocumentRecord;
	sources: SourceRecord;
	source_pages: SourcePageRecord;
	deployments: DeploymentRecord;
	budget_notices: BudgetNoticeRecord;
	conversations: ConversationRecord;
	messages: MessageRecord;
	question_groups: QuestionGroupRecord;
	reply_rounds: ReplyRoundRecord;
	reply_calls: ReplyCallRecord;
	notes: NoteRecord;
	erasures: ErasureRecord;
	canned_replies: CannedReplyRecord;
}

/** A kind of record; also the name of its table. */
export type Kind = keyof Records;
