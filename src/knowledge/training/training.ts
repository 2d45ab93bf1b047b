import { AppError, type KeyedLock, type Log, messageOf, shortageOf } from '../../base/index.ts';
import { BUILTIN_EMBEDDER } from '../../models/index.ts';
import {
	type Commit,
	decideAndCommit,
	expectVersion,
	type Generation,
	type Job,
	type JobWrite,
	type KnowledgeBaseRecord,
} from '../../store/index.ts';
import { commitWrite } from '../commit-write.ts';
import type { JobHandler } from '../job-loop.ts';
import {
	type BuiltBasis,
	buildBasis,
	buildTunedBasis,
	foldInNewChunks,
	type TunedBasisDependencies,
} from './build-basis.ts';
import {
	failureOf,
	failuresAfter,
	hasFailedOften,
	hasOutgrownBasis,
	isTrainingDue,
	TRAIN,
	type TrainingFailure,
	trainingDelay,
	UNTUNED,
} from './training-policy.ts';

export interface TrainingHandlerDependencies extends Omit<TunedBasisDependencies, 'signal'> {
	/** The lock of a knowledge base's index, by its id. */
	indexing: KeyedLock;
	log: Log;
	retryMs: number;
	/** Chunks above which an outgrown basis is replaced although documents wait. */
	maxSyncTrainingChunks: number;
}

/**
 * Claims of a job up to which it tunes. Each earlier claim ended with the server's process, perhaps because of the training,
 * which takes the most memory when it tunes. After a failure one claim must do.
 */
const MAX_TUNED_CLAIMS = 2;
/** Claims beyond those up to which it trains an untuned basis. Then it is postponed. */
const MAX_UNTUNED_CLAIMS = 2;
/**
 * Milliseconds until a failed training whose delay has passed checks again whether its documents are indexed. Without its job,
 * the commit that empties the queue of documents would begin the delay again.
 */
const RECHECK_MS = 30_000;

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
 * A training that fails is tried again with a growing delay. If it has failed often, or has failed at all and the knowledge base
 * has outgrown its basis, an untuned basis is trained, which takes less time and memory. The request of the tuned one stays.
 */
export class Training implements JobHandler {
	readonly kind = TRAIN;
	readonly concurrencyLimit = 1;
	readonly leaseMs = 2 * 3_600_000;
	readonly #deps: TrainingHandlerDependencies;
	/** When the present attempt began, in milliseconds since the epoch. Jobs of this kind run one at a time. */
	#startedAt = 0;

	constructor(deps: TrainingHandlerDependencies) {
		this.#deps = deps;
	}

