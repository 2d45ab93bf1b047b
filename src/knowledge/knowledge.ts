import { type Clock, KeyedLock, type Log, messageOf, type PeriodicTask, Semaphore } from '../base/index.ts';
import type { SearchJob, SearchResult } from '../contract/index.ts';
import { builtinEmbedders, type Embedders } from '../models/index.ts';
import type { Network } from '../net/index.ts';
import type { WorkerPool } from '../pool/index.ts';
import { type Dialogue, type DialogueContext, dialogueContext, textInContext } from '../retrieval/index.ts';
import {
	aroundCommit,
	type FenceOf,
	type KnowledgeBaseRecord,
	type Store,
	type UncommittedChange,
} from '../store/index.ts';
import type { Thesauri } from '../thesauri/index.ts';
import { INGEST, RECOGNISE } from './document-changes.ts';
import { Documents } from './documents.ts';
import { ModelIdentity, QuestionVectors, UnsavedVectors } from './embedding/index.ts';
import { Ingest } from './ingest/ingest.ts';
import { JobLoop } from './job-loop.ts';
import { markForReindex } from './mark-for-reindex.ts';
import { Rebuild } from './rebuild/rebuild.ts';
import { REBUILD, type RebuildRequests, requestRebuild, stopRebuild } from './rebuild/request-rebuild.ts';
import { searchSettingsOf } from './search-settings.ts';
import { Crawl } from './sources/crawl.ts';
import { CRAWL } from './sources/run-state.ts';
import { Sources } from './sources/sources.ts';
import { requestTrainings } from './training/request-trainings.ts';
import { Training } from './training/training.ts';
import { MAX_SYNC_TRAINING_CHUNKS, TRAIN } from './training/training-policy.ts';
import { unusedFilesTask } from './unused-files-task.ts';

export interface KnowledgeDependencies {
	store: Store & { searchDatabase: string };
	pool: WorkerPool;
	network: Network;
	/** Only the built-in embedder if absent. */
	embedders?: Embedders;
	clock: Clock;
	log: Log;
	/** Milliseconds until the first retry. */
	retryMs?: number;
	/** Chunks up to which an untuned training is part of the indexing; larger knowledge bases are trained in a job alone. */
	maxSyncTrainingChunks?: number;
	/** Milliseconds between two requests of a crawl to one host that asks for no delay. */
	crawlDelayMs?: number | undefined;
	/** No synonyms if absent. */
	thesauri?: Thesauri;
	/** Called with the milliseconds of each search. */
	onSearch?: ((ms: number) => void) | undefined;
	/** Absent: the store has one owner. */
	fenceOf?: FenceOf | undefined;
}

const RETRY_MS = 5_000;

const CRAWL_DELAY_MS = 1_000;

/** Tuned trainings that may wait: more than all jobs that train concurrently. */
const MAX_WAITING_TRAININGS = 10;

/** Attempts of a search whose generation a reindex replaces. */
const MAX_SEARCH_ATTEMPTS = 3;

export interface SearchOptions {
	/** The messages before the query, oldest first. The search uses them if the query depends on them. */
	earlier?: Dialogue['earlier'] | undefined;
	/** The dialogue as a provider's embedder gets it; absent if it gets the query and the messages themselves. */
	embedded?: Dialogue | undefined;
	top_k: number;
	min_score: number;
	/** For the prompt of a model: texts that repeat another hit give way to others, and each hit has the text around it. */
	forPrompt?: boolean | undefined;
	/** Overrides the setting of the knowledge bases. */
	settings?: { hybrid?: boolean; semantic_weight?: number } | undefined;
	signal?: AbortSignal | undefined;
	/** The time limit in milliseconds of all embedders together for the question's vectors; then the search uses words alone. */
	vectorTimeoutMs?: number | undefined;
}

/** A query as an embedder reads it. */
interface QueryTexts {
	query: string;
	/** Absent if the query stands alone. */
	inContext?: string | undefined;
}

function textsOf({ message }: Dialogue, context: DialogueContext | null | undefined): QueryTexts {
	return { query: message, inContext: context ? textInContext(message, context) : undefined };
}

/** The vectors of a query by a provider's embedder. Null with the built-in embedder, and if the provider fails. */
interface QueryVectors {
	vector: Float32Array | null;
	vectorInContext?: Float32Array | undefined;
}

const NO_VECTORS: QueryVectors = { vector: null };

/** A message with a smaller weight of its context is only short. */
const MIN_DEPENDENT_WEIGHT = 0.4;

/** Whether a message leans on the messages before it, oldest first: by a pronoun, a comparison or its first words. */
export function dependsOnEarlier(message: string, earlier: Dialogue['earlier']): boolean {
	return (dialogueContext({ message, earlier })?.weight ?? 0) >= MIN_DEPENDENT_WEIGHT;
}

