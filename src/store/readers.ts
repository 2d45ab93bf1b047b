import type { StoredEvent, StoredResponse } from './commit.ts';
import type { RequestIdentity } from './erased-request.ts';
import type { InboxReader } from './inbox.ts';
import type { ListPosition } from './list-position.ts';
import type { Kind, Records } from './records.ts';
import type {
	DocumentCoverage,
	EmbeddedText,
	Generation,
	OpenedBasis,
	StoredChunk,
	StoredTerms,
	StoredText,
} from './search-index.ts';
import type { Reserved, SpendingDay, SpendingDimension, SpendingQuery, SpendingSum, SpendingSums } from './spending.ts';

export type { ListPosition };

/** What a list contains. Conditions are combined with AND. */
export interface ListQuery<K extends Kind> {
	where: Partial<Records[K]>;
	/** A field that must have a value. */
	notNull?: keyof Records[K] | undefined;
	/** `created_at` strictly after / before (ms). */
	createdAfter?: number | undefined;
	createdBefore?: number | undefined;
	after?: ListPosition | undefined;
	order: 'asc' | 'desc';
	limit: number;
}

/** Records of every kind, by id or as a list. */
export interface RecordsReader {
	get<K extends Kind>(kind: K, id: string): Promise<Records[K] | undefined>;
	/** Those of these records that exist, in any order, by one query. */
	getMany<K extends Kind>(kind: K, ids: readonly string[]): Promise<Records[K][]>;
	/** The versions of those of these records that exist, by their ids, by one query. */
	versionsOf(kind: Kind, ids: readonly string[]): Promise<Map<string, number>>;
	list<K extends Kind>(kind: K, query: ListQuery<K>): Promise<Records[K][]>;
}

/** Queries about assistants. */
export interface AssistantsReader {
	/** Assistants of a workspace that this knowledge base is attached to. */
	withKnowledgeBase(workspaceId: string, knowledgeBaseId: string): Promise<Records['assistants'][]>;
	/** Assistants of a workspace that this tool is attached to. */
	withTool(workspaceId: string, toolId: string): Promise<Records['assistants'][]>;
	/** What the workspace's active assistants count against its plan. */
	planUsage(workspaceId: string): Promise<{ assistants: number; tool_attachments: number }>;
}

/** A message without its tool calls and citations. */
export type TranscriptMessage = Pick<Records['messages'], 'seq' | 'role' | 'content' | 'status'>;

/** A conversation without recent messages. `at` is the time by which its list is ordered. */
export interface IdleConversation extends ListPosition {
	message_count: number;
	/** The version of its deployment whose retention has decided. */
	deployment_version: number;
}

/** Queries about conversations and their messages. */
export interface ConversationsReader {
	/** The last messages of a conversation before a `seq`, oldest first. */
	messagesBefore(conversationId: string, seq: number, limit: number): Promise<TranscriptMessage[]>;
	/** Replies that are `in_progress`. At the start these are the replies that the previous process did not finish. */
	unfinishedReplies(): Promise<Records['messages'][]>;
	/** The `in_progress` reply of a conversation. */
	unfinishedReply(conversationId: string): Promise<Records['messages'] | undefined>;
	/**
	 * Conversations of a workspace that have been idle since a time and have no reply in progress, except those of deployments with
	 * an own retention; the longest idle first.
	 */
	idle(workspaceId: string, since: number, after: ListPosition | undefined, limit: number): Promise<IdleConversation[]>;
	/** The same of one deployment, whatever its retention; the oldest first. */
	idleInDeployment(
		deployment: Pick<Records['deployments'], 'id' | 'version'>,
		since: number,
		after: ListPosition | undefined,
		limit: number,
	): Promise<IdleConversation[]>;
	/** Whether any deployment of a workspace has an own retention. */
	hasDeploymentRetention(workspaceId: string): Promise<boolean>;
	/** Whether any row of an erased conversation remains. */
	hasUnerasedRows(conversationId: string): Promise<boolean>;
	/** The commit sequence of the last event that closed a message's text; undefined when there is none, or it was erased. */
	closingEventSeq(conversationId: string, messageId: string): Promise<number | undefined>;
}

