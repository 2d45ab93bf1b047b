/** The kind of job that trains the basis of a knowledge base again. */
export const TRAIN = 'train';

/** The growth factor of a generation after which its basis is trained again. */
export const RETRAIN_GROWTH_FACTOR = 1.5;

/**
 * Up to this many chunks (a few seconds of training at most) the basis is trained before the last document counts as indexed.
 * The default of `KnowledgeDependencies.maxSyncTrainingChunks`.
 */
export const MAX_SYNC_TRAINING_CHUNKS = 1000;

/** The share of a document's words unknown to the basis after which the basis is also trained again. */
export const RETRAIN_UNKNOWN_SHARE = 0.5;

/** The least growth for a training because of unknown words: a training takes many seconds. */
const MIN_GROWTH_FACTOR = 1.05;

/** Whether a basis must be trained again, from the number of chunks then and now. */
export function isWorthTraining(chunks: number, trainedOn: number): boolean {
	return chunks >= MIN_GROWTH_FACTOR * trainedOn;
}
