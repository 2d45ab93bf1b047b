import { AppError, type KeyedLock, type Log, LruCache, messageOf, newId, shortageOf, sleep } from '../../base/index.ts';
import { type Embedders, isProviderFailure } from '../../models/index.ts';
import { type Commit, decideAndCommit, expectVersion, type Job, type KnowledgeBaseRecord } from '../../store/index.ts';
import type { Documents } from '../documents.ts';
import { type EmbeddingDependencies, embedGeneration } from '../embedding/index.ts';
import { publicReason } from '../ingest/fail-document.ts';
import { type JobHandler, retryDelay, shortageDelay } from '../job-loop.ts';
import { moveCounts, problemCommit } from '../status.ts';
import { abortWhenUnneeded } from '../training/abort-when-unneeded.ts';
import {
	type BuiltBasis,
	buildBasis,
	buildTunedBasis,
	foldInNewChunks,
	type TunedBasisDependencies,
} from '../training/build-basis.ts';
import { TrainingInterrupted } from '../training/training-policy.ts';
import { documentsWithCoverage, GenerationFiller } from './fill-generation.ts';
import { endRebuild, openGeneration, REBUILD } from './request-rebuild.ts';
import { swapGeneration } from './swap-generation.ts';

export interface RebuildDependencies
	extends Omit<TunedBasisDependencies, 'signal'>,
		Pick<EmbeddingDependencies, 'modelIdentity' | 'unsavedVectors'> {
	documents: Documents;
	embedders: Embedders;
	log: Log;
	/** The lock of a knowledge base's index, by its id. */
	indexing: KeyedLock;
	retryMs: number;
	/** Chunks up to which the swap trains, while it holds the lock. */
	maxSyncTrainingChunks: number;
}

/**
 * Claims of a job up to which it tunes the basis. Each earlier claim ended with a crash of the server's process during the
 * training: claims that ended before, while documents were parsed, do not count.
 */
const MAX_TUNED_CLAIMS = 2;
/** Concurrent rebuilds: a rebuild that takes hours must not block all others. */
const MAX_CONCURRENT_REBUILDS = 2;
/** Attempts without progress before a rebuild is given up. Each attempt continues with what was built. */
const MAX_ATTEMPTS = 5;
/** The size of the cache of failure counts. */
const FAILURE_CACHE_SIZE = 1_000;
/** The maximum number of passes over the documents of a knowledge base that changes all the time. */
const MAX_PASSES = 50;

/** Failures of a rebuild since its last progress, in this process. */
interface FailureCounts {
	/** The progress at the last failure. */
	progress: string;
	/** `temporary` counts failures of a provider and shortages of the system, `permanent` all others. */
	temporary: number;
	permanent: number;
}

/**
 * Rebuilds a knowledge base's index from the stored bytes as a second generation beside the serving one. One commit swaps
 * them. Until then `KnowledgeBaseRecord.rebuilding` names the second one. Documents that are indexed meanwhile go into both;
 * documents that are removed or fail leave both. After a restart the next process continues.
 */