/** Indexing of documents, and search. */
export class Knowledge implements AsyncDisposable {
	readonly documents: Documents;
	readonly sources: Sources;
	readonly #store: KnowledgeDependencies['store'];
	readonly #pool: WorkerPool;
	readonly #onSearch: (ms: number) => void;
	readonly #rebuilds: RebuildRequests;
	readonly #jobs: JobLoop;
	readonly #log: Log;
	readonly #clock: Clock;
	readonly #embedders: Embedders;
	readonly #thesauri: Thesauri | undefined;
	readonly #questionVectors: QuestionVectors;
	readonly #shutdown = new AbortController();
	/** In a cluster. */
	readonly #unusedFiles: PeriodicTask | undefined;
	/** Tasks of the start that may take longer than it. They never reject. */
	readonly #startTasks: Promise<void>[] = [];

	constructor(deps: KnowledgeDependencies) {
		this.#store = deps.store;
		this.#pool = deps.pool;
		this.#log = deps.log;
		this.#clock = deps.clock;
		const { embedders = builtinEmbedders, log } = deps;
		this.#embedders = embedders;
		this.#thesauri = deps.thesauri;
		this.#onSearch = deps.onSearch ?? (() => {});
		const models = new ModelIdentity({ store: deps.store, configured: embedders.configured, log });
		this.#questionVectors = new QuestionVectors({ embedders, models, log });
		const documents = new Documents({
			store: deps.store,
			clock: deps.clock,
			log,
			onExpected: () => deps.pool.warmUp(),
			onQueued: () => this.#jobs.wake(),
		});
		const tunedTrainings = new Semaphore(1, MAX_WAITING_TRAININGS);
		const dependencies = {
			retryMs: RETRY_MS,
			maxSyncTrainingChunks: MAX_SYNC_TRAINING_CHUNKS,
			...deps,
			embedders,
			modelIdentity: models,
			unsavedVectors: new UnsavedVectors(),
			documents,
			indexing: new KeyedLock(),
			tunedTrainings,
			crawlDelayMs: deps.crawlDelayMs ?? CRAWL_DELAY_MS,
			onQueued: () => this.#jobs.wake(),
		};
		this.documents = documents;
		this.#unusedFiles = deps.fenceOf && unusedFilesTask(documents, deps.fenceOf, log);
		this.sources = new Sources(dependencies);
		this.#rebuilds = dependencies;
		const ingests = [new Ingest(dependencies), new Ingest(dependencies, RECOGNISE)];
		const indexing = [...ingests, new Training(dependencies), new Rebuild(dependencies)];
		const handlers = [...indexing, new Crawl(dependencies)];
		this.#jobs = new JobLoop({ ...dependencies, handlers });
	}