	async perform(job: Job, signal: AbortSignal): Promise<void> {
		this.#startedAt = this.#deps.clock.now();
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
	 * with the same delay. A shortage of the system is no failure of the training, but delays it as much: each attempt trains from
	 * the beginning, and if it fills the disk, other commits fail too.
	 */
	async afterFailure(job: Job, error: unknown, failures: number): Promise<void> {
		const { store } = this.#deps;
		await decideAndCommit(store, async () => {
			const record = await store.get('knowledge_bases', job.ref);
			if (!record || record.training_asked_at === null) {
				const expect = record ? [expectVersion('knowledge_bases', record)] : [];
				return { commit: { expect, jobs: [{ op: 'complete', id: job.id }] }, result: undefined };
			}
			if (shortageOf(error)) {
				return { commit: { jobs: [this.#postponement(job, failures)] }, result: undefined };
			}
			const training_failures = failuresAfter(record.training_failures, kindOf(error));
			const { expect, write } = patchKnowledgeBase(record, { training_failures });
			return { commit: { expect, write, jobs: [this.#postponement(job, training_failures)] }, result: undefined };
		});
	}

	/** The write that postpones a training by the delay of its failures. */
	#postponement({ id }: Job, failures: number): JobWrite {
		const { clock, retryMs } = this.#deps;
		const now = clock.now();
		const durationMs = Math.max(0, now - this.#startedAt);
		return { op: 'postpone', id, due_at: now + trainingDelay(failures, retryMs, durationMs) };
	}

	/** The state of a knowledge base whose requested training can start now; undefined if there is none, or if it must wait. */
	async #start(knowledgeBaseId: string): Promise<TrainingStart | undefined> {
		const record = await this.#deps.store.get('knowledge_bases', knowledgeBaseId);
		const generation = await this.#serving(knowledgeBaseId);
		return record && generation && this.#canStart(record, generation) ? { record, generation } : undefined;
	}

	#canStart(record: KnowledgeBaseRecord, generation: Generation): boolean {
		if (record.training_asked_at === null || record.rebuilding !== null) return false;
		return record.documents_pending === 0 || this.#isOutgrown(generation);
	}

	/** Whether a basis is outgrown, so that its training does not wait for the queue of documents, which may take hours. */
	#isOutgrown(generation: Generation): boolean {
		return generation.chunk_count > this.#deps.maxSyncTrainingChunks && hasOutgrownBasis(generation);
	}

	/**
	 * Ends a claim of a job. If a training is still requested, or another became due meanwhile, the job waits for its next turn. A
	 * request that must wait is left to the commit that empties the queue of documents or ends the rebuild, unless it has failed.
	 * Where nothing is left to train on, the request is cleared.
	 */
	#finish(job: Job): Promise<void> {
		const { store, clock } = this.#deps;
		const { id, ref } = job;
		return decideAndCommit(store, async () => {
			const record = await store.get('knowledge_bases', ref);
			const generation = await this.#serving(ref);
			const complete = { op: 'complete', id } as const;
			if (!record) return { commit: { jobs: [complete] }, result: undefined };
			const expect = [expectVersion('knowledge_bases', record)];
			if (generation && this.#canStart(record, generation)) {
				return { commit: { expect, jobs: [this.#postponement(job, record.training_failures)] }, result: undefined };
			}
			const isRequested = record.training_asked_at !== null;
			if (generation && isRequested && record.training_failures > 0) {
				const due_at = clock.now() + RECHECK_MS;
				return { commit: { expect, jobs: [{ op: 'postpone', id, due_at }] }, result: undefined };
			}
			const isUnneeded = isRequested && !generation;
			const { write } = patchKnowledgeBase(record, { training_asked_at: null, training_failures: 0 });
			return { commit: { expect, write: isUnneeded ? write : [], jobs: [complete] }, result: undefined };
		});
	}

	/** Trains a tuned basis; if that fails again and again and the present basis lacks chunks, an untuned one. */
	async #trainOnce(job: Job, start: TrainingStart, signal: AbortSignal): Promise<void> {
		const { record } = start;
		const { training_failures } = record;
		const tunedClaims = training_failures === 0 ? MAX_TUNED_CLAIMS : 1;
		const wasInterrupted = job.attempts > tunedClaims;
		const mayTrainUntuned = job.attempts <= tunedClaims + MAX_UNTUNED_CLAIMS;
		// Only the tuning has failed, so only the tuning waits.
		if (training_failures > 0 && mayTrainUntuned && hasOutgrownBasis(start.generation)) {
			return this.#train(start, { tuned: false, training_failures }, signal);
		}
		let failures: number;
		try {
			if (wasInterrupted) throw new TrainingInterrupted();
			return await this.#train(start, { tuned: true, training_failures: 0 }, signal);
		} catch (error) {
			failures = failuresAfter(training_failures, kindOf(error));
			const mayTrain = !signal.aborted && shortageOf(error) === null && mayTrainUntuned;
			const replacesBasis = (wasInterrupted || hasFailedOften(failures)) && isUntunedBetter(start);
			if (!mayTrain || !replacesBasis || !(await this.#isServing(start))) throw error;
			const fields = { knowledge_base: record.id, error: messageOf(error) };
			this.#deps.log.warn(fields, 'a basis could not be tuned, so it is trained without tuning');
		}
		await this.#train(start, { tuned: false, training_failures: failures }, signal);
	}

	/** @param training_failures the number of failed tunings after it */
	async #train(
		start: TrainingStart,
		{ tuned, training_failures }: { tuned: boolean; training_failures: number },
		signal: AbortSignal,
	): Promise<void> {
		const { store, indexing } = this.#deps;
		const deps = { ...this.#deps, signal };
		const { id } = start.generation;
		let serves = false;
		try {
			const built = tuned ? await buildTunedBasis(deps, id) : await buildBasis(deps, id, { tuned });
			serves = await indexing.run(start.record.id, () => this.#serve(deps, start, built, training_failures));
		} finally {
			// Otherwise each failed attempt would leave its vectors. Where this fails, too, the next attempt does it.
			if (!serves) await commitWrite(store, { op: 'index.drop_unserved_bases', generation: id }).catch(() => {});
		}
	}

	/**
	 * Makes the basis serve. A tuned basis ends the request, unless another training was requested or is due by now.
	 * @returns false if another basis has replaced the basis that served at the start
	 */
	async #serve(
		deps: TunedBasisDependencies,
		start: TrainingStart,
		built: BuiltBasis,
		training_failures: number,
	): Promise<boolean> {
		if (!(await this.#isServing(start))) return false;
		const { id, changed_chunks: changedBefore, training_asked_at: askedAt } = start.record;
		const { generation, basis, trainedAt, trainedOn, isTuned, semanticWeight } = await foldInNewChunks(deps, built);
		await decideAndCommit(deps.store, async () => {
			const record = await deps.store.get('knowledge_bases', id);
			if (record?.generation !== generation) throw new AppError('not_found', 'The index was replaced meanwhile.');
			// Chunks that came before the worker read the index are counted again, which at worst repeats a training.
			const changed_chunks = Math.max(0, record.changed_chunks - changedBefore);
			const tuning = isTuned ? { tuned_on: trainedOn, changed_chunks, tuned_weight: semanticWeight } : UNTUNED;
			const isRepeated = !isTuned || record.training_asked_at !== askedAt || isTrainingDue(tuning);
			const { expect, write } = patchKnowledgeBase(record, {
				...tuning,
				trained_at: trainedAt,
				training_asked_at: isRepeated ? record.training_asked_at : null,
				training_failures,
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

/** The server's process ended during each of the last attempts. */
class TrainingInterrupted extends AppError {
	constructor() {
		super('unavailable', 'The server’s process ended during each of the last attempts at this training.');
	}
}

function kindOf(error: unknown): TrainingFailure {
	return error instanceof TrainingInterrupted ? 'interruption' : failureOf(error);
}
