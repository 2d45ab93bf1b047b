import { AppError, type Clock, newId, timestamp, timestampOrNull } from '../base/index.ts';
import type { Document } from '../contract/index.ts';
import {
	type Commit,
	type DocumentRecord,
	decideAndCommit,
	expectVersion,
	type IdempotencyRecord,
	type IncomingBlob,
	type KnowledgeBaseRecord,
	requireVersion,
	type Store,
} from '../store/index.ts';
import { paginate } from './paginate.ts';
import { countsOf, isPending, moveCounts, removeFromIndex } from './status.ts';

/** A document as the API shows it. */
export function presentDocument(record: DocumentRecord): Document {
	return {
		id: record.id,
		knowledge_base_id: record.knowledge_base_id,
		// Until it is processed, what it calls itself is not known.
		title: record.title || record.file_name || record.url || 'Untitled',
		source_type: record.source_type,
		url: record.url,
		file_name: record.file_name,
		content_type: record.content_type,
		size_bytes: record.size_bytes,
		status: record.status,
		error: record.error,
		chunk_count: record.chunk_count,
		page_count: record.page_count,
		language: record.language,
		created_at: timestamp(record.created_at),
		updated_at: timestamp(record.updated_at),
		indexed_at: timestampOrNull(record.indexed_at),
	};
}

/** What is known of a document when it is added. */
export interface NewDocument {
	source_type: Document['source_type'];
	/** Absent: the file's name, or what the file or page calls itself. */
	title?: string | undefined;
	url?: string | undefined;
	file_name?: string | null | undefined;
	content_type?: string | null | undefined;
}

/** The answer that repeats shall get, made of the document as it was stored. */
export type ReceiptFactory = (document: DocumentRecord) => IdempotencyRecord | undefined;

/** The kind of job that turns a queued document into an indexed one. */
export const INGEST = 'ingest';

/** Files that are removed side by side. */
const MAX_CONCURRENT_REMOVALS = 8;

export interface DocumentsDependencies {
	store: Store;
	clock: Clock;
	/** Called when the bytes of a document begin to arrive. */
	onExpected(): void;
	/** Called when there is something to ingest. */
	onQueued(): void;
}

/** The life of documents up to the queue and out of the index again. What happens in between is `ingest/`. */
export class Documents {
	readonly #store: Store;
	readonly #clock: Clock;
	readonly #onExpected: () => void;
	readonly #onQueued: () => void;

	constructor({ store, clock, onExpected, onQueued }: DocumentsDependencies) {
		this.#store = store;
		this.#clock = clock;
		this.#onExpected = onExpected;
		this.#onQueued = onQueued;
	}

	/** Says that the bytes of a document begin to arrive. */
	expectOne(): void {
		this.#onExpected();
	}

