import { AppError, type KeyedLock, shortageOf } from '../../base/index.ts';
import { BUILTIN_EMBEDDER } from '../../models/index.ts';
import {
	type Commit,
	decideAndCommit,
	expectVersion,
	type Generation,
	type Job,
	type KnowledgeBaseRecord,
} from '../../store/index.ts';
import { type JobHandler, retryDelay, shortageDelay } from '../job-loop.ts';
import { type BuiltBasis, buildTunedBasis, foldInNewChunks, type TunedBasisDependencies } from './build-basis.ts';
import { hasOutgrownBasis, isTrainingDue, TRAIN } from './training-policy.ts';

export interface TrainingHandlerDependencies extends Omit<TunedBasisDependencies, 'signal'> {
	/** The lock of a knowledge base's index, by its id. */
	indexing: KeyedLock;
	retryMs: number;
	/** Chunks above which a poor basis is replaced although documents wait. */
	maxSyncTrainingChunks: number;
}

/** Attempts of a training. */
const MAX_ATTEMPTS = 3;

/** A training at its start. */
interface TrainingStart {
	record: KnowledgeBaseRecord;
	/** The serving generation. */
	generation: Generation;
}

/**
 * Trains a tuned basis beside the serving one and makes it serve in one commit. Documents are indexed meanwhile: the lock is
 * held only to fold in the last of them and to make the new basis serve. A training waits until the queue of documents is
 * empty: the commit that empties the queue adds its job.
 */
export class Training implements JobHandler {
	readonly kind = TRAIN;
	readonly concurrencyLimit = 1;
	readonly leaseMs = 2 * 3_600_000;
	readonly #deps: TrainingHandlerDependencies;

	constructor(deps: TrainingHandlerDependencies) {
		this.#deps = deps;
	}

	async perform(job: Job, signal: AbortSignal): Promise<void> {
		for (let start = await this.#start(job.ref); start; start = await this.#start(job.ref)) {
			try {
				await this.#train(start, signal);
			} catch (error) {
				// The knowledge base was deleted or reindexed meanwhile, or another basis serves and this one was dropped.
				if (await this.#isServing(start)) throw error;
			}
		}
		await this.#complete(job);
	}

	async afterFailure(job: Job, error: unknown, failures: number): Promise<void> {
		const { store, clock, retryMs } = this.#deps;
		const isPermanent = error instanceof AppError && error.code !== 'unavailable';
		const isShortage = shortageOf(error) !== null;
		const retries = isShortage || (!isPermanent && failures < MAX_ATTEMPTS);
		const due_at = clock.now() + (isShortage ? shortageDelay : retryDelay)(retryMs, failures);
		await store.commit({ jobs: [retries ? { op: 'postpone', id: job.id, due_at } : { op: 'complete', id: job.id }] });
	}

	/** The state of a knowledge base whose requested training can start now; undefined if there is none, or if it must wait. */
	async #start(knowledgeBaseId: string): Promise<TrainingStart | undefined> {
		const record = await this.#deps.store.get('knowledge_bases', knowledgeBaseId);
		const generation = await this.#serving(knowledgeBaseId);
		if (!record || !generation || record.training_asked_at === null || record.rebuilding !== null) return undefined;
		const canStart = record.documents_pending === 0 || this.#isUrgent(generation);
		return canStart ? { record, generation } : undefined;
	}

	/** Whether a training does not wait for the queue of documents, which may take hours: the present basis is poor. */
	#isUrgent(generation: Generation): boolean {
		return generation.chunk_count > this.#deps.maxSyncTrainingChunks && hasOutgrownBasis(generation);
	}

	/**
	 * Completes the job. A request that is left waits for the commit that empties the queue of documents or ends the rebuild,
	 * except where there is nothing to train: then the request is cleared.
	 */
	#complete({ id, ref }: Job): Promise<void> {
		return decideAndCommit(this.#deps.store, async () => {
			const record = await this.#deps.store.get('knowledge_bases', ref);
			const jobs = [{ op: 'complete', id } as const];
			const isVoid = record && record.training_asked_at !== null && !(await this.#serving(ref));
			if (!isVoid) return { commit: { jobs }, result: undefined };
			return { commit: { ...patchKnowledgeBase(record, { training_asked_at: null }), jobs }, result: undefined };
		});
	}

	async #train(start: TrainingStart, signal: AbortSignal): Promise<void> {
		const deps = { ...this.#deps, signal };
		const built = await buildTunedBasis(deps, start.generation.id);
		await this.#deps.indexing.run(start.record.id, () => this.#serve(deps, start, built));
	}

	/**
	 * Makes the basis serve, unless another one has replaced the basis that served at the start. The request and its jobs end,
	 * unless another training was requested or is due by now.
	 */
	async #serve(deps: TunedBasisDependencies, start: TrainingStart, built: BuiltBasis): Promise<void> {
		if (!(await this.#isServing(start))) return;
		const { id, changed_chunks: changedBefore, training_asked_at: askedAt } = start.record;
		const { generation, basis, trainedAt, trainedOn, semanticWeight } = await foldInNewChunks(deps, built);
		await decideAndCommit(deps.store, async () => {
			const record = await deps.store.get('knowledge_bases', id);
			if (record?.generation !== generation) throw new AppError('not_found', 'The index was replaced meanwhile.');
			// Chunks that came before the worker read the index are counted again, which at worst repeats a training.
			const changed_chunks = Math.max(0, record.changed_chunks - changedBefore);
			const tuning = { tuned_on: trainedOn, changed_chunks, tuned_weight: semanticWeight };
			const isRepeated = record.training_asked_at !== askedAt || isTrainingDue(tuning);
			const { expect, write } = patchKnowledgeBase(record, {
				...tuning,
				trained_at: trainedAt,
				training_asked_at: isRepeated ? record.training_asked_at : null,
			});
			const commit: Commit = {
				expect,
				write: [...write, { op: 'index.serve_basis', generation, basis }],
				jobs: isRepeated ? [] : [{ op: 'complete_all', ref: id, kind: TRAIN }],
			};
			return { commit, result: undefined };
		});
	}

	/** Whether the basis that served at the start still serves. */
	async #isServing({ generation: { id, basis, knowledge_base_id } }: TrainingStart): Promise<boolean> {
		const serving = await this.#serving(knowledge_base_id);
		return serving?.id === id && serving.basis === basis;
	}

	/** The serving generation, if it has chunks and its vectors come from training. */
	async #serving(knowledgeBaseId: string): Promise<Generation | undefined> {
		const generation = await this.#deps.store.searchIndex.servingGeneration(knowledgeBaseId);
		return generation?.chunk_count && generation.embedder === BUILTIN_EMBEDDER ? generation : undefined;
	}
}

function patchKnowledgeBase(
	record: KnowledgeBaseRecord,
	set: Partial<
		Pick<KnowledgeBaseRecord, 'trained_at' | 'training_asked_at' | 'tuned_on' | 'changed_chunks' | 'tuned_weight'>
	>,
): Required<Pick<Commit, 'expect' | 'write'>> {
	return {
		expect: [expectVersion('knowledge_bases', record)],
		write: [{ op: 'patch', kind: 'knowledge_bases', id: record.id, set }],
	};
}
