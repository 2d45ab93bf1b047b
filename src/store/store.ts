import { AppError, KeyedLock } from '../base/index.ts';
import type { BlobStore } from './blobs.ts';
import type { Commit, CommitOutcome, Expectation, Job, StoredEvent, StoredResponse } from './commit.ts';
import type { Kind, Records } from './records.ts';
import type {
	DocumentCoverage,
	Generation,
	OpenedBasis,
	StoredChunk,
	StoredTerms,
	StoredText,
} from './search-index.ts';

/** Where a page begins: after this item, in the list's order. Messages are placed by `seq`, all else by creation. */
export interface ListPosition {
	at: number;
	id: string;
}

/** A document and where its bytes are. */
export type DocumentBlob = Pick<Records['documents'], 'id' | 'created_at' | 'blob'>;

/** A conversation in which nothing has been said for some time. */
export interface IdleConversation extends ListPosition {
	message_count: number;
}

/** Deliveries of an endpoint that wait and are due, those included whose time only a clock that was set back can have set. */
export interface DueDeliveries {
	/** Tried before, in the order in which they are due. */
	retries: Records['deliveries'][];
	/** In the order of their events. */
	firstAttempts: Records['deliveries'][];
}

/** An endpoint with deliveries that wait, and when the first of them is due (ms since the epoch; 0: what was not tried yet). */
export interface WebhookWithPendingDeliveries {
	id: string;
	due_at: number;
}

/** Endpoints, by id, whose deliveries do not fit their state any more. */
export interface WebhooksNeedingCleanup {
	/** Disabled, and still have deliveries that wait. */
	disabled: string[];
	/** Deleted, and still have deliveries. */
	deleted: string[];
}

/** What was said, without what tools and knowledge bases had to do with it. */
export type TranscriptMessage = Pick<Records['messages'], 'seq' | 'role' | 'content' | 'status'>;

export interface ListQuery<K extends Kind> {
	where: Partial<Records[K]>;
	/** `created_at` strictly after / before (ms). */
	createdAfter?: number | undefined;
	createdBefore?: number | undefined;
	after?: ListPosition | undefined;
	order: 'asc' | 'desc';
	limit: number;
}

