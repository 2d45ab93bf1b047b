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
import { abortWhenUnneeded } from './abort-when-unneeded.ts';
import {
	type BuiltBasis,
	buildBasis,
	buildTunedBasis,
	foldInNewChunks,
	type TunedBasisDependencies,
} from './build-basis.ts';
import {
	allowedTraining,
	failureOf,
	failuresAfter,
	hasFailedOften,
	hasOutgrownBasis,
	isTrainingDue,
	TRAIN,
	TrainingInterrupted,
	trainingDelay,
	trainingProblem,
	UNTUNED,
	withoutTrainingProblem,
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
			await using training = abortWhenUnneeded(() => this.#isNeeded(start), signal);
			try {
				await this.#trainOnce(job, start, training.signal);
			} catch (error) {
				if (signal.aborted || (await this.#isNeeded(start))) throw error;
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
			const isShortage = shortageOf(error) !== null;
			const training_failures = isShortage
				? record.training_failures
				: failuresAfter(record.training_failures, failureOf(error));
			const { expect, write } = patchKnowledgeBase(record, { training_failures, problem: trainingProblem(error) });
			const postponement = this.#postponement(job, isShortage ? failures : training_failures);
			return { commit: { expect, write, jobs: [postponement] }, result: undefined };
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
			const problem = withoutTrainingProblem(record.problem);
			const { write } = patchKnowledgeBase(record, { training_asked_at: null, training_failures: 0, problem });
			return { commit: { expect, write: isUnneeded ? write : [], jobs: [complete] }, result: undefined };
		});
	}

	/** Trains a tuned basis; if that fails again and again and the present basis lacks chunks, an untuned one. */
	async #trainOnce(job: Job, start: TrainingStart, signal: AbortSignal): Promise<void> {
		const { id, training_failures, problem } = start.record;
		const allowed = allowedTraining(job.attempts, training_failures);
		// Only the tuning has failed, so only the tuning waits.
		if (training_failures > 0 && allowed !== 'none' && hasOutgrownBasis(start.generation)) {
			return this.#train(start, signal, { training_failures, problem });
		}
		let error: unknown = new TrainingInterrupted();
		if (allowed === 'tuned') {
			try {
				return await this.#train(start, signal, null);
			} catch (tuningError) {
				error = tuningError;
			}
		}
		const failures = failuresAfter(training_failures, failureOf(error));
		const isLasting = allowed !== 'tuned' || hasFailedOften(failures);
		const mayTrainUntuned = allowed !== 'none' && !signal.aborted && shortageOf(error) === null;
		if (!isLasting || !mayTrainUntuned || !isUntunedBetter(start)) throw error;
		const fields = { knowledge_base: id, error: messageOf(error) };
		this.#deps.log.warn(fields, 'a basis could not be tuned, so it is trained without tuning');
		await this.#train(start, signal, { training_failures: failures, problem: trainingProblem(error) });
	}

	/** @param failedTuning what the record has after an untuned training; null to tune */
	async #train(start: TrainingStart, signal: AbortSignal, failedTuning: FailedTuning | null): Promise<void> {
		const { store, indexing } = this.#deps;
		const deps = { ...this.#deps, signal };
		const { id } = start.generation;
		let serves = false;
		try {
			const built = failedTuning ? await buildBasis(deps, id, { tuned: false }) : await buildTunedBasis(deps, id);
			serves = await indexing.run(start.record.id, () => this.#serve(deps, start, built, failedTuning));
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
		failedTuning: FailedTuning | null,
	): Promise<boolean> {
		if (!(await this.#isNeeded(start))) return false;
		const { id, changed_chunks: changedBefore, training_asked_at: askedAt } = start.record;
		let folded = built;
		await decideAndCommit(deps.store, async () => {
			const record = await deps.store.get('knowledge_bases', id);
			// After the record was read: a document that is indexed meanwhile changes it, and is folded in by the next attempt.
			folded = await foldInNewChunks(deps, folded);
			const { generation, basis, trainedAt, trainedOn, semanticWeight } = folded;
			if (record?.generation !== generation) throw new AppError('not_found', 'The index was replaced meanwhile.');
			const { training_asked_at } = record;
			// Chunks that came before the worker read the index are counted again, which at worst repeats a training.
			const changed_chunks = Math.max(0, record.changed_chunks - changedBefore);
			const tuning = { tuned_on: trainedOn, changed_chunks, tuned_weight: semanticWeight };
			const isRequested = training_asked_at !== askedAt || isTrainingDue(tuning);
			const { expect, write } = patchKnowledgeBase(record, {
				trained_at: trainedAt,
				...(failedTuning
					? { ...UNTUNED, ...failedTuning }
					: {
							...tuning,
							training_asked_at: isRequested ? training_asked_at : null,
							training_failures: 0,
							problem: withoutTrainingProblem(record.problem),
						}),
			});
			const serve = { op: 'index.serve_basis', generation, basis } as const;
			return { commit: { expect, write: [...write, serve] }, result: undefined };
		});
		return true;
	}

	/** Whether the basis that served at the start still serves, and no rebuild replaces its index. */
	async #isNeeded({ record, generation: { id, basis } }: TrainingStart): Promise<boolean> {
		const serving = await this.#serving(record.id);
		if (serving?.id !== id || serving.basis !== basis) return false;
		return (await this.#deps.store.get('knowledge_bases', record.id))?.rebuilding === null;
	}

	/** The serving generation, if it has chunks and its vectors come from training. */
	async #serving(knowledgeBaseId: string): Promise<Generation | undefined> {
		const generation = await this.#deps.store.searchIndex.servingGeneration(knowledgeBaseId);
		return generation?.chunk_count && generation.embedder === BUILTIN_EMBEDDER ? generation : undefined;
	}
}

/** The fields of a record that an untuned training leaves: the request and the delay of the tuned one stay. */
type FailedTuning = Pick<KnowledgeBaseRecord, 'training_failures' | 'problem'>;

/** The fields of a record that trainings change. */
type TrainingFields = FailedTuning &
	Pick<KnowledgeBaseRecord, 'trained_at' | 'training_asked_at' | 'tuned_on' | 'changed_chunks' | 'tuned_weight'>;

function patchKnowledgeBase(
	record: KnowledgeBaseRecord,
	set: Partial<TrainingFields>,
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