/** Queries about credentials. */
export interface AccessReader {
	apiKeyByHash(hash: string): Promise<Records['api_keys'] | undefined>;
	sessionByHash(hash: string): Promise<Records['sessions'] | undefined>;
	/** The user whose password link has this hash. */
	userByPasswordLink(hash: string): Promise<Records['users'] | undefined>;
	/** Whether `erase_expired` would erase a record. */
	hasExpiredRecords(before: number): Promise<boolean>;
}

export interface StoredResponseOptions {
	/** Also a response that has expired and is not removed yet. */
	includeExpired?: boolean;
}

/** Queries about responses stored under an idempotency key. */
export interface IdempotencyReader {
	/** The response stored under the key of a request, or what is left of it where its conversation has been erased. */
	storedResponse(request: RequestIdentity, options?: StoredResponseOptions): Promise<StoredResponse | undefined>;
	/** Whether any stored response is sealed with the server's secret key. */
	hasSealedResponses(): Promise<boolean>;
}

/** A document and the name of its bytes in the blob store. */
export type DocumentBlob = Pick<Records['documents'], 'id' | 'created_at' | 'blob'>;

/** Queries about documents. */
export interface DocumentsReader {
	/** Whether any document still needs these bytes. */
	isBlobInUse(blob: string): Promise<boolean>;
	/** The blobs of a knowledge base's documents, the oldest document first. */
	blobsOf(knowledgeBaseId: string, after: ListPosition | undefined, limit: number): Promise<DocumentBlob[]>;
	/** Another document of the same knowledge base, indexed completely from the same bytes under the same name and title. */
	indexedDuplicate(document: Records['documents']): Promise<Records['documents'] | undefined>;
}

/** Queries about the sources of knowledge bases. */
export interface SourcesReader {
	/** The first page of a source's frontier. */
	nextPage(sourceId: string): Promise<Records['source_pages'] | undefined>;
	pageByUrl(sourceId: string, url: string): Promise<Records['source_pages'] | undefined>;
	pageOfDocument(documentId: string): Promise<Records['source_pages'] | undefined>;
	/**
	 * Another page of the same source with a document of the same content, which no run has missed since, or whose document of
	 * this content a request has deleted.
	 */
	pageWithContent(page: Records['source_pages'], content: string): Promise<Records['source_pages'] | undefined>;
	/** Pages that this run has neither found nor counted as missed, without those whose document a request has deleted. */
	missedPages(sourceId: string, run: number, limit: number): Promise<Records['source_pages'][]>;
	/** The documents of a source: all, and the indexed ones. */
	documentCounts(sourceId: string): Promise<{ total: number; indexed: number }>;
}

/** Queries about the search index that the main thread needs. Workers rank with `SearchReader`. */
export interface SearchIndexReader {
	generation(id: string): Promise<Generation | undefined>;
	/** The generation that serves a knowledge base now. */
	servingGeneration(knowledgeBaseId: string): Promise<Generation | undefined>;
	/** Documents of a knowledge base, the oldest first, each with what a generation that is being built has of it. */
	coverage(
		knowledgeBaseId: string,
		generation: string,
		after: ListPosition | undefined,
		limit: number,
	): Promise<DocumentCoverage[]>;
	/** How many documents a generation has. */
	documentCount(generation: string): Promise<number>;
	/** The terms of a generation's chunks stored after this chunk, in the order of storage. */
	termsAfter(generation: string, chunkId: number, limit: number): Promise<StoredTerms[]>;
	/** The texts of a generation's chunks stored after this chunk, in the order of storage. */
	textsAfter(generation: string, chunkId: number, limit: number): Promise<StoredText[]>;
	/** The basis of a generation that was opened last, whether it serves or not. */
	openedBasis(generation: string): Promise<OpenedBasis | undefined>;
	/** The sample that a basis was opened with; undefined when it has none or does not exist. */
	sampleOf(basis: string): Promise<Int8Array | undefined>;
	/**
	 * A document's texts in reading order, after a position in it, with their vectors of a basis; empty if the generation or the
	 * basis does not exist any more.
	 */
	embeddedTexts(
		generation: string,
		basis: string,
		documentId: string,
		after: number,
		limit: number,
	): Promise<EmbeddedText[]>;
	/** A document's chunks in reading order, after a position in it, in the generation that serves the knowledge base now. */
	servingChunks(knowledgeBaseId: string, documentId: string, after: number, limit: number): Promise<StoredChunk[]>;
}

