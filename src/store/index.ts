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
	StoredAnswer,
	StoredEvent,
	Write,
} from './commit.ts';
export { PENDING, REMAINS } from './commit.ts';
export { folderProblem } from './folder-problem.ts';
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
	Coverage,
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
	AnsweredBefore,
	type DocumentBlob,
	type DueDeliveries,
	decideAndCommit,
	type IdleConversation,
	type Jobs,
	type ListQuery,
	type Position,
	type Readers,
	requireVersion,
	type SaidMessage,
	type Store,
	type UntidyWebhooks,
	versionOf,
	type WaitingWebhook,
} from './store.ts';
export type { WriteProblem } from './write-health.ts';
