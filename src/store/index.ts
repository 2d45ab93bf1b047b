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
export { PENDING } from './commit.ts';
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
	openSqliteStore,
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
	type Store,
	type UntidyWebhooks,
	versionOf,
} from './store.ts';
