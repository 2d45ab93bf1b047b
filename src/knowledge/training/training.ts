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
import { type BuiltBasis, buildLargeBasis, foldInNewChunks, type LargeBasisDependencies } from './build-basis.ts';
import { isWorthTraining, RETRAIN_GROWTH_FACTOR, TRAIN } from './training-policy.ts';

export interface TrainingHandlerDependencies extends Omit<LargeBasisDependencies, 'signal'> {
	/** The lock of a knowledge base's index, by its id. */
	indexing: KeyedLock;
	retryMs: number;
}

/** Attempts of a training. */
const MAX_ATTEMPTS = 3;

/**
 * Trains a new basis when a knowledge base has outgrown its present one. Documents are indexed meanwhile: the lock is held
 * only to fold in the last of them and to make the new basis serve.
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
		const { store } = this.#deps;
		const askedAt = (await store.get('knowledge_bases', job.ref))?.training_asked_at ?? null;
		const atRequest = await this.#serving(job.ref);
		let candidate = atRequest && isWorthTraining(atRequest.chunk_count, atRequest.trained_on) ? atRequest : undefined;
		while (candidate) {
			try {
				await this.#train(job.ref, candidate.id, signal);
			} catch (error) {
				// The knowledge base was deleted or reindexed meanwhile, so nothing is left to do.
				if ((await this.#serving(job.ref))?.id === candidate.id) throw error;
			}
			// It may have outgrown this basis during the training, and no later document may request the next training.
			const current = await this.#serving(job.ref);
			candidate = current && current.chunk_count >= RETRAIN_GROWTH_FACTOR * current.trained_on ? current : undefined;
		}
		await this.#complete(job, askedAt);
	}

	async afterFailure(job: Job, error: unknown, failures: number): Promise<void> {
		const { store, clock, retryMs } = this.#deps;
		const isPermanent = error instanceof AppError && error.code !== 'unavailable';
		const isShortage = shortageOf(error) !== null;
		const retries = isShortage || (!isPermanent && failures < MAX_ATTEMPTS);
		const due_at = clock.now() + (isShortage ? shortageDelay : retryDelay)(retryMs, failures);
		await store.commit({ jobs: [retries ? { op: 'postpone', id: job.id, due_at } : { op: 'complete', id: job.id }] });
	}

	/** Completes the job, and clears the request for a training unless it was repeated meanwhile. */
	#complete({ id, ref }: Job, askedAt: number | null): Promise<void> {
		return decideAndCommit(this.#deps.store, async () => {
			const record = await this.#deps.store.get('knowledge_bases', ref);
			const jobs = [{ op: 'complete', id } as const];
			const isSettled = record && askedAt !== null && record.training_asked_at === askedAt;
			if (!isSettled) return { commit: { jobs }, result: undefined };
			return { commit: { ...patchKnowledgeBase(record, { training_asked_at: null }), jobs }, result: undefined };
		});
	}

	async #train(knowledgeBaseId: string, generation: string, signal: AbortSignal): Promise<void> {
		const deps = { ...this.#deps, signal };
		const built = await buildLargeBasis(deps, generation);
		await this.#deps.indexing.run(knowledgeBaseId, () => this.#serve(deps, knowledgeBaseId, built));
	}

	/** Completes this job and trainings that were requested meanwhile. */
	async #serve(deps: LargeBasisDependencies, knowledgeBaseId: string, built: BuiltBasis): Promise<void> {
		if ((await this.#serving(knowledgeBaseId))?.id !== built.generation) return;
		const { generation, basis, trainedAt } = await foldInNewChunks(deps, built);
		await decideAndCommit(deps.store, async () => {
			const record = await deps.store.get('knowledge_bases', knowledgeBaseId);
			if (record?.generation !== generation) throw new AppError('not_found', 'The index was replaced meanwhile.');
			const { expect, write } = patchKnowledgeBase(record, { trained_at: trainedAt, training_asked_at: null });
			const commit: Commit = {
				expect,
				write: [...write, { op: 'index.serve_basis', generation, basis }],
				jobs: [{ op: 'complete_all', ref: knowledgeBaseId, kind: TRAIN }],
			};
			return { commit, result: undefined };
		});
	}

	/** The serving generation, if it has chunks and its vectors come from training. */
	async #serving(knowledgeBaseId: string): Promise<Generation | undefined> {
		const generation = await this.#deps.store.searchIndex.servingGeneration(knowledgeBaseId);
		return generation?.chunk_count && generation.embedder === BUILTIN_EMBEDDER ? generation : undefined;
	}
}

function patchKnowledgeBase(
	record: KnowledgeBaseRecord,
	set: Partial<Pick<KnowledgeBaseRecord, 'trained_at' | 'training_asked_at'>>,
): Required<Pick<Commit, 'expect' | 'write'>> {
	return {
		expect: [expectVersion('knowledge_bases', record)],
		write: [{ op: 'patch', kind: 'knowledge_bases', id: record.id, set }],
	};
}