	/** Queues a document whose bytes are here already. The bytes are kept in the same breath, or discarded on failure. */
	async addBlob(
		knowledgeBase: KnowledgeBaseRecord,
		document: NewDocument,
		blob: IncomingBlob,
		receipt?: ReceiptFactory,
	): Promise<DocumentRecord> {
		const record = { ...newRecord(knowledgeBase, document), blob: blob.hash, size_bytes: blob.size };
		try {
			return await this.#store.blobs.exclusive(blob.hash, async () => {
				await blob.persist();
				return this.#add(knowledgeBase, record, receipt);
			});
		} catch (error) {
			await this.removeUnusedBlob(blob.hash);
			throw error;
		}
	}

	/** Queues a document that is fetched from its URL when its turn comes. */
	async addUrl(
		knowledgeBase: KnowledgeBaseRecord,
		document: NewDocument,
		receipt?: ReceiptFactory,
	): Promise<DocumentRecord> {
		return this.#add(knowledgeBase, newRecord(knowledgeBase, document), receipt);
	}

	/**
	 * Takes a document out of the index and forgets it, whatever state it is in.
	 * @param versions those that the client would remove; null: any
	 */
	async remove(knowledgeBaseId: string, documentId: string, versions: readonly number[] | null): Promise<void> {
		const removed = await decideAndCommit(this.#store, async () => {
			const [knowledgeBase, document] = await this.#documentInBase(knowledgeBaseId, documentId);
			requireVersion(document, versions);
			const { pending, failed } = countsOf(document);
			const counts = moveCounts(knowledgeBase, { total: -1, pending: -pending, failed: -failed }, this.#clock.now());
			const commit: Commit = {
				expect: [expectVersion('knowledge_bases', knowledgeBase), expectVersion('documents', document)],
				write: [
					counts.write,
					{ op: 'remove', kind: 'documents', id: document.id },
					...removeFromIndex(knowledgeBase, document.id),
				],
				events: counts.events,
				jobs: [{ op: 'settle_all', ref: document.id }],
			};
			return { commit, result: document };
		});
		if (removed.blob) await this.removeUnusedBlob(removed.blob);
	}

	/** Processes a document again from its stored bytes (a URL is fetched anew). */
	async retry(knowledgeBaseId: string, documentId: string, receipt?: ReceiptFactory): Promise<DocumentRecord> {
		let formerBlob: string | null = null;
		const record = await decideAndCommit(this.#store, async () => {
			const [knowledgeBase, document] = await this.#documentInBase(knowledgeBaseId, documentId);
			// One that waits for something waits no longer.
			if (isPending(document)) {
				return { commit: { jobs: [{ op: 'hasten', kind: INGEST, ref: document.id }] }, result: document };
			}
			const now = this.#clock.now();
			const set = {
				status: 'queued' as const,
				error: null,
				attempts: 0,
				updated_at: now,
				...(document.source_type === 'url' ? { blob: null } : {}),
			};
			const counts = moveCounts(knowledgeBase, { pending: 1, failed: -countsOf(document).failed }, now);
			const commit: Commit = {
				expect: [expectVersion('knowledge_bases', knowledgeBase), expectVersion('documents', document)],
				write: [counts.write, { op: 'patch', kind: 'documents', id: document.id, set }],
				events: counts.events,
				jobs: [ingestJob(document.id, knowledgeBaseId)],
			};
			formerBlob = document.blob;
			const queued = { ...document, ...set, version: document.version + 1 };
			commit.idempotency = receipt?.(queued);
			return { commit, result: queued };
		});
		this.#onQueued();
		if (formerBlob && formerBlob !== record.blob) await this.removeUnusedBlob(formerBlob);
		return record;
	}

	/** Where the bytes of a knowledge base's documents are. */
	async blobsOf(knowledgeBaseId: string): Promise<Set<string>> {
		const blobs = new Set<string>();
		const documents = paginate(
			(after, limit) => this.#store.documents.blobsOf(knowledgeBaseId, after, limit),
			(document) => document,
		);
		for await (const { blob } of documents) if (blob) blobs.add(blob);
		return blobs;
	}

	/** Deletes what a crash between keeping bytes and committing their document left behind. */
	async removeOrphanedBlobs(): Promise<void> {
		for await (const hash of this.#store.blobs.list()) await this.removeUnusedBlob(hash);
	}

	/** Deletes those of these bytes that no document refers to any more. */
	async removeUnusedBlobs(hashes: Iterable<string>): Promise<void> {
		const rest = hashes[Symbol.iterator]();
		const removeRest = async () => {
			for (let next = rest.next(); !next.done; next = rest.next()) await this.removeUnusedBlob(next.value);
		};
		await Promise.all(Array.from({ length: MAX_CONCURRENT_REMOVALS }, removeRest));
	}

	/** Deletes bytes that no document refers to any more. */
	async removeUnusedBlob(hash: string): Promise<void> {
		await this.#store.blobs.exclusive(hash, async () => {
			if (!(await this.#store.documents.isBlobInUse(hash))) await this.#store.blobs.remove(hash);
		});
	}

	async #add(
		target: KnowledgeBaseRecord,
		draft: Omit<DocumentRecord, 'version' | 'created_at' | 'updated_at'>,
		receipt?: ReceiptFactory,
	) {
		const record = await decideAndCommit(this.#store, async () => {
			const knowledgeBase = await this.#store.get('knowledge_bases', target.id);
			if (!knowledgeBase) throw new AppError('not_found', 'The knowledge base does not exist.');
			const now = this.#clock.now();
			const added: DocumentRecord = { ...draft, version: 1, created_at: now, updated_at: now };
			const counts = moveCounts(knowledgeBase, { total: 1, pending: 1 }, now);
			return {
				commit: {
					expect: [expectVersion('knowledge_bases', knowledgeBase)],
					write: [{ op: 'insert', kind: 'documents', record: added }, counts.write],
					events: counts.events,
					jobs: [ingestJob(added.id, knowledgeBase.id)],
					idempotency: receipt?.(added),
				},
				result: added,
			};
		});
		this.#onQueued();
		return record;
	}

	async #documentInBase(knowledgeBaseId: string, documentId: string): Promise<[KnowledgeBaseRecord, DocumentRecord]> {
		const knowledgeBase = await this.#store.get('knowledge_bases', knowledgeBaseId);
		const document = await this.#store.get('documents', documentId);
		if (!knowledgeBase || document?.knowledge_base_id !== knowledgeBaseId) throw new AppError('not_found');
		return [knowledgeBase, document];
	}
}

/** Not the present time: a clock that is set back must not make a document wait. */
const DUE_NOW = 0;

function ingestJob(documentId: string, knowledgeBaseId: string) {
	const job = { id: newId('job'), kind: INGEST, ref: documentId, group: knowledgeBaseId, due_at: DUE_NOW };
	return { op: 'enqueue', job } as const;
}

function newRecord(
	knowledgeBase: KnowledgeBaseRecord,
	{ source_type, title, url, file_name, content_type }: NewDocument,
): Omit<DocumentRecord, 'version' | 'created_at' | 'updated_at'> {
	return {
		id: newId('document'),
		workspace_id: knowledgeBase.workspace_id,
		knowledge_base_id: knowledgeBase.id,
		title: title ?? '',
		source_type,
		url: url ?? null,
		file_name: file_name ?? null,
		content_type: content_type ?? null,
		size_bytes: null,
		blob: null,
		status: 'queued',
		error: null,
		attempts: 0,
		chunk_count: 0,
		page_count: null,
		language: null,
		indexed_at: null,
	};
}
