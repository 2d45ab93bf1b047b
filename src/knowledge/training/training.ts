import { AppError, type KeyedLock, type Log, messageOf, shortageOf } from '../../base/index.ts';
import { BUILTIN_EMBEDDER } from '../../models/index.ts';
import {
	type Commit,
	decideAndCommit,
	expectVersion,
	type Generation,
	type Job,
	type KnowledgeBaseRecord,
} from '../../store/index.ts';
import { commitWrite } from '../commit-write.ts';
import { type JobHandler, shortageDelay } from '../job-loop.ts';
import {
	type BuiltBasis,
	buildBasis,
	buildTunedBasis,
	foldInNewChunks,
	type TunedBasisDependencies,
} from './build-basis.ts';
import {
	failuresAfter,
	hasFailedOften,
	hasOutgrownBasis,
	isTrainingDue,
	TRAIN,
	trainingDelay,
	UNTUNED,
} from './training-policy.ts';

export interface TrainingHandlerDependencies extends Omit<TunedBasisDependencies, 'signal'> {
	/** The lock of a knowledge base's index, by its id. */
	indexing: KeyedLock;
	log: Log;
	retryMs: number;
	/** Chunks above which a poor basis is replaced although documents wait. */
	maxSyncTrainingChunks: number;
}

/**
 * Claims of a job up to which it tunes. Each earlier claim ended with the server's process, perhaps because of the training,
 * which takes the most memory when it tunes. After a failure one claim must do.
 */
const MAX_TUNED_CLAIMS = 2;
/** Claims beyond those up to which it trains an untuned basis. Then it is postponed. */
const MAX_UNTUNED_CLAIMS = 2;

/** A training at its start. */
interface TrainingStart {
	record: KnowledgeBaseRecord;
	/** The serving generation. */
	generation: Generation;
}

