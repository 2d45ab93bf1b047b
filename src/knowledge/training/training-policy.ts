import { newId } from '../../base/index.ts';
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

/** The fields of a record while no tuned basis serves. */
export const UNTUNED = { tuned_on: 0, changed_chunks: 0, tuned_weight: null } as const;

type TuningState = Pick<KnowledgeBaseRecord, 'tuned_on' | 'changed_chunks'>;

/** Whether enough chunks have changed since the last tuned training. Without one, every change is enough. */
export function isTrainingDue({ tuned_on, changed_chunks }: TuningState): boolean {
	return tuned_on === 0 || changed_chunks > CHANGED_SHARE * tuned_on;
}

/** Whether a document with many words that the basis does not know makes a tuned training due. */
export function needsUnknownWords({ tuned_on, changed_chunks }: TuningState, unknownShare: number): boolean {
	return unknownShare >= UNKNOWN_WORD_SHARE && changed_chunks > CHANGED_SHARE_WITH_UNKNOWN_WORDS * tuned_on;
}

/** Whether a generation has grown so much since the training of its basis that the basis is poor. */
export function hasOutgrownBasis({ chunk_count, trained_on }: Pick<Generation, 'chunk_count' | 'trained_on'>): boolean {
	return chunk_count >= RETRAIN_GROWTH_FACTOR * trained_on;
}

/** The writes that queue a training. At most one training of a knowledge base waits. */
export function queueTraining(knowledgeBaseId: string): JobWrite[] {
	const job = { id: newId('job'), kind: TRAIN, ref: knowledgeBaseId, group: knowledgeBaseId, due_at: 0 };
	return [
		{ op: 'complete_all', ref: knowledgeBaseId, kind: TRAIN },
		{ op: 'enqueue', job },
	];
}