export class Rebuild implements JobHandler {
	readonly kind = REBUILD;
	readonly concurrencyLimit = MAX_CONCURRENT_REBUILDS;
	readonly leaseMs = 12 * 3_600_000;
	readonly #deps: RebuildDependencies;
	/** By job id. */
	readonly #failureCounts = new LruCache<string, FailureCounts>(FAILURE_CACHE_SIZE);
	/** The last generation that a job has worked on, by job id. */
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
			// The deletion of the knowledge base also removed the new generation, so nothing is left to do.
			if ((await store.get('knowledge_bases', job.ref))?.rebuilding === generation) throw error;
		}
		await store.commit({ jobs: [{ op: 'complete', id: job.id }] });
	}

	/**
	 * Failures of a provider and shortages of the system are retried without end, and all that was built and paid for is kept:
	 * only the operator can know whether the key is about to be renewed. The client can end the rebuild.
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

	/** Counts a failure. The counts restart if vectors were stored since the last failure. */
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

	/** Postpones a rebuild and shows the reason on its knowledge base. */
	async #postponeWithProblem(job: Job, error: AppError, ms: number): Promise<void> {
		const { store, clock } = this.#deps;
		await decideAndCommit(store, async () => {
			const record = await store.get('knowledge_bases', job.ref);
			if (!this.#isCurrent(job, record))
				return { commit: { jobs: [{ op: 'complete', id: job.id }] }, result: undefined };
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

	/** Removes the reason of a failure from the knowledge base as soon as vectors are stored again. */
	async #clearProblem(knowledgeBaseId: string): Promise<void> {
		const { store } = this.#deps;
		await decideAndCommit(store, async () => {
			const record = await store.get('knowledge_bases', knowledgeBaseId);
			const problem = record ? problemCommit(record, null) : { expect: [], write: [] };
			return { commit: problem.write.length > 0 ? problem : null, result: undefined };
		});
	}

	/** The generation under construction. A generation for another embedder than the server's is replaced by an empty one. */
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
		const { store, indexing, embedders, retryMs, maxSyncTrainingChunks } = this.#deps;
		// Null for the built-in embedder: all other configured embedders can be resolved.
		const embedder = embedders.resolve(embedders.configured);
		const deps = { ...this.#deps, signal };
		const knowledgeBaseId = job.ref;
		if (this.#failureCounts.get(job.id) === undefined) await this.#retryFailed(knowledgeBaseId, generation, signal);
		const filler = new GenerationFiller(deps, knowledgeBaseId, generation);
		let trainedBasis: BuiltBasis | null = null;
		let tuningError: Error | null = null;
		for (let pass = 0; pass < MAX_PASSES; pass++) {
			signal.throwIfAborted();
			const { changed, failed } = await filler.pass();
			if (failed > 0) await sleep(retryMs, signal);
			if (changed + failed > 0) continue;
			const stored = await store.searchIndex.generation(generation);
			if (embedder) {
				for await (const _ of embedGeneration(deps, embedder, generation)) await this.#clearProblem(knowledgeBaseId);
			}
			// The swap trains an untuned basis of a small generation, while it holds the lock, and a tuned training follows. A large
			// generation is trained before, because that takes long.
			else if (trainedBasis) trainedBasis = await foldInNewChunks(deps, trainedBasis);
			else if (stored && stored.chunk_count > maxSyncTrainingChunks) {
				const attempts = filler.builtCount > 0 ? await this.#restartAttempts(job) : job.attempts;
				({ trainedBasis, tuningError } = await this.#trainBasis(deps, { ...job, attempts }, generation));
			}
			const swap = { jobId: job.id, knowledgeBaseId, generation, filler, embedder, trainedBasis, tuningError };
			if (await indexing.run(knowledgeBaseId, () => swapGeneration(deps, swap))) return;
		}
		throw new AppError('unavailable', 'The knowledge base changes faster than it is indexed.');
	}

	/** Counts a claim as the first that reaches the training: earlier claims ended before all documents were parsed. */
	async #restartAttempts({ id }: Job): Promise<number> {
		await this.#deps.store.commit({ jobs: [{ op: 'restart_attempts', id }] });
		return 1;
	}

	/**
	 * Trains a tuned basis; if that fails, an untuned one, because the new index need not wait for the tuning. Both end when the
	 * rebuild is stopped or the knowledge base deleted.
	 */
	async #trainBasis(
		deps: RebuildDependencies & TunedBasisDependencies,
		job: Job,
		generation: string,
	): Promise<{ trainedBasis: BuiltBasis; tuningError: Error | null }> {
		const isNeeded = async () => (await deps.store.get('knowledge_bases', job.ref))?.rebuilding === generation;
		await using training = abortWhenUnneeded(isNeeded, deps.signal);
		const { signal } = training;
		const trainingDeps = { ...deps, signal };
		let tuningError: Error = new TrainingInterrupted();
		try {
			if (job.attempts <= MAX_TUNED_CLAIMS) {
				return { trainedBasis: await buildTunedBasis(trainingDeps, generation), tuningError: null };
			}
		} catch (error) {
			const isOver = (await deps.store.searchIndex.generation(generation)) === undefined;
			if (isOver || signal.aborted || shortageOf(error) || !(error instanceof Error)) throw error;
			tuningError = error;
			const fields = { knowledge_base: job.ref, error: messageOf(error) };
			deps.log.warn(fields, 'a basis could not be tuned, so it is trained without tuning');
		}
		const untuned = await buildBasis(trainingDeps, generation, { tuned: false });
		return { trainedBasis: await foldInNewChunks(trainingDeps, untuned), tuningError };
	}

	/** Retries documents with the status `error`, once for each rebuild, however many attempts the rebuild takes. */
	async #retryFailed(knowledgeBaseId: string, generation: string, signal: AbortSignal): Promise<void> {
		const { store, documents } = this.#deps;
		for await (const { document } of documentsWithCoverage(store, knowledgeBaseId, generation)) {
			signal.throwIfAborted();
			if (document.status !== 'error') continue;
			try {
				await documents.retry(knowledgeBaseId, document.id).commit();
			} catch (error) {
				// The document was removed just now.
				if (!(error instanceof AppError && error.code === 'not_found')) throw error;
			}
		}
	}

	/** Ends the rebuild. The present index continues to serve, and the status follows from the documents again. */
	async #giveUp(job: Job, error: unknown): Promise<void> {
		const { store, clock, log } = this.#deps;
		const hasGivenUp = await decideAndCommit(store, async () => {
			const record = await store.get('knowledge_bases', job.ref);
			const jobs = [{ op: 'complete', id: job.id } as const];
			if (!this.#isCurrent(job, record)) return { commit: { jobs }, result: false };
			const { commit } = endRebuild(record, publicReason(error, BUILD_FAILED_SENTENCE), clock.now());
			return { commit: { ...commit, jobs: [...jobs, ...commit.jobs] }, result: true };
		});
		if (!hasGivenUp) return;
		log.error({ knowledge_base: job.ref, error: messageOf(error) }, 'reindexing was given up; the old index serves');
	}
}

const BUILD_FAILED_SENTENCE = 'The index could not be built; the server’s log has the cause.';
