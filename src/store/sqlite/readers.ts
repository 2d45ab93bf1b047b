import { setImmediate as yieldToEventLoop } from 'node:timers/promises';
import type { Database, Statement } from 'better-sqlite3';
import { LruCache } from '../../base/index.ts';
import type { PendingReply, StoredEvent, StoredResponse } from '../commit.ts';
import type { Kind, Records } from '../records.ts';
import type {
	DocumentCoverage,
	Generation,
	OpenedBasis,
	StoredChunk,
	StoredTerms,
	StoredText,
} from '../search-index.ts';
import type {
	DocumentBlob,
	DueDeliveries,
	IdleConversation,
	ListPosition,
	ListQuery,
	Readers,
	TranscriptMessage,
	WebhooksNeedingCleanup,
	WebhookWithPendingDeliveries,
} from '../store.ts';
import { hasUnerasedRows } from './conversation-erasure.ts';
import {
	dueDeliveries,
	dueDeliveriesExcept,
	eventAt,
	eventsBetween,
	nextDueAfter,
	typesOfDeliveries,
	webhooksNeedingCleanup,
	webhooksWithPendingDeliveries,
} from './deliveries.ts';
import { ExpiredEventScanner } from './expired-events.ts';
import {
	coverageOf,
	generationOf,
	openedBasisOf,
	sampleOf,
	servingChunksOf,
	servingGenerationOf,
	termsAfter,
	textsAfter,
} from './search-index.ts';
import { columnsOf, decodeRow, encodeColumn } from './tables.ts';

/** Prepared statements are few: their texts differ only by kind and by which filters are there. */
const MAX_STATEMENTS = 500;

/** The position before every item of a list in order of creation. */
const LIST_START: ListPosition = { at: 0, id: '' };

/**
 * The same query for each of several values, as one that ends in an order which an index has for each of them: SQLite merges
 * them as it reads (`MERGE (UNION ALL)` in its plan), and reads no more than is asked for. Of `IN` it would sort everything.
 */
function unionAll(sql: string, count: number): string {
	return Array.from({ length: count }, () => sql).join(' UNION ALL ');
}

/** SQL: a stored answer is sealed. Others are JSON, which begins with no such letter. */
export const IS_SEALED = "body GLOB 'v1.*'";

/** A response is complete (`status`, `body`) or pending (JSON of a `PendingReply`); the table checks that it is one of them. */
type StoredResponseRow = { body_hash: string } & (
	| { status: number; body: string; pending: null }
	| { status: null; body: null; pending: string }
);

/** What is stored under an idempotency key, read on either connection; `expired`: also where its time is over. */
export function storedResponse(
	prepare: (sql: string) => Statement,
	scope: string,
	key: string,
	expired: boolean,
): StoredResponse | undefined {
	const sql = 'SELECT body_hash, status, body, pending FROM idempotency WHERE scope = ? AND key = ? AND expires_at > ?';
	const row = prepare(sql).get(scope, key, expired ? 0 : Date.now()) as StoredResponseRow | undefined;
	if (row === undefined) return undefined;
	const { body_hash, status, body, pending } = row;
	return pending === null ? { body_hash, status, body } : { body_hash, pending: JSON.parse(pending) as PendingReply };
}

/** Point reads and short lists, from prepared statements on a read-only connection. */
export class SqliteReaders implements Readers {
	readonly #db: Database;
	readonly #statements = new LruCache<string, Statement>(MAX_STATEMENTS);
	readonly #expiredEvents = new ExpiredEventScanner();

	constructor(db: Database) {
		this.#db = db;
	}

	async get<K extends Kind>(kind: K, id: string): Promise<Records[K] | undefined> {
		const row = this.#prepare(`SELECT ${columnsOf(kind)} FROM ${kind} WHERE id = ?`).get(id);
		return row === undefined ? undefined : decodeRow(kind, row);
	}