	/** Marks the knowledge bases whose embedder is not the server's any more. Call it once, before `start`. */
	markForReindex(): Promise<void> {
		return markForReindex(this.#store, this.#embedders.configured);
	}

	/**
	 * Starts the job loop. Postponed jobs are due at once, because a restarted server may have a new provider key or more memory.
	 * A source whose run is not due postpones its job again.
	 */
	start(): void {
		this.#jobs.start();
		const { signal } = this.#shutdown;
		const jobs = [INGEST, RECOGNISE, TRAIN, REBUILD, CRAWL].map((kind) => ({ op: 'make_due', kind }) as const);
		this.#runAtStart('postponed jobs could not be made due', async () => void (await this.#store.commit({ jobs })));
		this.#runAtStart('trainings could not be requested', () =>
			requestTrainings({ store: this.#store, clock: this.#clock }, signal),
		);
		if (this.#unusedFiles !== undefined) this.#unusedFiles.start();
		else this.#runAtStart('unused files could not be removed', () => this.documents.removeOrphanedBlobs(signal));
	}

	/** Runs a task beside the job loop, which then checks for new jobs. Logs its failure. */
	#runAtStart(failureMessage: string, task: () => Promise<void>): void {
		const done = task().then(
			() => this.#jobs.wake(),
			(error: unknown) => {
				if (!this.#shutdown.signal.aborted) this.#log.error({ error: messageOf(error) }, failureMessage);
			},
		);
		this.#startTasks.push(done);
	}

	/**
	 * Starts a rebuild of a knowledge base's index from the stored bytes, while the present index serves. A rebuild that is in
	 * progress continues; no second one starts.
	 * @throws AppError `not_found`
	 */
	reindex(knowledgeBaseId: string): UncommittedChange<KnowledgeBaseRecord> {
		return aroundCommit(requestRebuild(this.#rebuilds, knowledgeBaseId), async (commit) => {
			const record = await commit();
			this.#jobs.wake();
			return record;
		});
	}

	/**
	 * Ends a rebuild that runs or waits: its generation is dropped, and the present index continues to serve. Without a rebuild
	 * nothing happens.
	 * @throws AppError `not_found`
	 */
	stopReindex(knowledgeBaseId: string): UncommittedChange<KnowledgeBaseRecord> {
		return stopRebuild(this.#rebuilds, knowledgeBaseId);
	}

	/** The best passages of several knowledge bases for a query. */
	async search(
		knowledgeBases: readonly KnowledgeBaseRecord[],
		query: string,
		{ earlier = [], embedded, top_k, min_score, forPrompt, settings, signal, vectorTimeoutMs }: SearchOptions,
	): Promise<SearchResult> {
		const context = dialogueContext({ message: query, earlier }) ?? undefined;
		const texts = embedded
			? textsOf(embedded, dialogueContext(embedded))
			: textsOf({ message: query, earlier }, context);
		const found = (await this.#thesauri?.synonymsOf(query)) ?? [];
		const synonyms = found.length === 0 ? undefined : found;
		const timeoutSignal = vectorTimeoutMs === undefined ? undefined : AbortSignal.timeout(vectorTimeoutMs);
		for (let attempt = 1; ; attempt++) {
			const targets = await this.#targets(knowledgeBases, texts, { settings, signal, timeoutSignal });
			if (targets.length === 0) return { hits: [], confidence: 0 };
			const limits = { top_k, min_score, for_prompt: forPrompt };
			const job = { database: this.#store.searchDatabase, targets, query, context, synonyms, ...limits };
			const startedAt = performance.now();
			const result = await this.#pool.search(job, signal);
			this.#onSearch(performance.now() - startedAt);
			if (attempt === MAX_SEARCH_ATTEMPTS || (await this.#isStillServing(targets)))
				return synonyms === undefined ? result : { ...result, synonyms };
		}
	}

	async #targets(
		knowledgeBases: readonly KnowledgeBaseRecord[],
		texts: QueryTexts,
		{
			settings,
			signal,
			timeoutSignal,
		}: Pick<SearchOptions, 'settings' | 'signal'> & { timeoutSignal: AbortSignal | undefined },
	): Promise<SearchJob['targets']> {
		const targets: SearchJob['targets'] = [];
		/** One call for each embedder, failures included: a search never waits twice for the same embedder. */
		const vectors = new Map<string, QueryVectors>();
		for (const knowledgeBase of knowledgeBases) {
			const { id } = knowledgeBase;
			const serving = await this.#store.searchIndex.servingGeneration(id);
			if (!serving || serving.chunk_count === 0) continue;
			const { hybrid, semantic_weight } = { ...searchSettingsOf(knowledgeBase), ...settings };
			const { embedder } = serving;
			let known = serving.basis === null ? NO_VECTORS : vectors.get(embedder);
			if (known === undefined) {
				known = await this.#vectorsOf(embedder, texts, signal, timeoutSignal);
				vectors.set(embedder, known);
			}
			const { vector, vectorInContext } = known;
			const readTexts = texts.inContext === undefined ? [texts.query] : [texts.query, texts.inContext];
			const isComparable =
				vector !== null &&
				(await this.#questionVectors.isComparable(vector, readTexts, serving, signal, timeoutSignal));
			const question = isComparable ? { embedder, vector, vectorInContext } : undefined;
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

	/** The vectors of a query, alone and in its context, by one embedder. */
	async #vectorsOf(
		embedder: string,
		{ query, inContext }: QueryTexts,
		signal: AbortSignal | undefined,
		timeoutSignal: AbortSignal | undefined,
	): Promise<QueryVectors> {
		const vectorOf = (text: string) => this.#questionVectors.vectorOf(embedder, text, signal, timeoutSignal);
		const [vector, vectorInContext] = await Promise.all([
			vectorOf(query),
			inContext === undefined ? null : vectorOf(inContext),
		]);
		return { vector, vectorInContext: vectorInContext ?? undefined };
	}

	/** Whether these generations still serve. A generation that was replaced during a search may have looked empty. */
	async #isStillServing(targets: SearchJob['targets']): Promise<boolean> {
		for (const { knowledge_base_id, generation } of targets) {
			if ((await this.#store.searchIndex.servingGeneration(knowledge_base_id))?.id !== generation) return false;
		}
		return true;
	}

	async [Symbol.asyncDispose](): Promise<void> {
		this.#shutdown.abort(new Error('The server is stopping.'));
		await this.#unusedFiles?.[Symbol.asyncDispose]();
		await Promise.all(this.#startTasks);
		await this.#jobs[Symbol.asyncDispose]();
		this.documents[Symbol.dispose]();
	}
}
