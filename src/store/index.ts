export { BlobStore, type IncomingBlob } from './blobs.ts';
export type {
	Commit,
	CommitOutcome,
	DeliveryWrite,
	Expectation,
	IdempotencyRecord,
	Job,
	JobWrite,
	NewEvent,
	StoredEvent,
	StoredResponse,
	Write,
} from './commit.ts';
export { CONVERSATION_ERASURE_JOB, PENDING_STATUS } from './commit.ts';
export { dataFolderError } from './data-folder-error.ts';
export type {
	ApiKeyRecord,
	AssistantRecord,
	ConversationRecord,
	DeliveryAttemptRecord,
	DeliveryRecord,
	DeploymentRecord,
	DocumentRecord,
	Kind,
	KnowledgeBaseRecord,
	MessageRecord,
	Records,
	ReplyCallRecord,
	ReplyRoundRecord,
	SessionRecord,
	ToolRecord,
	UserRecord,
	WebhookRecord,
	WorkspaceRecord,
} from './records.ts';
export type {
	DocumentCoverage,
	Generation,
	IndexWrite,
	OpenedBasis,
	StoredChunk,
	StoredTerms,
	StoredText,
} from './search-index.ts';
export {
	type DatabaseReport,
	databaseFile,
	inspectDatabase,
	openReaders,
	openSqliteStore,
	repairSearchIndex,
	type SqliteStoreOptions,
} from './sqlite/index.ts';
export {
	type DocumentBlob,
	type DueDeliveries,
	decideAndCommit,
	expectVersion,
	IdempotentReplayError,
	type IdleConversation,
	type Jobs,
	type ListPosition,
	type ListQuery,
	type Readers,
	requireVersion,
	type Store,
	type TranscriptMessage,
	type WebhooksNeedingCleanup,
	type WebhookWithPendingDeliveries,
} from './store.ts';
export type { WriteProblem } from './write-health.ts';
