import { type Clock, type Log, messageOf } from '../base/index.ts';
import type { SearchResult, SearchSettings } from '../contract/index.ts';
import type { Network } from '../net/index.ts';
import type { Pool } from '../pool/index.ts';
import type { KnowledgeBaseRecord, Store } from '../store/index.ts';
import { Documents } from './documents.ts';
import { Ingest } from './ingest/ingest.ts';

export interface KnowledgeDependencies {
	store: Store & { databaseFile: string };
	pool: Pool;
	network: Network;
	clock: Clock;
	log: Log;
}

export interface SearchOptions {
	top_k: number;
	min_score: number;
	/** Instead of the knowledge bases' own. */
	settings?: Partial<SearchSettings>;
	signal?: AbortSignal;
}

/** Documents on their way into the index, and questions to it. */
export class Knowledge implements AsyncDisposable {
	readonly documents: Documents;
	readonly #store: KnowledgeDependencies['store'];
	readonly #pool: Pool;
	readonly #ingest: Ingest;
	readonly #log: Log;

	constructor(deps: KnowledgeDependencies) {
		this.#store = deps.store;
		this.#pool = deps.pool;
		this.#log = deps.log;
		this.documents = new Documents({ store: deps.store, clock: deps.clock, onQueued: () => this.#ingest.wake() });
		this.#ingest = new Ingest({ ...deps, documents: this.documents });
	}

	/** Takes up what waits in the store, and goes on. */
	start(): void {
		this.#ingest.start();
		this.documents.removeUnusedBlobs().catch((error: unknown) => {
			this.#log.error({ error: messageOf(error) }, 'unused files could not be removed');
		});
	}

	/** The best passages of several knowledge bases for a query; none where they hold nothing. */
	async search(
		knowledgeBases: readonly KnowledgeBaseRecord[],
		query: string,
		{ top_k, min_score, settings, signal }: SearchOptions,
	): Promise<SearchResult> {
		const targets = [];
		for (const { id, generation, search_settings } of knowledgeBases) {
			const serving = generation === null ? undefined : await this.#store.generation(generation);
			if (!serving || serving.chunk_count === 0) continue;
			const { hybrid, semantic_weight } = { ...search_settings, ...settings };
			targets.push({
				knowledge_base_id: id,
				generation: serving.id,
				basis: serving.basis,
				hybrid,
				semantic_weight,
			});
		}
		if (targets.length === 0) return { hits: [], confidence: 0 };
		return this.#pool.search({ database: this.#store.databaseFile, targets, query, top_k, min_score }, signal);
	}

	async [Symbol.asyncDispose](): Promise<void> {
		await this.#ingest[Symbol.asyncDispose]();
	}
}
