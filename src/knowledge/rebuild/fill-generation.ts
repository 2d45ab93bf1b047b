import { AppError, type Log, shortageOf } from '../../base/index.ts';
import type { WorkerPool } from '../../pool/index.ts';
import { type DocumentRecord, expectVersion, fencedError, type Store } from '../../store/index.ts';
import { type FailureReason, finalReason } from '../ingest/fail-document.ts';
import { addToGeneration, titleOf } from '../ingest/generation-document.ts';
import { parseWithRecognition } from '../ingest/parse-with-recognition.ts';
import { paginate } from '../paginate.ts';

export interface GenerationFillerDependencies {
	store: Store;
	pool: WorkerPool;
	log: Log;
	signal: AbortSignal;
}

/** A document whose stored bytes cannot be parsed. */
export interface UnreadableDocument {
	/** The version of the document's record. */
	version: number;
	reason: FailureReason;
}

/** The documents that one pass over a knowledge base has not finished. */
export interface PassRemainder {
	/** Documents that changed while they were parsed. */
	changed: number;
	/** Documents whose failure may be temporary. */
	failed: number;
}

/** Every document of a knowledge base with its version in a generation under construction, oldest first. */
export function documentsWithCoverage(store: Store, knowledgeBaseId: string, generation: string) {
	return paginate(
		(after, limit) => store.searchIndex.coverage(knowledgeBaseId, generation, after, limit),
		({ document }) => document,
	);
}

/**
 * Parses the stored bytes of a knowledge base's documents into a generation under construction. The generation records the
 * version of each document in it, so every pass does only what is left, also in another process.
 */
export class GenerationFiller {
	/** By document id. They get the status `error` only when the new generation starts to serve: a rebuild that is given up changes no document. */
	readonly unreadable = new Map<string, UnreadableDocument>();
	/** Documents that this process has added to the generation. */
	builtCount = 0;
	/** By document and version. */
	readonly #failures = new Map<string, number>();
	readonly #deps: GenerationFillerDependencies;
	readonly #knowledgeBaseId: string;
	readonly #generation: string;

	constructor(deps: GenerationFillerDependencies, knowledgeBaseId: string, generation: string) {
		this.#deps = deps;
		this.#knowledgeBaseId = knowledgeBaseId;
		this.#generation = generation;
	}

	/** Whether the generation has the present version of an indexed document, or cannot have it. */
	isSettled({ id, status, version }: DocumentRecord, builtFrom: number | null): boolean {
		return status !== 'indexed' || builtFrom === version || this.unreadable.get(id)?.version === version;
	}

	/** Goes over all documents once and parses those that are left, several concurrently. */
	async pass(): Promise<PassRemainder> {
		const remainder: PassRemainder = { changed: 0, failed: 0 };
		const remaining = this.#remaining();
		const build = async () => {
			for await (const document of remaining) {
				const parsed = await this.#parse(document);
				if (parsed === 'failed') remainder.failed++;
				else if (parsed === 'changed') remainder.changed++;
			}
		};
		const results = await Promise.allSettled(Array.from({ length: this.#deps.pool.size }, build));
		for (const end of results) if (end.status === 'rejected') throw end.reason;
		return remainder;
	}

	async *#remaining(): AsyncGenerator<DocumentRecord> {
		for await (const { document, built_from } of documentsWithCoverage(
			this.#deps.store,
			this.#knowledgeBaseId,
			this.#generation,
		)) {
			this.#deps.signal.throwIfAborted();
			if (!this.isSettled(document, built_from)) yield document;
		}
	}

	async #parse(document: DocumentRecord): Promise<'built' | 'unreadable' | 'changed' | 'failed'> {
		const { store, signal } = this.#deps;
		const { file_name, content_type, url, title, version } = document;
		// Failures count for one version: earlier versions of the document do not count against it.
		const key = `${document.id} ${version}`;
		const failuresBefore = this.#failures.get(key) ?? 0;
		let parsed: Awaited<ReturnType<WorkerPool['parse']>>;
		try {
			if (!document.blob) throw new AppError('unreadable_file', 'The bytes of the document are not stored any more.');
			parsed = await store.blobs.withFile(document.blob, (path) => {
				const job = { path, file_name, content_type, title: title || null, url };
				return parseWithRecognition(this.#deps, { documentId: document.id, job, failures: failuresBefore }, signal);
			});
		} catch (error) {
			if (signal.aborted) throw error;
			// The whole rebuild waits, because every other document would fail in the same way.
			if (shortageOf(error)) throw error;
			const failures = failuresBefore + 1;
			const reason = finalReason(error, failures);
			this.#failures.set(key, failures);
			if (!reason) return 'failed';
			this.unreadable.set(document.id, { version, reason });
			return 'unreadable';
		}
		const titled = { ...document, title: titleOf(document, parsed) };
		const { outcome } = await store.commit({
			expect: [expectVersion('documents', document)],
			write: [addToGeneration(this.#generation, titled, parsed, version)],
		});
		if (outcome === 'fenced') throw fencedError();
		if (outcome !== 'committed') return 'changed';
		this.builtCount++;
		return 'built';
	}
}
