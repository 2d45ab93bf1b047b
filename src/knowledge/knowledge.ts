import { type Clock, KeyedLock, type Log, messageOf, Semaphore } from '../base/index.ts';
import type { SearchJob, SearchResult, SearchSettings } from '../contract/index.ts';
import { builtinEmbedders, type Embedders } from '../models/index.ts';
import type { Network } from '../net/index.ts';
import type { WorkerPool } from '../pool/index.ts';
import type { IdempotencyRecord, KnowledgeBaseRecord, Store } from '../store/index.ts';
import { Documents, INGEST } from './documents.ts';
import { ModelIdentity, QuestionVectors, UnsavedVectors } from './embedding/index.ts';
import { Ingest } from './ingest/ingest.ts';
import { JobLoop } from './job-loop.ts';
import { markForReindex } from './mark-for-reindex.ts';
import { Rebuild } from './rebuild/rebuild.ts';
import { REBUILD, type RebuildRequests, requestRebuild, stopRebuild } from './rebuild/request-rebuild.ts';
import { Training } from './training/training.ts';

export interface KnowledgeDependencies {
	store: Store & { databaseFile: string };
	pool: WorkerPool;
	network: Network;
	/** The built-in one alone where absent. */
	embedders?: Embedders;
	clock: Clock;
	log: Log;
	/** Milliseconds until what failed is tried again for the first time. */
	retryMs?: number;
}

const RETRY_MS = 5_000;

/** Trainings of large knowledge bases that may wait for each other: more than there is room for jobs that train. */
const MAX_WAITING_TRAININGS = 10;

/** A search that was overtaken by a reindex is made again; so often at most. */
const MAX_SEARCH_ATTEMPTS = 3;

export interface SearchOptions {
	top_k: number;
	min_score: number;
	/** Instead of the knowledge bases' own. */
	settings?: Partial<SearchSettings> | undefined;
	signal?: AbortSignal | undefined;
	/** Milliseconds that all embedders together may take for the question's vectors; then the search goes by words alone. */
	vectorTimeoutMs?: number | undefined;
}

/** Documents on their way into the index, and questions to it. */
export class Knowledge implements AsyncDisposable {
	readonly documents: Documents;
	readonly #store: KnowledgeDependencies['store'];
	readonly #pool: WorkerPool;
	readonly #rebuilds: RebuildRequests;
	readonly #jobs: JobLoop;
	readonly #log: Log;
	readonly #embedders: Embedders;
	readonly #questionVectors: QuestionVectors;

	constructor(deps: KnowledgeDependencies) {
		this.#store = deps.store;
		this.#pool = deps.pool;
		this.#log = deps.log;
		const { embedders = builtinEmbedders, log } = deps;
		this.#embedders = embedders;
		const models = new ModelIdentity({ store: deps.store, configured: embedders.configured, log });
		this.#questionVectors = new QuestionVectors({ embedders, models, log });
		const documents = new Documents({
			store: deps.store,
			clock: deps.clock,
			onExpected: () => deps.pool.warmUp(),
			onQueued: () => this.#jobs.wake(),
		});
		const largeTrainings = new Semaphore(1, MAX_WAITING_TRAININGS);
		const dependencies = {
			retryMs: RETRY_MS,
			...deps,
			embedders,
			modelIdentity: models,
			unsavedVectors: new UnsavedVectors(),
			documents,
			indexing: new KeyedLock(),
			largeTrainings,
		};
		this.documents = documents;
		this.#rebuilds = dependencies;
		const handlers = [new Ingest(dependencies), new Training(dependencies), new Rebuild(dependencies)];
		this.#jobs = new JobLoop({ ...dependencies, handlers });
	}

	/** Marks the knowledge bases that the server's embedder has changed for. To be called once, before `start`. */
	markForReindex(): Promise<void> {
		return markForReindex(this.#store, this.#embedders.configured);
	}

	/** Takes up what waits in the store, and goes on. A server that starts may have a new key: nothing waits any longer. */
	start(): void {
		this.#jobs.start();
		const jobs = [INGEST, REBUILD].map((kind) => ({ op: 'hasten', kind }) as const);
		this.#store.commit({ jobs }).then(
			() => this.#jobs.wake(),
			(error: unknown) => this.#log.error({ error: messageOf(error) }, 'what was postponed waits until it is due'),
		);
		this.documents.removeOrphanedBlobs().catch((error: unknown) => {
			this.#log.error({ error: messageOf(error) }, 'unused files could not be removed');
		});
	}

