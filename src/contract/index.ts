export { AccountPatch, OwnSession } from './account.ts';
export { ApiKey } from './api-keys.ts';
export {
	Assistant,
	AssistantCreate,
	AssistantPatch,
	completeRagSettings,
	RagSettings,
	type RedactionKind,
} from './assistants.ts';
export { AuditLogRecord } from './audit-log.ts';
export { Budget, BudgetCreate, BudgetPatch, mergeBudget } from './budgets.ts';
export { CannedReply } from './canned-replies.ts';
export {
	Conversation,
	ConversationListQuery,
	ConversationPatch,
	EndUser,
	STREAM_EVENTS,
	type StreamEventName,
	TakenOverBy,
	type WidgetPeople,
} from './conversations.ts';
export type { CostSum, CostsPage, CostsQuery } from './costs.ts';
export { Delivery, DeliveryAttempt } from './deliveries.ts';
export {
	Appearance,
	Deployment,
	DeploymentCreate,
	type DeploymentJwt,
	type DeploymentJwtPatch,
	DeploymentPatch,
	DeploymentRateLimit,
	Features,
	OriginCheck,
	TokenCheck,
	WidgetConfig,
} from './deployments.ts';
export { Document, DocumentCreate, DocumentFormTitle } from './documents.ts';
export { Erasure } from './erasures.ts';
export { EVENT_TYPES, Event, type EventType, NOTICE_SCOPES, type NoticeType } from './events.ts';
export type { InboxEntry } from './inbox.ts';
export {
	IndexingStatus,
	KnowledgeBase,
	MAX_DIALOGUE_CHARS,
	SearchRequest,
	type SearchSettingsPatch,
} from './knowledge-bases.ts';
export {
	Citation,
	Feedback,
	Message,
	MessageReply,
	SendMessage,
	ToolCall,
	Usage,
	type WidgetCitation,
	WidgetMessage,
	WidgetMessageReply,
	WidgetToolCall,
} from './messages.ts';
export { Note } from './notes.ts';
export { openApiDocument } from './openapi/index.ts';
export {
	isAudited,
	type Operation,
	type OperationInput,
	type OperationResult,
	SCOPES,
	type Scope,
	SMALL_BODY,
	takesIdempotencyKey,
} from './operation.ts';
export { type Operations, operationIdOf, operations } from './operations.ts';
export type { FromParseHost, ToParseHost } from './parse-messages.ts';
export { asSingleLine, EMAIL_PATTERN, isSingleLine } from './patterns.ts';
export { serverStateOperations } from './server-state.ts';
export { Session, SignIn } from './session.ts';
export { EmptyObject, HIDDEN_SECRET, type Page } from './shapes.ts';
export { Source, SourceCreate, SourcePage, SourcePatch } from './sources.ts';
export type {
	StatisticsFigures,
	StatisticsModel,
	StatisticsQuery,
	StatisticsReport,
	UnansweredGroup,
	UnansweredQuery,
} from './statistics.ts';
export { ApiToolConfig, ApiToolConfigInput, McpToolConfig, McpToolConfigInput, ToolAuth } from './tool-config.ts';
export { Tool, ToolCreate, ToolPatch, type ToolRequest } from './tools.ts';
export { InvitedUser, ROLES, type Role, User, UserCreate, UserPatch } from './users.ts';
export { bodyValidator, queryValidator, type Validator } from './validate.ts';
export { pointerTo } from './validation-details.ts';
export { Webhook, WebhookTest } from './webhooks.ts';
export { WidgetPersonRequest } from './widget.ts';
export type {
	ArgumentCheckJob,
	ArgumentCheckResult,
	DocumentFormat,
	FoldJob,
	FoldResult,
	GrayPicture,
	ParsedChunk,
	ParsedDocument,
	ParseJob,
	RecognisedLine,
	SearchHit,
	SearchJob,
	SearchResult,
	TextRecognition,
	TrainJob,
	TrainResult,
	WorkerResult,
} from './worker-jobs.ts';
export { Workspace } from './workspace.ts';