	async list<K extends Kind>(kind: K, query: ListQuery<K>): Promise<Records[K][]> {
		const orderColumn = kind === 'messages' ? 'seq' : 'created_at';
		const conditions: string[] = [];
		const values: unknown[] = [];
		for (const [field, value] of Object.entries(query.where)) {
			if (value === undefined) continue;
			// IS is = that also finds null.
			conditions.push(`${field} IS ?`);
			values.push(encodeColumn(kind, field, value));
		}
		if (query.createdAfter !== undefined) {
			conditions.push('created_at > ?');
			values.push(query.createdAfter);
		}
		if (query.createdBefore !== undefined) {
			conditions.push('created_at < ?');
			values.push(query.createdBefore);
		}
		if (query.after) {
			conditions.push(`(${orderColumn}, id) ${query.order === 'asc' ? '>' : '<'} (?, ?)`);
			values.push(query.after.at, query.after.id);
		}
		const types = kind === 'deliveries' ? this.#typesToMerge(query.where) : null;
		if (types?.length === 0) return [];
		if (types) conditions.push('event_type = ?');
		const sql = `SELECT ${columnsOf(kind)} FROM ${kind} ${conditions.length ? `WHERE ${conditions.join(' AND ')}` : ''}`;
		const rows = this.#prepare(
			`${unionAll(sql, types?.length ?? 1)} ORDER BY ${orderColumn} ${query.order}, id ${query.order} LIMIT ?`,
		).all(...(types?.flatMap((type) => [...values, type]) ?? values), query.limit);
		return rows.map((row) => decodeRow(kind, row));
	}

	async messagesBefore(conversationId: string, seq: number, limit: number): Promise<TranscriptMessage[]> {
		// What their tools gave may be a thousand times as long as what was said: it is not even read.
		const rows = this.#prepare(
			`SELECT seq, role, content, status FROM messages WHERE conversation_id = ? AND seq < ? ORDER BY seq DESC LIMIT ?`,
		).all(conversationId, seq, limit);
		return (rows as TranscriptMessage[]).reverse();
	}

	async unfinishedReplies(): Promise<Records['messages'][]> {
		// By name: the index of all messages has the order already, this one only the few that are wanted.
		const rows = this.#prepare(
			`SELECT ${columnsOf('messages')} FROM messages INDEXED BY messages_unfinished
			 WHERE status = 'in_progress' ORDER BY id`,
		).all();
		return rows.map((row) => decodeRow('messages', row));
	}

	async unfinishedReply(conversationId: string): Promise<Records['messages'] | undefined> {
		// By name: this index holds the few replies that are being written, the other one all messages of the conversation.
		const row = this.#prepare(
			`SELECT ${columnsOf('messages')} FROM messages INDEXED BY messages_unfinished
			 WHERE status = 'in_progress' AND conversation_id = ? LIMIT 1`,
		).get(conversationId);
		return row === undefined ? undefined : decodeRow('messages', row);
	}

	async idleConversations(
		workspaceId: string,
		before: number,
		after: ListPosition | undefined,
		limit: number,
	): Promise<IdleConversation[]> {
		const { at, id } = after ?? LIST_START;
		// A reply that is being written is the last message, but where an earlier one is written anew.
		return this.#prepare(
			`SELECT id, coalesce(last_message_at, created_at) AS at, message_count FROM conversations
			 WHERE workspace_id = ? AND coalesce(last_message_at, created_at) < ?
			 AND (coalesce(last_message_at, created_at), id) > (?, ?)
			 AND NOT EXISTS (
				SELECT 1 FROM messages INDEXED BY messages_in_order
				WHERE conversation_id = conversations.id AND seq = conversations.message_count AND status = 'in_progress'
			 )
			 ORDER BY coalesce(last_message_at, created_at), id LIMIT ?`,
		).all(workspaceId, before, at, id, limit) as IdleConversation[];
	}

	async hasUnerasedRows(conversationId: string): Promise<boolean> {
		return hasUnerasedRows((sql) => this.#prepare(sql), conversationId);
	}

	async assistantsWithKnowledgeBase(workspaceId: string, knowledgeBaseId: string): Promise<Records['assistants'][]> {
		const rows = this.#prepare(
			`SELECT ${columnsOf('assistants')} FROM assistants WHERE workspace_id = ?
			 AND EXISTS (SELECT 1 FROM json_each(knowledge_base_ids) WHERE value = ?)`,
		).all(workspaceId, knowledgeBaseId);
		return rows.map((row) => decodeRow('assistants', row));
	}

	async apiKeyByHash(hash: string): Promise<Records['api_keys'] | undefined> {
		const row = this.#prepare(`SELECT ${columnsOf('api_keys')} FROM api_keys WHERE hash = ?`).get(hash);
		return row === undefined ? undefined : decodeRow('api_keys', row);
	}

	async sessionByHash(hash: string): Promise<Records['sessions'] | undefined> {
		const row = this.#prepare(`SELECT ${columnsOf('sessions')} FROM sessions WHERE hash = ?`).get(hash);
		return row === undefined ? undefined : decodeRow('sessions', row);
	}

	async userByPasswordLink(hash: string): Promise<Records['users'] | undefined> {
		const row = this.#prepare(`SELECT ${columnsOf('users')} FROM users WHERE password_link_hash = ?`).get(hash);
		return row === undefined ? undefined : decodeRow('users', row);
	}

	async hasExpiredRecords(before: number): Promise<boolean> {
		const found = this.#prepare(
			`SELECT EXISTS (SELECT 1 FROM idempotency WHERE expires_at <= @before)
			 OR EXISTS (SELECT 1 FROM sessions WHERE expires_at <= @before) AS found`,
		).get({ before }) as { found: number };
		return found.found === 1;
	}

	async isBlobInUse(blob: string): Promise<boolean> {
		return this.#prepare('SELECT 1 FROM documents WHERE blob = ? LIMIT 1').get(blob) !== undefined;
	}

	async blobsOf(knowledgeBaseId: string, after: ListPosition | undefined, limit: number): Promise<DocumentBlob[]> {
		const { at, id } = after ?? LIST_START;
		return this.#prepare(
			`SELECT id, created_at, blob FROM documents WHERE knowledge_base_id = ? AND (created_at, id) > (?, ?)
			 ORDER BY created_at, id LIMIT ?`,
		).all(knowledgeBaseId, at, id, limit) as DocumentBlob[];
	}

	async indexedDuplicate({
		id,
		knowledge_base_id,
		blob,
		file_name,
		title,
	}: Records['documents']): Promise<Records['documents'] | undefined> {
		const row = this.#prepare(
			`SELECT ${columnsOf('documents')} FROM documents
			 WHERE blob = ? AND knowledge_base_id = ? AND status = 'indexed' AND id <> ?
			 AND file_name IS ? AND (title = ? OR ? = '') LIMIT 1`,
		).get(blob, knowledge_base_id, id, file_name, title, title);
		return row === undefined ? undefined : decodeRow('documents', row);
	}

	async assistantsWithTool(workspaceId: string, toolId: string): Promise<Records['assistants'][]> {
		const rows = this.#prepare(
			`SELECT ${columnsOf('assistants')} FROM assistants WHERE workspace_id = ?
			 AND EXISTS (SELECT 1 FROM json_each(tool_ids) WHERE value = ?)`,
		).all(workspaceId, toolId);
		return rows.map((row) => decodeRow('assistants', row));
	}

	async planUsage(workspaceId: string): Promise<{ assistants: number; tool_attachments: number }> {
		return this.#prepare(
			`SELECT count(*) AS assistants, coalesce(sum(json_array_length(tool_ids)), 0) AS tool_attachments
			 FROM assistants WHERE workspace_id = ? AND status = 'active'`,
		).get(workspaceId) as { assistants: number; tool_attachments: number };
	}

	async storedResponse(scope: string, key: string, expired = false): Promise<StoredResponse | undefined> {
		return storedResponse((sql) => this.#prepare(sql), scope, key, expired);
	}

	async hasSealedResponses(): Promise<boolean> {
		const sql = `SELECT EXISTS (SELECT 1 FROM idempotency WHERE ${IS_SEALED})`;
		return this.#prepare(sql).pluck().get() === 1;
	}

	async events(stream: string, after: number, limit: number, types: readonly string[] = []): Promise<StoredEvent[]> {
		const ofType = types.length === 0 ? '' : ' AND type = ?';
		const sql = `SELECT seq, id, stream, type, data, created_at FROM events WHERE stream = ? AND seq > ?${ofType}`;
		const values = types.length === 0 ? [stream, after] : types.flatMap((type) => [stream, after, type]);
		const rows = this.#prepare(`${unionAll(sql, Math.max(1, types.length))} ORDER BY seq LIMIT ?`).all(
			...values,
			limit,
		) as Array<StoredEvent & { data: string }>;
		return rows.map((row) => ({ ...row, data: JSON.parse(row.data) }));
	}

	async event(seq: number): Promise<StoredEvent | undefined> {
		return eventAt((sql) => this.#prepare(sql), seq);
	}

	async hasExpiredEvents(before: number): Promise<boolean> {
		for (;;) {
			const { seqs, isEnd } = this.#expiredEvents.find((sql) => this.#prepare(sql), before, 1);
			if (seqs.length > 0) return true;
			if (isEnd) return false;
			await yieldToEventLoop();
		}
	}

	async eventRange(since: number, until: number): Promise<{ first: number; last: number } | null> {
		const steps = eventsBetween((sql) => this.#prepare(sql), since, until);
		for (;;) {
			const { done, value } = steps.next();
			if (done) return value;
			await yieldToEventLoop();
		}
	}

	async dueDeliveries(webhookId: string, now: number, limit: number): Promise<DueDeliveries> {
		return dueDeliveries((sql) => this.#prepare(sql), webhookId, now, limit);
	}

	async dueDeliveriesExcept(
		webhookId: string,
		now: number,
		likenesses: readonly string[],
		limit: number,
	): Promise<Records['deliveries'][]> {
		return dueDeliveriesExcept((sql) => this.#prepare(sql), webhookId, now, likenesses, limit);
	}

	async nextDueAfter(webhookId: string, after: number): Promise<number | null> {
		return nextDueAfter((sql) => this.#prepare(sql), webhookId, after);
	}

	async webhooksWithPendingDeliveries(workspaceId: string | null): Promise<WebhookWithPendingDeliveries[]> {
		return webhooksWithPendingDeliveries((sql) => this.#prepare(sql), workspaceId);
	}

	async webhooksNeedingCleanup(): Promise<WebhooksNeedingCleanup> {
		return webhooksNeedingCleanup((sql) => this.#prepare(sql));
	}

	async failingSince(webhookId: string): Promise<number | null> {
		const row = this.#prepare('SELECT since FROM webhook_failures WHERE webhook_id = ?').get(webhookId);
		return (row as { since: number } | undefined)?.since ?? null;
	}

	async lastEventSeq(): Promise<number> {
		// The table's own count: it goes on where events are erased.
		const row = this.#prepare("SELECT seq FROM sqlite_sequence WHERE name = 'events'").get();
		return (row as { seq: number } | undefined)?.seq ?? 0;
	}

	async closingEventSeq(conversationId: string, messageId: string): Promise<number | undefined> {
		const row = this.#prepare(
			`SELECT seq FROM events WHERE stream = ? AND type IN ('message.completed', 'message.failed')
			 AND data ->> 'message_id' = ? ORDER BY seq DESC LIMIT 1`,
		).get(conversationId, messageId) as { seq: number } | undefined;
		return row?.seq;
	}

	async generation(id: string): Promise<Generation | undefined> {
		return generationOf(this.#db, id);
	}

	async servingGeneration(knowledgeBaseId: string): Promise<Generation | undefined> {
		return servingGenerationOf(this.#db, knowledgeBaseId);
	}

	async coverage(
		knowledgeBaseId: string,
		generation: string,
		after: ListPosition | undefined,
		limit: number,
	): Promise<DocumentCoverage[]> {
		return coverageOf(this.#db, knowledgeBaseId, generation, after, limit);
	}

	async termsAfter(generation: string, chunkId: number, limit: number): Promise<StoredTerms[]> {
		return termsAfter(this.#db, generation, chunkId, limit);
	}

	async openedBasis(generation: string): Promise<OpenedBasis | undefined> {
		return openedBasisOf(this.#db, generation);
	}

	async sampleOf(basis: string): Promise<Int8Array | undefined> {
		return sampleOf(this.#db, basis);
	}

	async textsAfter(generation: string, chunkId: number, limit: number): Promise<StoredText[]> {
		return textsAfter(this.#db, generation, chunkId, limit);
	}

	async servingChunks(
		knowledgeBaseId: string,
		documentId: string,
		after: number,
		limit: number,
	): Promise<StoredChunk[]> {
		return servingChunksOf(this.#db, knowledgeBaseId, documentId, after, limit);
	}

	/** Where deliveries are listed by their status alone: their types, which stand between status and order in the index. */
	#typesToMerge({ webhook_id, status, event_type }: Partial<Records['deliveries']>): string[] | null {
		if (webhook_id === undefined || status === undefined || event_type !== undefined) return null;
		return typesOfDeliveries((sql) => this.#prepare(sql), webhook_id, status);
	}

	#prepare(sql: string): Statement {
		let statement = this.#statements.get(sql);
		if (!statement) {
			statement = this.#db.prepare(sql);
			this.#statements.set(sql, statement);
		}
		return statement;
	}
}