	/**
	 * Has a knowledge base indexed anew from its stored bytes, while what it has goes on to serve. Where that is under way, it
	 * is no second time.
	 * @param receipt the answer that repeats shall get, made of the record as it was stored
	 * @throws AppError `not_found`
	 */
	async reindex(
		knowledgeBaseId: string,
		receipt?: (knowledgeBase: KnowledgeBaseRecord) => IdempotencyRecord | undefined,
	): Promise<KnowledgeBaseRecord> {
		const record = await requestRebuild(this.#rebuilds, knowledgeBaseId, receipt);
		this.#jobs.wake();
		return record;
	}

	/**
	 * Ends a reindex that is under way, or waits: what it has built is dropped, and what serves goes on to serve. Where there is
	 * none, nothing happens.
	 * @param receipt the answer that repeats shall get, made of the record as it was stored
	 * @throws AppError `not_found`
	 */
	stopReindex(
		knowledgeBaseId: string,
		receipt?: (knowledgeBase: KnowledgeBaseRecord) => IdempotencyRecord | undefined,
	): Promise<KnowledgeBaseRecord> {
		return stopRebuild(this.#rebuilds, knowledgeBaseId, receipt);
	}

	/** The best passages of several knowledge bases for a query; none where they hold nothing. */
	async search(
		knowledgeBases: readonly KnowledgeBaseRecord[],
		query: string,
		{ top_k, min_score, settings, signal, vectorTimeoutMs }: SearchOptions,
	): Promise<SearchResult> {
		const timeoutSignal = vectorTimeoutMs === undefined ? undefined : AbortSignal.timeout(vectorTimeoutMs);
		for (let attempt = 1; ; attempt++) {
			const targets = await this.#targets(knowledgeBases, query, { settings, signal, late: timeoutSignal });
			if (targets.length === 0) return { hits: [], confidence: 0 };
			const job = { database: this.#store.databaseFile, targets, query, top_k, min_score };
			const result = await this.#pool.search(job, signal);
			if (attempt === MAX_SEARCH_ATTEMPTS || (await this.#isStillServing(targets))) return result;
		}
	}

	async #targets(
		knowledgeBases: readonly KnowledgeBaseRecord[],
		query: string,
		{
			settings,
			signal,
			late: timeoutSignal,
		}: Pick<SearchOptions, 'settings' | 'signal'> & { late: AbortSignal | undefined },
	): Promise<SearchJob['targets']> {
		const targets: SearchJob['targets'] = [];
		/** Of each embedder once, a failure included: nobody waits for it twice. */
		const vectors = new Map<string, Float32Array | null>();
		for (const { id, search_settings } of knowledgeBases) {
			const serving = await this.#store.searchIndex.servingGeneration(id);
			if (!serving || serving.chunk_count === 0) continue;
			const { hybrid, semantic_weight } = { ...search_settings, ...settings };
			const { embedder } = serving;
			let vector = serving.basis === null ? null : vectors.get(embedder);
			if (vector === undefined) {
				vector = await this.#questionVectors.vectorOf(embedder, query, signal, timeoutSignal);
				vectors.set(embedder, vector);
			}
			const question =
				vector !== null && (await this.#questionVectors.isComparable(vector, query, serving, signal, timeoutSignal))
					? { embedder, vector }
					: undefined;
			targets.push({
				knowledge_base_id: id,
				generation: serving.id,
				basis: serving.basis,
				hybrid,
				semantic_weight,
				...(question ? { question } : {}),
			});
		}
		return targets;
	}

	/** Whether these generations serve still. One that was replaced in the middle of a search may have been empty for it. */
	async #isStillServing(targets: SearchJob['targets']): Promise<boolean> {
		for (const { knowledge_base_id, generation } of targets) {
			if ((await this.#store.searchIndex.servingGeneration(knowledge_base_id))?.id !== generation) return false;
		}
		return true;
	}

	async [Symbol.asyncDispose](): Promise<void> {
		await this.#jobs[Symbol.asyncDispose]();
	}
}
