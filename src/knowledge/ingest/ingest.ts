import { AppError, KeyedLock, type Log, shortageOf } from '../../base/index.ts';
import type { ParsedDocument } from '../../contract/index.ts';
import { isRecoverable } from '../../models/index.ts';
import {
	type Commit,
	type DocumentRecord,
	decideAndCommit,
	expectVersion,
	type Job,
	type KnowledgeBaseRecord,
} from '../../store/index.ts';
import { INGEST, type RECOGNISE, recognitionJob } from '../document-changes.ts';
import {
	type EmbeddingDependencies,
	EmbeddingFailure,
	isSuperseded,
	keepPrepared,
	prepareVectors,
} from '../embedding/index.ts';
import { type JobHandler, retryDelay, shortageDelay } from '../job-loop.ts';
import { isPending, problemCommit } from '../status.ts';
import { failDocument, finalReason, publicReason } from './fail-document.ts';
import { type FetchDependencies, fetchDocument } from './fetch-document.ts';
import { titleOf } from './generation-document.ts';
import { copyIndexedDuplicate, type IndexDependencies, indexDocument } from './index-document.ts';
import { parseWithRecognition } from './parse-with-recognition.ts';

export interface IngestDependencies
	extends Omit<IndexDependencies, 'signal'>,
		Pick<EmbeddingDependencies, 'modelIdentity' | 'unsavedVectors'>,
		FetchDependencies {
	store: IndexDependencies['store'];
	/** One lock for each knowledge base, by its id: changes of its index run one at a time, in order. Parsing does not hold it. */
	indexing: KeyedLock;
	log: Log;
	retryMs: number;
}

/**
 * From this claim on a document is parsed alone, because the server's process ended during the earlier claims. Interruptions
 * never fail a document, however many there are. Only a document that ends the parsing process fails.
 */
const ISOLATE_FROM_CLAIM = 3;
/** The earliest time, not the present time: a clock that is set back must not delay a document. */
const DUE_NOW = 0;
/** Shown until the document is indexed: with scans before it that may take hours. */
const WAITS_FOR_RECOGNITION = {
	code: 'unavailable',
	message: 'Its scanned pages wait for text recognition (OCR), which reads one document at a time.',
};
/** Attempts to index a document whose knowledge base gets another index while its vectors are made. */
const MAX_INDEX_ATTEMPTS = 5;

/**
 * Turns queued documents into indexed ones: fetch, parse, chunk, embed, index. Work that the process had not finished
 * when it ended is still queued in the store. The next start claims it again.
 *
 * A document with scanned pages passes to a second job, of the kind `recognise`. Recognising text takes seconds a page, so such
 * documents wait only for each other, and all others never wait for them.
 */
export class Ingest implements JobHandler {
	readonly kind: typeof INGEST | typeof RECOGNISE;
	readonly concurrencyLimit: number;
	readonly leaseMs: number;
	readonly #deps: IngestDependencies;
	readonly #parsing = new KeyedLock();

	constructor(deps: IngestDependencies, kind: typeof INGEST | typeof RECOGNISE = INGEST) {
		this.#deps = deps;
		this.kind = kind;
		this.concurrencyLimit = kind === INGEST ? deps.pool.size + 1 : 1;
		this.leaseMs = kind === INGEST ? 30 * 60_000 : 3 * 3_600_000;
	}

