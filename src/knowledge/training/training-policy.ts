import { AppError, newId, shortageOf } from '../../base/index.ts';
import { WorkLimitExceeded } from '../../pool/index.ts';
import type { Generation, JobWrite, KnowledgeBaseRecord } from '../../store/index.ts';

/** The kind of job that tunes the basis of a knowledge base. */
export const TRAIN = 'train';

/**
 * Up to this many chunks (a few seconds of training at most) an untuned basis is trained before the last document counts as
 * indexed. The default of `KnowledgeDependencies.maxSyncTrainingChunks`.
 */
export const MAX_SYNC_TRAINING_CHUNKS = 1000;

/** The growth factor of a generation after which its basis is trained again although documents wait. */
const RETRAIN_GROWTH_FACTOR = 1.5;

/** The share of changed chunks above which a tuned training is due. */
const CHANGED_SHARE = 0.05;
/** If the basis does not know this share of a document's words, a smaller change suffices. */
const UNKNOWN_WORD_SHARE = 0.25;
const CHANGED_SHARE_WITH_UNKNOWN_WORDS = 0.01;

/** From this many failures on, a tuned basis is no longer expected soon. */
const MANY_FAILURES = 3;
/** The delay of a training after its first failure. It doubles with each further failure. */
const FIRST_RETRY_MS = 5_000;
const MAX_RETRY_MS = 12 * 3_600_000;
/** The shortest delay after a failure, as a multiple of the attempt's duration: retries use a fifth of the time at most. */
const MIN_DELAY_PER_DURATION = 4;

/** The fields of a record while no tuned basis serves. */
export const UNTUNED = { tuned_on: 0, changed_chunks: 0, tuned_weight: null } as const;

/** The fields of a record whose index is new. */
export const UNTRAINED = { trained_at: null, training_asked_at: null, training_failures: 0, ...UNTUNED } as const;

type TuningState = Pick<KnowledgeBaseRecord, 'tuned_on' | 'changed_chunks'>;

/** Whether enough chunks have changed since the last tuned training. Without one, every change is enough. */
export function isTrainingDue({ tuned_on, changed_chunks }: TuningState): boolean {
	return tuned_on === 0 || changed_chunks > CHANGED_SHARE * tuned_on;
}

/** Whether a document makes a tuned training due because the basis does not know many of its words. */
export function hasUnknownWords({ tuned_on, changed_chunks }: TuningState, unknownShare: number): boolean {
	return unknownShare >= UNKNOWN_WORD_SHARE && changed_chunks > CHANGED_SHARE_WITH_UNKNOWN_WORDS * tuned_on;
}

/** Whether a generation has grown so much since the training of its basis that it needs another basis. */
export function hasOutgrownBasis({ chunk_count, trained_on }: Pick<Generation, 'chunk_count' | 'trained_on'>): boolean {
	return chunk_count >= RETRAIN_GROWTH_FACTOR * trained_on;
}

/** Whether a knowledge base has a tuned basis soon: its training was requested and has not failed too often. */
export function isTuningExpected({
	training_asked_at,
	training_failures,
}: Pick<KnowledgeBaseRecord, 'training_asked_at' | 'training_failures'>): boolean {
	return training_asked_at !== null && !hasFailedOften(training_failures);
}

/** Whether a training has failed several times, so that the next attempts probably fail too. */
export function hasFailedOften(failures: number): boolean {
	return failures >= MANY_FAILURES;
}

/** Why a training failed, which decides how long the next attempt waits. */
export type TrainingFailure = 'temporary' | 'permanent' | 'interruption';

/** The smallest number of failures after an interruption of a training that has failed several times. */
const MIN_FAILURES_AFTER_INTERRUPTION = 10;

/**
 * The number of failures after another one. After a permanent failure the same attempt would fail again. After several
 * interruptions the training is probably what ends the server's process, so the next attempt waits for most of an hour.
 */
export function failuresAfter(failures: number, failure: TrainingFailure): number {
	if (failure === 'permanent') return Math.max(failures + 1, MANY_FAILURES);
	const isRepeatedInterruption = failure === 'interruption' && hasFailedOften(failures);
	return Math.max(failures + 1, isRepeatedInterruption ? MIN_FAILURES_AFTER_INTERRUPTION : 0);
}

/** The server's process ended during each of the last attempts. */
export class TrainingInterrupted extends AppError {
	constructor() {
		super('unavailable', 'The server’s process ended during each of the last attempts.');
	}
}

export function failureOf(error: unknown): TrainingFailure {
	if (error instanceof TrainingInterrupted) return 'interruption';
	const isPermanent = error instanceof WorkLimitExceeded || (error instanceof AppError && error.code !== 'unavailable');
	return isPermanent ? 'permanent' : 'temporary';
}

/** What the status of a knowledge base shows after a failed training. */
export function trainingProblem(error: unknown): NonNullable<KnowledgeBaseRecord['problem']> {
	const shown = shortageOf(error) ?? error;
	const [code, cause] =
		shown instanceof AppError ? [shown.code, shown.message] : ['internal_error', 'The server’s log has the cause.'];
	return { task: 'training', code, message: `The last training of the search failed: ${cause}` };
}

/** A problem without the failure of trainings, which has ended. */
export function withoutTrainingProblem(problem: KnowledgeBaseRecord['problem']): KnowledgeBaseRecord['problem'] {
	return problem?.task === 'training' ? null : problem;
}

/**
 * Claims of a job up to which it tunes. Each earlier claim ended with the server's process, perhaps because of the training,
 * which takes the most memory when it tunes. After a failure one claim must do.
 */
const MAX_TUNED_CLAIMS = 2;
/** Claims beyond those up to which it trains an untuned basis. Then it is postponed. */
const MAX_UNTUNED_CLAIMS = 2;

/** What a claim of a training's job may try. */
export function allowedTraining(claims: number, failures: number): 'tuned' | 'untuned' | 'none' {
	const tunedClaims = failures === 0 ? MAX_TUNED_CLAIMS : 1;
	if (claims <= tunedClaims) return 'tuned';
	return claims <= tunedClaims + MAX_UNTUNED_CLAIMS ? 'untuned' : 'none';
}

/**
 * Milliseconds until a requested training is due. A training that always fails costs many seconds of computing each time, and
 * a new document seldom removes the cause, so a request does not shorten the delay.
 * @param durationMs the duration of the failed attempt, which may be an hour
 */
export function trainingDelay(failures: number, retryMs: number = FIRST_RETRY_MS, durationMs = 0): number {
	if (failures === 0) return 0;
	return Math.min(MAX_RETRY_MS, Math.max(retryMs * 2 ** (failures - 1), MIN_DELAY_PER_DURATION * durationMs));
}

/**
 * The write that queues a training. At most one training of a knowledge base waits or runs: a request that comes meanwhile is
 * `training_asked_at` alone, and the job continues with it.
 * @param due_at milliseconds since the epoch. Trainings run in this order, so a request that is not delayed has the present time:
 * an earlier time would put it before all that wait.
 */
export function queueTraining(knowledgeBaseId: string, due_at: number): JobWrite {
	const job = { id: newId('job'), kind: TRAIN, ref: knowledgeBaseId, group: knowledgeBaseId, due_at };
	return { op: 'enqueue', job, unless_queued: true };
}

/** The write that queues the training of a knowledge base whose documents have changed. */
export function queueTrainingAfterChange(
	{ id, training_failures }: Pick<KnowledgeBaseRecord, 'id' | 'training_failures'>,
	now: number,
): JobWrite {
	return queueTraining(id, now + trainingDelay(training_failures));
}
