export type { BlobStore, IncomingBlob } from './blobs.ts';
export { ChangedIds } from './changed-ids.ts';
export type {
	Commit,
	CommitOutcome,
	CompleteReceipt,
	CompleteResponse,
	FoundPage,
	IdempotencyRecord,
	Job,
	JobWrite,
	NewEvent,
	PendingReply,
	ReceiptKey,
	RequestReceipt,
	StoredEvent,
	StoredResponse,
	Write,
} from './commit.ts';
export { CONVERSATION_ERASURE_JOB } from './commit.ts';
export type {
	ConversationRecord,
	MessageRecord,
	NoteRecord,
	ReplyCallRecord,
	ReplyRoundRecord,
	StoredCitation,
} from './conversation-records.ts';
export { damagedDatabaseError, dataFolderError } from './data-folder-error.ts';
export { DatabaseCopies } from './database-copies.ts';
export { ERASED_BODY_HASH } from './erased-request.ts';
export type { BackupExpiry, ErasureCounts, ErasureRecord } from './erasure-record.ts';
export { completeErasureCounts, NOTHING_ERASED } from './erasure-record.ts';
export type { Hints, HintTopic } from './hints.ts';
export type { ComparedPart } from './import/index.ts';
export type {
	InboxFilter,
	InboxMatch,
	InboxPage,
	InboxReaderIdentity,
	InboxRow,
	InboxWrite,
	MessagePreview,
	SearchTerm,
} from './inbox.ts';
export { RESTORE_FOLDER } from './interrupted-restore.ts';
export type { DocumentRecord, KnowledgeBaseRecord, SourcePageRecord, SourceRecord } from './knowledge-records.ts';
export { importIntoPostgres, inspectPostgres, openPostgresStore, readClusterStatus } from './lazy-postgres.ts';
export type { CommitObserver, OpenedStore, StoreState } from './opened-store.ts';
export {
	type ClusterNode,
	type ClusterTask,
	type FenceOf,
	fenced,
	fenceOfTask,
	LEASE_MS,
	type PlacementStore,
	type PlacementView,
	SHARD_COUNT,
	type ShardFence,
} from './placement.ts';
export type { ClusterStatus, PostgresReport, PostgresStore } from './postgres/index.ts';
export { databaseError } from './postgres-error.ts';
export type {
	AccessReader,
	DeliveriesReader,
	EventsReader,
	FigureQuery,
	FigureSum,
	IdleConversation,
	ListPosition,
	ListQuery,
	Readers,
	SourcesReader,
	SpendingReader,
	StatisticsReader,
	UnansweredGroup,
	UnansweredQuestion,
} from './readers.ts';
export type {
	ApiKeyRecord,
	AssistantRecord,
	AuditRecord,
	CannedReplyRecord,
	DeliveryAttemptRecord,
	DeliveryRecord,
	DeploymentRecord,
	Kind,
	QuestionGroupRecord,
	Records,
	SessionRecord,
	ToolRecord,
	TotpRecord,
	UserRecord,
	WebhookRecord,
	WorkspaceRecord,
} from './records.ts';
export type {
	EmbeddedText,
	Generation,
	IndexWrite,
	OpenedBasis,
} from './search-index.ts';
export type { LimitedAttempt, SharedLimits, UsedRequests } from './shared-limits.ts';
export {
	accountOf,
	dayOf,
	type Reserved,
	type Spender,
	type SpendingDay,
	type SpendingDimension,
	type SpendingLimit,
	type SpendingQuery,
	type SpendingSum,
	type SpendingSums,
} from './spending.ts';
export {
	backupSeries,
	copyDatabase,
	type DatabaseReport,
	DatabaseSnapshot,
	databaseFile,
	FileBlobs,
	FOLDER_LOCK,
	inspectDatabase,
	lockDataFolder,
	lockForBackup,
	namedBlobs,
	openReaders,
	openSqliteStore,
	repairLog,
	repairSearchIndex,
	requireKnownSchema,
	requireSoundLog,
	SCHEMA_VERSION,
	type SnapshotBlob,
	tryLockFolder,
} from './sqlite/index.ts';
export {
	decideAndCommit,
	type EventsListener,
	expectVersion,
	fencedError,
	IdempotentReplayError,
	type Jobs,
	requireCommitted,
	requireVersion,
	type Store,
} from './store.ts';
export {
	type AdditionFactory,
	aroundCommit,
	type CommitAddition,
	prepareChange,
	type UncommittedChange,
	withAddition,
} from './uncommitted-change.ts';