/** Queries about the log of events. */
export interface EventsReader {
	/** Events of a stream after a commit sequence, in order; only of these types, if any are given. */
	after(stream: string, seq: number, limit: number, types?: readonly string[]): Promise<StoredEvent[]>;
	/** The event with this commit sequence. */
	at(seq: number): Promise<StoredEvent | undefined>;
	/** The commit sequence of the last event ever stored, even if it was erased; 0 when there was none. */
	lastSeq(): Promise<number>;
	/**
	 * The lowest and the highest commit sequence of the events created from `since` to `until` (both inclusive); null when
	 * there are none. If the clock was set back, events of other times lie between them.
	 */
	range(since: number, until: number): Promise<{ first: number; last: number } | null>;
	/** Whether `erase_events` would erase any. */
	hasExpired(before: number): Promise<boolean>;
}

/** Pending deliveries of an endpoint that are due. Times that only a clock set back later can have written count as due. */
export interface DueDeliveries {
	/** Tried before, in the order in which they are due. */
	retries: Records['deliveries'][];
	/** In the order of their events. */
	firstAttempts: Records['deliveries'][];
}

/** An endpoint with pending deliveries, and when the first of them is due (ms since the epoch; 0: it was never tried). */
export interface WebhookWithPendingDeliveries {
	id: string;
	due_at: number;
}

/** Ids of endpoints whose deliveries no longer fit their state. */
export interface WebhooksNeedingCleanup {
	/** Disabled endpoints that still have pending deliveries. */
	disabled: string[];
	/** Deleted endpoints that still have deliveries. */
	deleted: string[];
}

/** Queries about deliveries to webhook endpoints. */
export interface DeliveriesReader {
	/** At most `limit` retries and `limit` first attempts of an endpoint. */
	due(webhookId: string, now: number, limit: number): Promise<DueDeliveries>;
	/** The first due deliveries of an endpoint whose ordering key is none of these, looked for among the first few thousand. */
	dueExcept(
		webhookId: string,
		now: number,
		excludedOrderingKeys: readonly string[],
		limit: number,
	): Promise<Records['deliveries'][]>;
	/** When the next pending delivery of an endpoint is due after this time; null when none is pending. */
	nextDueAfter(webhookId: string, after: number): Promise<number | null>;
	/** Endpoints with pending deliveries, of one workspace or (null) of all. */
	webhooksWithPending(workspaceId: string | null): Promise<WebhookWithPendingDeliveries[]>;
	webhooksNeedingCleanup(): Promise<WebhooksNeedingCleanup>;
	/** The time of the first failed attempt since an endpoint's last success; null when the last attempt succeeded, or there was none. */
	failingSince(webhookId: string): Promise<number | null>;
}

/** A sum of a figure in one hour or day. */
export interface FigureSum {
	/** The beginning of the hour or day (ms since the epoch, UTC). */
	start: number;
	figure: string;
	/** What it is about: a model, a document, a slot of a histogram. */
	key: string;
	value: number;
}

/** Which figures are summed. */
export interface FigureQuery {
	workspaceId: string;
	series: 'hour' | 'day' | 'document';
	/** Beginnings of hours or days (ms since the epoch). */
	from: number;
	to: number;
	deploymentId?: string | undefined;
	assistantId?: string | undefined;
}

/** A question whose reply says that there is no answer. */
export interface UnansweredQuestion {
	/** The id of that reply. */
	message_id: string;
	workspace_id: string;
	conversation_id: string;
	assistant_id: string;
	question: string;
	asked_at: number;
}

/** A group of such questions with its sums. */
export interface UnansweredGroup {
	id: string;
	count: number;
	first_at: number;
	last_at: number;
}

