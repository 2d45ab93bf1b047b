import { AppError, type KeyedLock, type Log, LruCache, messageOf, newId, shortageOf, sleep } from '../../base/index.ts';
import { type Embedders, isProviderFailure } from '../../models/index.ts';
import { type Commit, decideAndCommit, expectVersion, type Job, type KnowledgeBaseRecord } from '../../store/index.ts';
import type { Documents } from '../documents.ts';
import { type EmbeddingDependencies, embedGeneration } from '../embedding/index.ts';
import { publicReason } from '../ingest/fail-document.ts';
import { type JobHandler, retryDelay, shortageDelay } from '../job-loop.ts';
import { moveCounts, problemCommit } from '../status.ts';
import {
	type BuiltBasis,
	buildLargeBasis,
	foldInNewChunks,
	type LargeBasisDependencies,
} from '../training/build-basis.ts';
import { MAX_SYNC_TRAINING_CHUNKS } from '../training/training-policy.ts';
import { documentsWithCoverage, GenerationFiller } from './fill-generation.ts';
import { endRebuild, openGeneration, REBUILD } from './request-rebuild.ts';
import { swapGeneration } from './swap-generation.ts';

export interface RebuildDependencies
	extends Omit<LargeBasisDependencies, 'signal'>,
		Pick<EmbeddingDependencies, 'modelIdentity' | 'unsavedVectors'> {
	documents: Documents;
	embedders: Embedders;
	log: Log;
	/** Held while the index of a knowledge base changes, by its id. */
	indexing: KeyedLock;
	retryMs: number;
}

/** Rebuilds side by side: one that takes hours must not keep all others waiting. */
const MAX_CONCURRENT_REBUILDS = 2;
/** A failure that may pass is tried so often without getting any further. What was built is kept from one attempt to the next. */
const MAX_ATTEMPTS = 5;
/** Rebuilds whose failures are remembered. */
const FAILURE_CACHE_SIZE = 1_000;
/** Passes over the documents of a knowledge base that is changed all the time. */
const MAX_PASSES = 50;

/** How a rebuild has fared since it got any further, in this process. */
interface FailureCounts {
	/** How far it had come. */
	progress: string;
	/** How often its provider or a shortage of the system has failed it, and how often anything else. */
	temporary: number;
	permanent: number;
}

/**
 * Builds a knowledge base's index anew from the stored bytes, as a generation of its own beside the one that serves, which
 * takes over in one commit. `KnowledgeBaseRecord.rebuilding` names it as long as it is there. What is indexed meanwhile goes
 * into both, what is removed or fails leaves both. A process after us goes on where this one was.
 */
export class Rebuild implements JobHandler {
	readonly kind = REBUILD;
	readonly concurrencyLimit = MAX_CONCURRENT_REBUILDS;
	readonly leaseMs = 12 * 3_600_000;
	readonly #deps: RebuildDependencies;
	/** By the job. */
	readonly #failureCounts = new LruCache<string, FailureCounts>(FAILURE_CACHE_SIZE);
	/** The generation that a job has worked on last, by the job. */
	readonly #generations = new LruCache<string, string>(FAILURE_CACHE_SIZE);

	constructor(deps: RebuildDependencies) {
		this.#deps = deps;
	}

	async perform(job: Job, signal: AbortSignal): Promise<void> {
		const { store } = this.#deps;
		const generation = await this.#generationOf(job.ref);
		if (generation !== null) this.#generations.set(job.id, generation);
		try {
			if (generation) await this.#rebuild(job, generation, signal);
		} catch (error) {
			// Where the knowledge base was deleted, what was built has gone with it, and there is nothing more to do.
			if ((await store.get('knowledge_bases', job.ref))?.rebuilding === generation) throw error;
		}
		await store.commit({ jobs: [{ op: 'settle', id: job.id }] });
	}

