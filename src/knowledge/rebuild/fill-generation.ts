import { AppError, shortageOf } from '../../base/index.ts';
import type { WorkerPool } from '../../pool/index.ts';
import { type DocumentRecord, expectVersion, type Store } from '../../store/index.ts';
import { type FailureReason, finalReason } from '../ingest/fail-document.ts';
import { addToGeneration, titleOf } from '../ingest/generation-document.ts';
import { paginate } from '../paginate.ts';

export interface GenerationFillerDependencies {
	store: Store;
	pool: WorkerPool;
	signal: AbortSignal;
}

/** A document whose bytes cannot be parsed any more. */
export interface UnreadableDocument {
	/** Of the document's record. */
	version: number;
	reason: FailureReason;
}

/** What one pass over a knowledge base's documents left undone. */
export interface PassRemainder {
	/** Documents that changed while they were parsed. */
	changed: number;
	/** Documents that may be parsed at another attempt. */
	failed: number;
}

/** Every document of a knowledge base beside what a generation that is being built has of it, the oldest first. */
export function documentsWithCoverage(store: Store, knowledgeBaseId: string, generation: string) {
	return paginate(
		(after, limit) => store.searchIndex.coverage(knowledgeBaseId, generation, after, limit),
		({ document }) => document,
	);
}

/**
 * Parses the stored bytes of a knowledge base's documents into a generation that is being built. Which version of a document
 * the generation holds is written down in it, so that every pass, also of another process, does only what is left.
 */
export class GenerationFiller {
	/** By document. They are marked only when the new generation takes over: a rebuild that comes to nothing touches no document. */
	readonly unreadable = new Map<string, UnreadableDocument>();
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

	/** Whether the generation has an indexed document as it is now, or cannot have it. */
	isSettled({ id, status, version }: DocumentRecord, builtFrom: number | null): boolean {
		return status !== 'indexed' || builtFrom === version || this.unreadable.get(id)?.version === version;
	}

	/** Goes once over all documents and builds what is left, several at a time. */
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
		const { store, pool, signal } = this.#deps;
		const { file_name, content_type, url, title, version } = document;
		let parsed: Awaited<ReturnType<WorkerPool['parse']>>;
		try {
			if (!document.blob) throw new AppError('unreadable_file', 'The bytes of the document are not stored any more.');
			const path = store.blobs.path(document.blob);
			parsed = await pool.parse({ path, file_name, content_type, title: title || null, url }, signal);
		} catch (error) {
			if (signal.aborted) throw error;
			// The rebuild waits as a whole: every other document would fail in the same way.
			if (shortageOf(error)) throw error;
			// What the document was before it changed has failed on its own account.
			const key = `${document.id} ${version}`;
			const failures = (this.#failures.get(key) ?? 0) + 1;
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
		if (outcome === 'fenced') throw new AppError('unavailable', 'Another server has taken over the database.');
		return outcome === 'committed' ? 'built' : 'changed';
	}
}