/** Which groups of questions are read. */
export interface UnansweredGroupQuery {
	workspaceId: string;
	status: Records['question_groups']['status'];
	/** Only questions to this assistant. */
	assistantId?: string | undefined;
	/** The group before the first of the page. */
	after?: Pick<UnansweredGroup, 'id' | 'count' | 'last_at'> | undefined;
	limit: number;
}

/** Queries about statistics. Long ones yield to the event loop between steps. */
export interface StatisticsReader {
	/** The commit sequence of the last event that was counted. */
	position(): Promise<number>;
	/** The sums of the figures, by hour or day, figure and key. */
	figures(query: FigureQuery): AsyncIterable<FigureSum[]>;
	/** Indexed documents of a knowledge base, the oldest first, with whether a reply has ever cited them. */
	citedDocuments(
		knowledgeBaseId: string,
		after: ListPosition | undefined,
		limit: number,
	): Promise<Array<Pick<Records['documents'], 'id' | 'title' | 'created_at'> & { isCited: boolean }>>;
	/** Questions that are in no group yet, the oldest first. */
	ungrouped(limit: number): Promise<UnansweredQuestion[]>;
	/** The terms of the first question of each group that new questions may join. */
	groupTerms(workspaceId: string): Promise<Array<{ group_id: string; terms: string[] }>>;
	/** A group; undefined if it has no question. */
	unansweredGroup(groupId: string): Promise<UnansweredGroup | undefined>;
	/** The groups with a status with the most questions, then those with the latest question. */
	unansweredGroups(query: UnansweredGroupQuery): Promise<UnansweredGroup[]>;
	/** The newest questions of a group. */
	questionsOf(groupId: string, limit: number): Promise<UnansweredQuestion[]>;
}

/** Queries about costs. */
export interface SpendingReader {
	/** What is reserved for a reply; null where nothing is. */
	reservedFor(messageId: string): Promise<Reserved | null>;
	hasReservations(): Promise<boolean>;
	/** The sums of an account in a range of days (both inclusive). */
	sumsOf(
		workspaceId: string,
		dimension: SpendingDimension,
		account: string,
		from: number,
		to: number,
	): Promise<SpendingSums>;
	/** Days, the latest first, or accounts, those with the highest costs first. */
	list(query: SpendingQuery): Promise<SpendingSum[]>;
}

/** A response stored under an idempotency key. */
export interface StoredAnswer {
	scope: string;
	key: string;
	/** Null while the response is pending. */
	status: number | null;
	body: string | null;
	expires_at: number;
}

/** Queries about what is stored with the conversations of an end user. */
export interface EndUsersReader {
	/** Events about a conversation and of its stream, after a commit sequence, in order. */
	eventsAbout(conversationId: string, seq: number, limit: number): Promise<StoredEvent[]>;
	/** The deliveries of an event: at most one for each endpoint. */
	deliveriesOf(eventSeq: number): Promise<Records['deliveries'][]>;
	/** Stored responses that show a conversation, after a key, in the order of their keys. */
	answersAbout(
		conversationId: string,
		after: Pick<StoredAnswer, 'scope' | 'key'>,
		limit: number,
	): Promise<StoredAnswer[]>;
	/** Its questions without an answer in the statistics. A workspace keeps 2,000. */
	questionsIn(conversationId: string): Promise<UnansweredQuestion[]>;
	/** The sums of a visitor's costs, by day: at most one for each of the 62 days that they are kept, and the day of their removal. */
	costsOf(workspaceId: string, visitorId: string): Promise<SpendingDay[]>;
}

/** Everything that reads, one reader for each aggregate. Readers see only what is on disk. */
export interface Readers extends RecordsReader {
	readonly assistants: AssistantsReader;
	readonly conversations: ConversationsReader;
	readonly access: AccessReader;
	readonly idempotency: IdempotencyReader;
	readonly documents: DocumentsReader;
	readonly sources: SourcesReader;
	readonly searchIndex: SearchIndexReader;
	readonly events: EventsReader;
	readonly deliveries: DeliveriesReader;
	readonly endUsers: EndUsersReader;
	readonly inbox: InboxReader;
	readonly statistics: StatisticsReader;
	readonly spending: SpendingReader;
}
