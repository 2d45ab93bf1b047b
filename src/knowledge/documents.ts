import { AppError, type Clock, type Log, timestamp, timestampOrNull } from '../base/index.ts';
import type { Document } from '../contract/index.ts';
import {
	aroundCommit,
	type Commit,
	type DocumentRecord,
	expectVersion,
	type IncomingBlob,
	type KnowledgeBaseRecord,
	prepareChange,
	requireVersion,
	type Store,
	type UncommittedChange,
} from '../store/index.ts';
import { INGEST, ingestJob, type NewDocument, newRecord, RECOGNISE, removalOf } from './document-changes.ts';
import { paginate } from './paginate.ts';
import { countsOf, isPending, moveCounts } from './status.ts';
import { UnusedBlobs } from './unused-blobs.ts';

/** A document as the API shows it. */
export function presentDocument(record: DocumentRecord): Document {
	return {
		id: record.id,
		knowledge_base_id: record.knowledge_base_id,
		// The document's own title is known only after processing.
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
		source_id: record.source_id,
	};
}

export interface DocumentsDependencies {
	store: Store;
	clock: Clock;
	log: Log;
	/** Called when the bytes of a document begin to arrive. */
	onExpected(): void;
	/** Called when there is something to ingest. */
	onQueued(): void;
}

/** Adds documents to the queue and removes them from the index. `ingest/` does what lies between. */
export class Documents implements Disposable {
	readonly #store: Store;
	readonly #clock: Clock;
	readonly #onExpected: () => void;
	readonly #onQueued: () => void;
	readonly #unusedBlobs: UnusedBlobs;

	constructor({ store, clock, log, onExpected, onQueued }: DocumentsDependencies) {
		this.#store = store;
		this.#unusedBlobs = new UnusedBlobs({ store, log });
		this.#clock = clock;
		this.#onExpected = onExpected;
		this.#onQueued = onQueued;
	}

	/** Reports that the bytes of a document begin to arrive. */
	expectOne(): void {
		this.#onExpected();
	}

	/** Queues a document whose bytes are stored temporarily. The bytes are kept together with the commit, or discarded on failure. */
	addBlob(
		knowledgeBase: KnowledgeBaseRecord,
		document: NewDocument,
		blob: IncomingBlob,
	): UncommittedChange<DocumentRecord> {
		const record = { ...newRecord(knowledgeBase, document), blob: blob.hash, size_bytes: blob.size };
		return aroundCommit(this.#add(knowledgeBase, record), async (commit) => {
			try {
				return await this.#store.blobs.exclusive(blob.hash, async () => {
					await blob.persist();
					return commit();
				});
			} catch (error) {
				await this.removeUnusedBlob(blob.hash);
				throw error;
			}
		});
	}

	/** Queues a document that its job fetches from its URL. */
	addUrl(knowledgeBase: KnowledgeBaseRecord, document: NewDocument): UncommittedChange<DocumentRecord> {
		return this.#add(knowledgeBase, newRecord(knowledgeBase, document));
	}

	/**
	 * Removes a document and its part of the index, in any state. Runs of its source do not add it again.
	 * @param versions the versions that the client accepts; null accepts any
	 */
	remove(
		knowledgeBaseId: string,
		documentId: string,
		versions: readonly number[] | null,
	): UncommittedChange<DocumentRecord> {
		const change = prepareChange(this.#store, async () => {
			const [knowledgeBase, document] = await this.#documentInBase(knowledgeBaseId, documentId);
			requireVersion(document, versions);
			const now = this.#clock.now();
			const commit = removalOf(knowledgeBase, [document], now);
			// Or the next run of its source would add it again.
			const page = document.source_id === null ? undefined : await this.#store.sources.pageOfDocument(document.id);
			if (page) {
				// Its content stays, or the next run would add a copy of the page.
				const set = { status: 'removed', document_id: null, error: null, blob: null, updated_at: now } as const;
				commit.expect.push(expectVersion('source_pages', page));
				commit.write.push({ op: 'patch', kind: 'source_pages', id: page.id, set });
			}
			return { commit, result: document };
		});
		return aroundCommit(change, async (commit) => {
			const removed = await commit();
			// Its removal may make a training due.
			this.#onQueued();
			if (removed.blob) await this.removeUnusedBlob(removed.blob);
			return removed;
		});
	}

	/** Processes a document again from its stored bytes; a URL is fetched again. */
	retry(knowledgeBaseId: string, documentId: string): UncommittedChange<DocumentRecord> {
		let formerBlob: string | null = null;
		const change = prepareChange(this.#store, async () => {
			const [knowledgeBase, document] = await this.#documentInBase(knowledgeBaseId, documentId);
			// A job that waits for something is due at once.
			if (isPending(document)) {
				const jobs = [INGEST, RECOGNISE].map((kind) => ({ op: 'make_due', kind, ref: document.id }) as const);
				return { commit: { jobs }, result: document };
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
			return { commit, result: { ...document, ...set, version: document.version + 1 } };
		});
		return aroundCommit(change, async (commit) => {
			const record = await commit();
			this.#onQueued();
			if (formerBlob && formerBlob !== record.blob) await this.removeUnusedBlob(formerBlob);
			return record;
		});
	}

	/** The stored files of a knowledge base's documents. */
	async blobsOf(knowledgeBaseId: string): Promise<Set<string>> {
		const blobs = new Set<string>();
		const documents = paginate(
			(after, limit) => this.#store.documents.blobsOf(knowledgeBaseId, after, limit),
			(document) => document,
		);
		for await (const { blob } of documents) if (blob) blobs.add(blob);
		return blobs;
	}

	/** Deletes files without a document, which a crash between keeping the bytes and committing the document leaves. */
	removeOrphanedBlobs(signal: AbortSignal): Promise<void> {
		return this.#unusedBlobs.removeOrphans(signal);
	}

	/** Deletes those of the given files that no document refers to any more. */
	removeUnusedBlobs(hashes: Iterable<string>): Promise<void> {
		return this.#unusedBlobs.removeAll(hashes);
	}

	/** Deletes a file that no document refers to any more. */
	removeUnusedBlob(hash: string): Promise<void> {
		return this.#unusedBlobs.remove(hash);
	}

	/** Ends the removal of files that wait for the end of a backup. The next start removes them. */
	[Symbol.dispose](): void {
		this.#unusedBlobs[Symbol.dispose]();
	}

	#add(
		target: KnowledgeBaseRecord,
		draft: Omit<DocumentRecord, 'version' | 'created_at' | 'updated_at'>,
	): UncommittedChange<DocumentRecord> {
		const change = prepareChange(this.#store, async () => {
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
				},
				result: added,
			};
		});
		return aroundCommit(change, async (commit) => {
			const record = await commit();
			this.#onQueued();
			return record;
		});
	}

	async #documentInBase(knowledgeBaseId: string, documentId: string): Promise<[KnowledgeBaseRecord, DocumentRecord]> {
		const knowledgeBase = await this.#store.get('knowledge_bases', knowledgeBaseId);
		const document = await this.#store.get('documents', documentId);
		if (!knowledgeBase || document?.knowledge_base_id !== knowledgeBaseId) throw new AppError('not_found');
		return [knowledgeBase, document];
	}
}
