import { AppError, shortageOf } from '../../base/index.ts';
import type { WorkerPool } from '../../pool/index.ts';
import { type DocumentRecord, expectVersion, type Store } from '../../store/index.ts';
import { addToGeneration, titleOf } from '../ingest/built-document.ts';
import { type Reason, verdict } from '../ingest/fail-document.ts';
import { inPages } from '../pages.ts';

export interface FillDependencies {
	store: Store;
	pool: WorkerPool;
	signal: AbortSignal;
}

/** A document whose bytes cannot be parsed any more. */
export interface Unreadable {
	/** Of the document's record. */
	version: number;
	reason: Reason;
}

/** What one pass over a knowledge base's documents left undone. */
export interface Remainder {
	/** Documents that changed while they were parsed. */
	changed: number;
	/** Documents that may be parsed at another attempt. */
	failed: number;
}

/** Every document of a knowledge base beside what a generation that is being built has of it, the oldest first. */
export function coverage(store: Store, knowledgeBaseId: string, generation: string) {
	return inPages(
		(after, limit) => store.coverage(knowledgeBaseId, generation, after, limit),
		({ document }) => document,
	);
}

/**
 * Parses the stored bytes of a knowledge base's documents into a generation that is being built. Which version of a document
 * the generation holds is written down in it, so that every pass, also of another process, does only what is left.
 */
export class Filling {
	/** By document. They are marked only when the new generation takes over: a rebuild that comes to nothing touches no document. */
	readonly unreadable = new Map<string, Unreadable>();
	/** By document and version. */
	readonly #failures = new Map<string, number>();
	readonly #deps: FillDependencies;
	readonly #knowledgeBaseId: string;
	readonly #generation: string;

	constructor(deps: FillDependencies, knowledgeBaseId: string, generation: string) {
		this.#deps = deps;
		this.#knowledgeBaseId = knowledgeBaseId;
		this.#generation = generation;
	}

	/** Whether the generation has an indexed document as it is now, or cannot have it. */
	isSettled({ id, status, version }: DocumentRecord, builtFrom: number | null): boolean {
		return status !== 'indexed' || builtFrom === version || this.unreadable.get(id)?.version === version;
	}

	/** Goes once over all documents and builds what is left, several at a time. */
	async pass(): Promise<Remainder> {
		const remainder: Remainder = { changed: 0, failed: 0 };
		const left = this.#left();
		const build = async () => {
			for await (const document of left) {
				const parsed = await this.#parse(document);
				if (parsed === 'failed') remainder.failed++;
				else if (parsed === 'changed') remainder.changed++;
			}
		};
		const ends = await Promise.allSettled(Array.from({ length: this.#deps.pool.size }, build));
		for (const end of ends) if (end.status === 'rejected') throw end.reason;
		return remainder;
	}

	async *#left(): AsyncGenerator<DocumentRecord> {
		for await (const { document, built_from } of coverage(this.#deps.store, this.#knowledgeBaseId, this.#generation)) {
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
			const reason = verdict(error, failures);
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
