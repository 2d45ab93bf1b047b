/** The kind of job that trains a knowledge base's embedding anew. */
export const TRAIN = 'train';

/** A basis is trained anew once its generation has grown by this factor since. */
export const RETRAIN_GROWTH_FACTOR = 1.5;

/** Up to so many chunks (a few seconds of training at most) the basis is trained anew before the last document counts as indexed. */
export const MAX_SYNC_TRAINING_CHUNKS = 1000;

/** A new basis is also worth while when this share of a document's words is unknown to the old one. */
export const RETRAIN_UNKNOWN_SHARE = 0.5;

/** But never for less growth than this: a training takes its knowledge base many seconds. */
const MIN_GROWTH_FACTOR = 1.05;

/** Whether a basis that was trained on so many chunks is to be trained anew for these. */
export function isWorthTraining(chunks: number, trainedOn: number): boolean {
	return chunks >= MIN_GROWTH_FACTOR * trainedOn;
}