	/**
	 * A provider that fails, or a shortage of the system, is waited for however long that takes, with all that was built and paid for: nobody else can tell
	 * whether its key is about to be renewed. Whoever does not want to wait ends the rebuild.
	 */
	async afterFailure(job: Job, error: unknown): Promise<void> {
		const { retryMs } = this.#deps;
		const { temporary, permanent } = await this.#countFailure(job, error);
		if (isProviderFailure(error)) return this.#postponeWithProblem(job, error, retryDelay(retryMs, temporary));
		const shortage = shortageOf(error);
		if (shortage) return this.#postponeWithProblem(job, shortage, shortageDelay(retryMs, temporary));
		const isLasting = error instanceof AppError && error.code === 'model_error';
		if (isLasting || permanent >= MAX_ATTEMPTS) return this.#giveUp(job, error);
		return this.#postpone(job, retryDelay(retryMs, permanent));
	}

	/** Counts a failure; from the beginning where vectors were stored since the one before. */
	async #countFailure(job: Job, error: unknown): Promise<FailureCounts> {
		const { store } = this.#deps;
		const record = await store.get('knowledge_bases', job.ref);
		const basis = record?.rebuilding ? await store.searchIndex.openedBasis(record.rebuilding) : undefined;
		const progress = `${basis?.id} ${basis?.embedded_to}`;
		const previous = this.#failureCounts.get(job.id);
		const { temporary, permanent } = previous?.progress === progress ? previous : { temporary: 0, permanent: 0 };
		const isTemporary = isProviderFailure(error) || shortageOf(error) !== null;
		const counts = {
			progress,
			temporary: temporary + (isTemporary ? 1 : 0),
			permanent: permanent + (isTemporary ? 0 : 1),
		};
		this.#failureCounts.set(job.id, counts);
		return counts;
	}

	async #postpone({ id }: Job, ms: number): Promise<void> {
		const { store, clock } = this.#deps;
		await store.commit({ jobs: [{ op: 'postpone', id, due_at: clock.now() + ms }] });
	}

	/** Postpones a rebuild and has its knowledge base tell why. */
	async #postponeWithProblem(job: Job, error: AppError, ms: number): Promise<void> {
		const { store, clock } = this.#deps;
		await decideAndCommit(store, async () => {
			const record = await store.get('knowledge_bases', job.ref);
			if (!this.#isCurrent(job, record)) return { commit: { jobs: [{ op: 'settle', id: job.id }] }, result: undefined };
			const problem = problemCommit(record, publicReason(error, BUILD_FAILED_SENTENCE));
			const due_at = clock.now() + ms;
			return { commit: { ...problem, jobs: [{ op: 'postpone', id: job.id, due_at }] }, result: undefined };
		});
	}

	/** Whether a job's rebuild is still the current one. It may have been stopped and another requested since the job failed. */
	#isCurrent({ id }: Job, record: KnowledgeBaseRecord | undefined): record is KnowledgeBaseRecord {
		if (!record?.rebuilding) return false;
		return (this.#generations.get(id) ?? record.rebuilding) === record.rebuilding;
	}

	/** What the knowledge base has told of a failure is over as soon as vectors come again. */
	async #clearProblem(knowledgeBaseId: string): Promise<void> {
		const { store } = this.#deps;
		await decideAndCommit(store, async () => {
			const record = await store.get('knowledge_bases', knowledgeBaseId);
			const problem = record ? problemCommit(record, null) : { expect: [], write: [] };
			return { commit: problem.write.length > 0 ? problem : null, result: undefined };
		});
	}

	/** The generation that is being built. One that was begun for another embedder than the server has now begins anew. */
	#generationOf(knowledgeBaseId: string): Promise<string | null> {
		const { store, clock, embedders } = this.#deps;
		return decideAndCommit(store, async () => {
			const record = await store.get('knowledge_bases', knowledgeBaseId);
			if (!record?.rebuilding) return { commit: null, result: null };
			const startedEmbedder = (await store.searchIndex.generation(record.rebuilding))?.embedder;
			if (startedEmbedder === embedders.configured) return { commit: null, result: record.rebuilding };
			const rebuilding = newId('generation');
			const { write, events } = moveCounts(record, {}, clock.now(), { rebuilding });
			const commit: Commit = {
				expect: [expectVersion('knowledge_bases', record)],
				write: [
					write,
					{ op: 'index.drop_generation', generation: record.rebuilding },
					openGeneration(record, rebuilding, embedders.configured),
				],
				events,
			};
			return { commit, result: rebuilding };
		});
	}

	async #rebuild(job: Job, generation: string, signal: AbortSignal): Promise<void> {
		const { store, indexing, embedders, retryMs } = this.#deps;
		// Null for the built-in one: all others that are configured are there.
		const embedder = embedders.resolve(embedders.configured);
		const deps = { ...this.#deps, signal };
		const knowledgeBaseId = job.ref;
		if (this.#failureCounts.get(job.id) === undefined) await this.#retryFailed(knowledgeBaseId, generation, signal);
		const filler = new GenerationFiller(deps, knowledgeBaseId, generation);
		let trainedBasis: BuiltBasis | null = null;
		for (let pass = 0; pass < MAX_PASSES; pass++) {
			signal.throwIfAborted();
			const { changed, failed } = await filler.pass();
			if (failed > 0) await sleep(retryMs, signal);
			if (changed + failed > 0) continue;
			const stored = await store.searchIndex.generation(generation);
			if (embedder) {
				for await (const _ of embedGeneration(deps, embedder, generation)) await this.#clearProblem(knowledgeBaseId);
			}
			// A small one is trained while nothing is indexed, on every word; a large one before, as that takes a while.
			else if (trainedBasis) trainedBasis = await foldInNewChunks(deps, trainedBasis);
			else if (stored && stored.chunk_count > MAX_SYNC_TRAINING_CHUNKS)
				trainedBasis = await buildLargeBasis(deps, generation);
			const swap = { jobId: job.id, knowledgeBaseId, generation, filler, embedder, trainedBasis };
			if (await indexing.run(knowledgeBaseId, () => swapGeneration(deps, swap))) return;
		}
		throw new AppError('unavailable', 'The knowledge base changes faster than it is indexed.');
	}

	/** Documents in `error` are tried again, as every one is that somebody retries; once, however often the rebuild is. */
	async #retryFailed(knowledgeBaseId: string, generation: string, signal: AbortSignal): Promise<void> {
		const { store, documents } = this.#deps;
		for await (const { document } of documentsWithCoverage(store, knowledgeBaseId, generation)) {
			signal.throwIfAborted();
			if (document.status !== 'error') continue;
			await documents.retry(knowledgeBaseId, document.id).catch((error: unknown) => {
				// Removed just now.
				if (!(error instanceof AppError && error.code === 'not_found')) throw error;
			});
		}
	}

	/** What serves goes on to serve, and the status is again what the documents make it. */
	async #giveUp(job: Job, error: unknown): Promise<void> {
		const { store, clock, log } = this.#deps;
		const hasGivenUp = await decideAndCommit(store, async () => {
			const record = await store.get('knowledge_bases', job.ref);
			const jobs = [{ op: 'settle', id: job.id } as const];
			if (!this.#isCurrent(job, record)) return { commit: { jobs }, result: false };
			const { commit } = endRebuild(record, publicReason(error, BUILD_FAILED_SENTENCE), clock.now());
			return { commit: { ...commit, jobs }, result: true };
		});
		if (!hasGivenUp) return;
		log.error({ knowledge_base: job.ref, error: messageOf(error) }, 'reindexing was given up; the old index serves');
	}
}

const BUILD_FAILED_SENTENCE = 'The index could not be built; the server’s log tells more.';
