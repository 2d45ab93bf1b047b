export { BlobStore, type IncomingBlob } from './blobs.ts';
export type {
	Commit,
	CommitOutcome,
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
export type { Coverage, Generation, IndexWrite, StoredChunk, StoredTerms } from './search-index.ts';
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
	decideAndCommit,
	type Jobs,
	type ListQuery,
	type Position,
	type Readers,
	requireVersion,
	type Store,
	versionOf,
} from './store.ts';