/** Everything that reads. Nothing is seen that is not on disk. */
export interface Readers {
	get<K extends Kind>(kind: K, id: string): Promise<Records[K] | undefined>;
	list<K extends Kind>(kind: K, query: ListQuery<K>): Promise<Records[K][]>;
	/** What was said last in a conversation before a place in it, oldest first. */
	messagesBefore(conversationId: string, seq: number, limit: number): Promise<TranscriptMessage[]>;
	/** Replies that a process before this one was writing. */
	unfinishedReplies(): Promise<Records['messages'][]>;
	/** The reply that is being written in a conversation, or was when the process before this one ended. */
	unfinishedReply(conversationId: string): Promise<Records['messages'] | undefined>;
	/**
	 * Conversations of a workspace whose last message (or else their beginning) lies before a time, and in which no reply is
	 * being written; the longest idle first. `at` is the time of that.
	 */
	idleConversations(
		workspaceId: string,
		before: number,
		after: ListPosition | undefined,
		limit: number,
	): Promise<IdleConversation[]>;
	/** Whether anything remains of an erased conversation. */
	hasUnerasedRows(conversationId: string): Promise<boolean>;
	/** Assistants of a workspace that this knowledge base is attached to. */
	assistantsWithKnowledgeBase(workspaceId: string, knowledgeBaseId: string): Promise<Records['assistants'][]>;
	apiKeyByHash(hash: string): Promise<Records['api_keys'] | undefined>;
	sessionByHash(hash: string): Promise<Records['sessions'] | undefined>;
	/** The user whose link for setting a password has this hash. */
	userByPasswordLink(hash: string): Promise<Records['users'] | undefined>;
	/** Whether anything is left that `erase_expired` would erase. */
	hasExpiredRecords(before: number): Promise<boolean>;
	/** Whether any document still needs these bytes. */
	isBlobInUse(blob: string): Promise<boolean>;
	/** Which bytes the documents of a knowledge base need, the oldest document first. */
	blobsOf(knowledgeBaseId: string, after: ListPosition | undefined, limit: number): Promise<DocumentBlob[]>;
	/** Another document of the same knowledge base, indexed from the same bytes under the same name and title. */
	indexedDuplicate(document: Records['documents']): Promise<Records['documents'] | undefined>;
	/** Assistants of a workspace that this tool is attached to. */
	assistantsWithTool(workspaceId: string, toolId: string): Promise<Records['assistants'][]>;
	/** What the workspace's active assistants count against its plan. */
	planUsage(workspaceId: string): Promise<{ assistants: number; tool_attachments: number }>;
	/** What is stored under an idempotency key and not over; `expired`: or is over and was not erased yet. */
	storedResponse(scope: string, key: string, expired?: boolean): Promise<StoredResponse | undefined>;
	/** Whether any stored answer is sealed with the server's secret key. */
	hasSealedResponses(): Promise<boolean>;
	/** Events of a stream after a commit sequence, in order; of these types only, where any are given. */
	events(stream: string, after: number, limit: number, types?: readonly string[]): Promise<StoredEvent[]>;
	/** The event at this place in the log. */
	event(seq: number): Promise<StoredEvent | undefined>;
	/** Whether `erase_events` would erase any. */
	hasExpiredEvents(before: number): Promise<boolean>;
	/**
	 * The first and the last place in the log at which an event of a time stands, both ends included; null where there is
	 * none. Where the clock was set back, events of other times stand between them.
	 */
	eventRange(since: number, until: number): Promise<{ first: number; last: number } | null>;
	/** At most `limit` of each. */
	dueDeliveries(webhookId: string, now: number, limit: number): Promise<DueDeliveries>;
	/**
	 * Of an endpoint's deliveries that are due the first ones that are about none of these subjects (or, with no subject, are of
	 * none of these types); looked for among the first few thousand.
	 */
	dueDeliveriesExcept(
		webhookId: string,
		now: number,
		likenesses: readonly string[],
		limit: number,
	): Promise<Records['deliveries'][]>;
	/** When the next delivery of an endpoint is due after this time; null where none waits. */
	nextDueAfter(webhookId: string, after: number): Promise<number | null>;
	/** Endpoints with deliveries that wait; of one workspace, where it is named. */
	webhooksWithPendingDeliveries(workspaceId: string | null): Promise<WebhookWithPendingDeliveries[]>;
	webhooksNeedingCleanup(): Promise<WebhooksNeedingCleanup>;
	/** Since when every attempt of an endpoint has failed; null where the last one has not, or there was none. */
	failingSince(webhookId: string): Promise<number | null>;
	/** The commit sequence of the last event of all, erased ones included; 0 where there was none. */
	lastEventSeq(): Promise<number>;
	/** The commit sequence of the event with which a message's text closed last; undefined where it did not, or was forgotten. */
	closingEventSeq(conversationId: string, messageId: string): Promise<number | undefined>;
	generation(id: string): Promise<Generation | undefined>;
	/** The generation that serves a knowledge base now. */
	servingGeneration(knowledgeBaseId: string): Promise<Generation | undefined>;
	/** Documents of a knowledge base, the oldest first, beside what a generation that is being built has of them. */
	coverage(
		knowledgeBaseId: string,
		generation: string,
		after: ListPosition | undefined,
		limit: number,
	): Promise<DocumentCoverage[]>;
	/** The terms of a generation's chunks that were stored after this one, in the order in which they were. */
	termsAfter(generation: string, chunkId: number, limit: number): Promise<StoredTerms[]>;
	/** The basis of a generation that was opened last, whether it serves or not. */
	openedBasis(generation: string): Promise<OpenedBasis | undefined>;
	/** The sample that a basis was opened with; undefined where it was opened without, or has gone. */
	sampleOf(basis: string): Promise<Int8Array | undefined>;
	/** What a generation's chunks say that were stored after this one, in the order in which they were. */
	textsAfter(generation: string, chunkId: number, limit: number): Promise<StoredText[]>;
	/** A document's chunks in reading order, after a position in it, in the generation that serves the knowledge base now. */
	servingChunks(knowledgeBaseId: string, documentId: string, after: number, limit: number): Promise<StoredChunk[]>;
}