/**
 * Trains a tuned basis beside the serving one and makes it serve in one commit. Documents are indexed meanwhile: the lock is
 * held only to fold in the last of them and to make the new basis serve. A training waits until the queue of documents is
 * empty: the commit that empties the queue adds its job. One claim trains once: if more has changed meanwhile, the job
 * waits behind the trainings of other knowledge bases.
 *
 * A training that fails is tried again with a growing delay. If it has failed often and the serving basis is poor, an untuned
 * basis is trained, which takes less time and memory.
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
		const start = await this.#start(job.ref);
		if (start) {
			try {
				await this.#trainOnce(job, start, signal);
			} catch (error) {
				// The knowledge base was deleted or reindexed meanwhile, or another basis serves.
				if (signal.aborted || (await this.#isServing(start))) throw error;
			}
		}
		await this.#finish(job);
	}

	/**
	 * Postpones a failed training. The failures are counted on the record, so that another request and another process continue
	 * with the same delay. A shortage of the system is no failure of the training.
	 */
	async afterFailure(job: Job, error: unknown, failures: number): Promise<void> {
		const { store, clock, retryMs } = this.#deps;
		await decideAndCommit(store, async () => {
			const record = await store.get('knowledge_bases', job.ref);
			const postpone = (ms: number) => ({ op: 'postpone', id: job.id, due_at: clock.now() + ms }) as const;
			if (!record || record.training_asked_at === null) {
				const expect = record ? [expectVersion('knowledge_bases', record)] : [];
				return { commit: { expect, jobs: [{ op: 'complete', id: job.id }] }, result: undefined };
			}
			if (shortageOf(error)) {
				return { commit: { jobs: [postpone(shortageDelay(retryMs, failures))] }, result: undefined };
			}
			const training_failures = failuresAfter(record.training_failures, isPermanent(error));
			const { expect, write } = patchKnowledgeBase(record, { training_failures });
			const jobs = [postpone(trainingDelay(training_failures, retryMs))];
			return { commit: { expect, write, jobs }, result: undefined };
		});
	}

	/** The state of a knowledge base whose requested training can start now; undefined if there is none, or if it must wait. */
	async #start(knowledgeBaseId: string): Promise<TrainingStart | undefined> {
		const record = await this.#deps.store.get('knowledge_bases', knowledgeBaseId);
		const generation = await this.#serving(knowledgeBaseId);
		return record && generation && this.#canStart(record, generation) ? { record, generation } : undefined;
	}

	#canStart(record: KnowledgeBaseRecord, generation: Generation): boolean {
		if (record.training_asked_at === null || record.rebuilding !== null) return false;
		return record.documents_pending === 0 || this.#isPoor(generation);
	}

	/** Whether a basis is so poor that its training does not wait for the queue of documents, which may take hours. */
	#isPoor(generation: Generation): boolean {
		return generation.chunk_count > this.#deps.maxSyncTrainingChunks && hasOutgrownBasis(generation);
	}

	/**
	 * Ends a claim of a job. If another training was requested or became due meanwhile, the job waits for its next turn. A
	 * request that must wait is left to the commit that empties the queue of documents or ends the rebuild. Where nothing is
	 * left to train on, the request is cleared.
	 */
	#finish({ id, ref }: Job): Promise<void> {
		const { store, clock } = this.#deps;
		return decideAndCommit(store, async () => {
			const record = await store.get('knowledge_bases', ref);
			const generation = await this.#serving(ref);
			const complete = { op: 'complete', id } as const;
			if (!record) return { commit: { jobs: [complete] }, result: undefined };
			const expect = [expectVersion('knowledge_bases', record)];
			if (generation && this.#canStart(record, generation)) {
				const due_at = clock.now() + trainingDelay(record.training_failures);
				return { commit: { expect, jobs: [{ op: 'postpone', id, due_at }] }, result: undefined };
			}
			const isUnneeded = record.training_asked_at !== null && !generation;
			const { write } = patchKnowledgeBase(record, { training_asked_at: null });
			return { commit: { expect, write: isUnneeded ? write : [], jobs: [complete] }, result: undefined };
		});
	}

	/** Trains a tuned basis; if that fails again and again and the present basis is poor, an untuned one. */
	async #trainOnce(job: Job, start: TrainingStart, signal: AbortSignal): Promise<void> {
		const { record } = start;
		const tunedClaims = record.training_failures === 0 ? MAX_TUNED_CLAIMS : 1;
		const wasInterrupted = job.attempts > tunedClaims;
		try {
			if (wasInterrupted) throw new AppError('unavailable', INTERRUPTED_SENTENCE);
			return await this.#train(start, { tuned: true }, signal);
		} catch (error) {
			const failures = failuresAfter(record.training_failures, isPermanent(error));
			const mayTrain =
				!signal.aborted && shortageOf(error) === null && job.attempts <= tunedClaims + MAX_UNTUNED_CLAIMS;
			const replacesBasis = (wasInterrupted || hasFailedOften(failures)) && isUntunedBetter(start);
			if (!mayTrain || !replacesBasis || !(await this.#isServing(start))) throw error;
			const fields = { knowledge_base: record.id, error: messageOf(error) };
			this.#deps.log.warn(fields, 'a basis could not be tuned, so it is trained without tuning');
		}
		await this.#train(start, { tuned: false }, signal);
	}

	async #train(start: TrainingStart, { tuned }: { tuned: boolean }, signal: AbortSignal): Promise<void> {
		const { store, indexing } = this.#deps;
		const deps = { ...this.#deps, signal };
		const { id } = start.generation;
		let serves = false;
		try {
			const built = tuned ? await buildTunedBasis(deps, id) : await buildBasis(deps, id, { tuned });
			serves = await indexing.run(start.record.id, () => this.#serve(deps, start, built));
		} finally {
			// Otherwise each failed attempt would leave its vectors. Where this fails, too, the next attempt does it.
			if (!serves) await commitWrite(store, { op: 'index.drop_unserved_bases', generation: id }).catch(() => {});
		}
	}

	/**
	 * Makes the basis serve and ends the request, unless another training was requested or is due by now.
	 * @returns false if another basis has replaced the basis that served at the start
	 */
	async #serve(deps: TunedBasisDependencies, start: TrainingStart, built: BuiltBasis): Promise<boolean> {
		if (!(await this.#isServing(start))) return false;
		const { id, changed_chunks: changedBefore, training_asked_at: askedAt } = start.record;
		const { generation, basis, trainedAt, trainedOn, isTuned, semanticWeight } = await foldInNewChunks(deps, built);
		await decideAndCommit(deps.store, async () => {
			const record = await deps.store.get('knowledge_bases', id);
			if (record?.generation !== generation) throw new AppError('not_found', 'The index was replaced meanwhile.');
			// Chunks that came before the worker read the index are counted again, which at worst repeats a training.
			const changed_chunks = Math.max(0, record.changed_chunks - changedBefore);
			const tuning = isTuned ? { tuned_on: trainedOn, changed_chunks, tuned_weight: semanticWeight } : UNTUNED;
			const isRepeated = record.training_asked_at !== askedAt || (isTuned && isTrainingDue(tuning));
			const { expect, write } = patchKnowledgeBase(record, {
				...tuning,
				trained_at: trainedAt,
				training_asked_at: isRepeated ? record.training_asked_at : null,
				training_failures: isTuned ? 0 : record.training_failures + 1,
			});
			const serve = { op: 'index.serve_basis', generation, basis } as const;
			return { commit: { expect, write: [...write, serve] }, result: undefined };
		});
		return true;
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
		Pick<
			KnowledgeBaseRecord,
			'trained_at' | 'training_asked_at' | 'training_failures' | 'tuned_on' | 'changed_chunks' | 'tuned_weight'
		>
	>,
): Required<Pick<Commit, 'expect' | 'write'>> {
	return {
		expect: [expectVersion('knowledge_bases', record)],
		write: [{ op: 'patch', kind: 'knowledge_bases', id: record.id, set }],
	};
}

/** Whether an untuned basis on all chunks is better than the serving one. */
function isUntunedBetter({ record, generation }: TrainingStart): boolean {
	return record.tuned_on === 0 ? generation.trained_on < generation.chunk_count : hasOutgrownBasis(generation);
}

function isPermanent(error: unknown): boolean {
	return error instanceof AppError && error.code !== 'unavailable';
}

const INTERRUPTED_SENTENCE = 'The server’s process ended during each of the last attempts at this training.';