	async perform(job: Job, signal: AbortSignal): Promise<void> {
		const document = await this.#markProcessing(job);
		if (!document) return;
		if (document.blob) {
			await this.#index(job, document, document.blob, signal);
			return;
		}
		const fetched = await fetchDocument(this.#deps, document, signal);
		if (!fetched) return;
		try {
			await this.#index(job, fetched, fetched.blob, signal);
		} finally {
			// The knowledge base was deleted just before these bytes were kept, so its deletion did not remove them.
			await this.#deps.documents.removeUnusedBlob(fetched.blob);
		}
	}

	/**
	 * Counts only the document's own failures, not restarts of the server, shortages of the system or failures of a model
	 * provider.
	 */
	async afterFailure(job: Job, error: unknown, failures: number): Promise<void> {
		const { store, clock, embedders, retryMs } = this.#deps;
		await decideAndCommit(store, async () => {
			const document = await store.get('documents', job.ref);
			const knowledgeBase = document && (await store.get('knowledge_bases', document.knowledge_base_id));
			const complete = { op: 'complete', id: job.id } as const;
			if (!document || !knowledgeBase || !isPending(document))
				return { commit: { jobs: [complete] }, result: undefined };
			if (error instanceof EmbeddingFailure) {
				const serving = await store.searchIndex.servingGeneration(knowledgeBase.id);
				if (isSuperseded(error.embedder, knowledgeBase, serving, embedders.configured)) {
					return { commit: { jobs: [{ op: 'postpone', id: job.id, due_at: DUE_NOW }] }, result: undefined };
				}
			}
			const now = clock.now();
			const attempts = document.attempts + 1;
			const reason = finalReason(error, attempts);
			const shortage = shortageOf(error);
			const postpone = (ms: number) => ({ op: 'postpone', id: job.id, due_at: now + ms }) as const;
			const waitMs = (shortage ? shortageDelay : retryDelay)(retryMs, failures);
			const failed = reason && failDocument(knowledgeBase, document, reason, now);
			const commit: Commit = failed
				? { ...failed, jobs: [complete, ...failed.jobs] }
				: shortage || isRecoverable(error)
					? { ...keepWaiting(knowledgeBase, document, shortage ?? error, now), jobs: [postpone(waitMs)] }
					: {
							expect: [expectVersion('documents', document)],
							write: [{ op: 'patch', kind: 'documents', id: document.id, set: { attempts, updated_at: now } }],
							jobs: [postpone(retryDelay(retryMs, attempts))],
						};
			return { commit, result: undefined };
		});
	}

	async #index(job: Job, document: DocumentRecord, blob: string, signal: AbortSignal): Promise<void> {
		const { store, indexing } = this.#deps;
		const { knowledge_base_id } = document;
		// Documents with the same bytes are parsed once: the second waits here and finds the first indexed.
		await this.#parsing.run(`${knowledge_base_id} ${blob}`, async () => {
			const index = <T>(task: () => Promise<T>) => indexing.run(knowledge_base_id, task);
			const duplicate = await store.documents.indexedDuplicate(document);
			if (duplicate && (await index(() => copyIndexedDuplicate(this.#deps, document.id, job.id)))) return;
			const parsed = await store.blobs.withFile(blob, (path) => this.#parse(job, document, path, signal));
			if (this.kind === INGEST && parsed.has_scans) {
				await this.#passToRecognition(job, document);
				return;
			}
			const deps = { ...this.#deps, signal };
			for (let attempt = 0; attempt < MAX_INDEX_ATTEMPTS; attempt++) {
				const title = titleOf(document, parsed);
				const prepared = await prepareVectors(deps, document, title, parsed);
				try {
					if (await index(() => indexDocument(deps, document.id, job.id, parsed, prepared))) return;
				} catch (error) {
					if (shortageOf(error)) keepPrepared(deps.unsavedVectors, prepared, title, parsed);
					throw error;
				}
			}
			throw new AppError('unavailable', 'The index of the knowledge base is replaced faster than it is added to.');
		});
	}

	/** Parses the bytes of a document, which are in a file. */
	#parse(job: Job, document: DocumentRecord, path: string, signal: AbortSignal): Promise<ParsedDocument> {
		const { file_name, content_type, url } = document;
		const parsing = { path, file_name, content_type, title: document.title || null, url };
		if (this.kind === INGEST) {
			return this.#deps.pool.parse(parsing, signal, { isolated: job.attempts >= ISOLATE_FROM_CLAIM });
		}
		const file = { documentId: document.id, job: parsing, failures: document.attempts };
		return parseWithRecognition(this.#deps, file, signal);
	}

	/** Ends the job of a document with scanned pages, and adds the job that recognises their text. */
	#passToRecognition(job: Job, { id, knowledge_base_id }: DocumentRecord): Promise<void> {
		const { store, clock } = this.#deps;
		const complete = { op: 'complete', id: job.id } as const;
		return decideAndCommit(store, async () => {
			const document = await store.get('documents', id);
			if (!document || !isPending(document)) return { commit: { jobs: [complete] }, result: undefined };
			const set = { status: 'queued', error: WAITS_FOR_RECOGNITION, updated_at: clock.now() } as const;
			const commit: Commit = {
				expect: [expectVersion('documents', document)],
				write: [{ op: 'patch', kind: 'documents', id, set }],
				jobs: [complete, recognitionJob(id, knowledge_base_id)],
			};
			return { commit, result: undefined };
		});
	}

	/** Marks the document as being processed; null if there is nothing left to do. */
	#markProcessing(job: Job): Promise<DocumentRecord | null> {
		const { store, clock } = this.#deps;
		return decideAndCommit(store, async () => {
			const document = await store.get('documents', job.ref);
			if (!document || !isPending(document)) {
				return { commit: { jobs: [{ op: 'complete', id: job.id }] }, result: null };
			}
			const set = { status: 'processing' as const, updated_at: clock.now() };
			const commit: Commit = {
				expect: [expectVersion('documents', document)],
				write: [{ op: 'patch', kind: 'documents', id: document.id, set }],
			};
			return { commit, result: { ...document, ...set, version: document.version + 1 } };
		});
	}
}

/** Shows on a document and its knowledge base why the document waits. */
function keepWaiting(
	knowledgeBase: KnowledgeBaseRecord,
	document: DocumentRecord,
	error: unknown,
	now: number,
): Commit {
	const reason = publicReason(error, 'The document could not be processed.');
	const set = { status: 'queued', error: reason, updated_at: now } as const;
	const problem = problemCommit(knowledgeBase, reason);
	return {
		// A rebuild that begins in between ends the reason to wait: decide again.
		expect: [expectVersion('documents', document), expectVersion('knowledge_bases', knowledgeBase)],
		write: [{ op: 'patch', kind: 'documents', id: document.id, set }, ...problem.write],
	};
}