export interface Jobs {
	/**
	 * Takes due jobs of a kind, fairly across groups, and keeps them from others for `leaseMs`. Jobs that a process before
	 * this one had in hand are free at once.
	 */
	claim(kind: string, limit: number, leaseMs: number): Promise<Job[]>;
}

/** The store as the domain knows it: no SQL, one way to write. */
export interface Store extends Readers, AsyncDisposable {
	/** Resolves once the commit is on disk (or refused). Rejects with `unavailable` when the disk fails. */
	commit(commit: Commit): Promise<CommitOutcome>;
	/** Called with the events of each commit after it is durable, in commit order. Returns the way to end it. */
	onEvents(listener: (events: StoredEvent[]) => void): () => void;
	/** Who owns the store, since when: commits of an owner before it are refused. */
	readonly fence: { owner: string; epoch: number };
	readonly jobs: Jobs;
	readonly blobs: BlobStore;
}

/** A commit carried the answer to a request that was answered before: nothing was written, and this is the answer. */
export class IdempotentReplayError extends Error {
	readonly storedResponse: StoredResponse;

	constructor(stored: StoredResponse) {
		super('The request was answered before.');
		this.name = 'AnsweredBefore';
		this.storedResponse = stored;
	}
}

/**
 * Holds a client's condition on a resource against its version.
 * @param versions those that the client would change; null: any
 * @throws AppError `precondition_failed`
 */
export function requireVersion(record: { version: number }, versions: readonly number[] | null): void {
	if (versions !== null && !versions.includes(record.version)) throw new AppError('precondition_failed');
}

/** The expectation that a record has not changed since it was read. */
export function expectVersion<K extends Kind>(kind: K, { id, version }: { id: string; version: number }): Expectation {
	return { kind, id, version };
}

/** How often a decision is made anew when what it was based on has changed meanwhile. */
const MAX_CONFLICT_RETRIES = 20;

/** Decisions that were overtaken take turns by the record that overtook them: of many at once each is made, and none starves. */
const conflictLocks = new KeyedLock();

/**
 * Decides and commits; where the decision was overtaken by another commit, decides anew from what is there now.
 * @param decide reads, and answers the commit together with what to return once it is durable; or null for nothing to do
 */
export async function decideAndCommit<T>(
	store: Pick<Store, 'commit'>,
	decide: () => Promise<{ commit: Commit | null; result: T }>,
): Promise<T> {
	const tryOnce = async (): Promise<{ result: T } | { overtakenBy: string }> => {
		const { commit, result } = await decide();
		if (commit === null) return { result };
		const outcome = await store.commit(commit);
		if (outcome.outcome === 'committed') return { result };
		if (outcome.outcome === 'conflict') return { overtakenBy: outcome.id };
		if (outcome.outcome === 'replay') throw new IdempotentReplayError(outcome);
		throw new AppError('unavailable', `The change was refused (${outcome.outcome}).`);
	};
	const first = await tryOnce();
	if ('result' in first) return first.result;
	return conflictLocks.run(first.overtakenBy, async () => {
		for (let retries = 1; retries < MAX_CONFLICT_RETRIES; retries++) {
			const next = await tryOnce();
			if ('result' in next) return next.result;
		}
		throw new AppError('unavailable', 'The resource is being changed by too many at once. Try again.', {
			retry_after: 1,
		});
	});
}
