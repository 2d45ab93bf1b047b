/** The kind of job that trains a knowledge base's embedding anew. */
export const TRAIN = 'train';

/** A basis is trained anew once its generation has grown by this factor since. */
export const GROWTH = 1.5;

/** Up to so many chunks (a few seconds of training at most) the basis is trained anew before the last document counts as indexed. */
export const SMALL = 1000;

/** A new basis is also worth while when this share of a document's words is unknown to the old one. */
export const UNKNOWN_SHARE = 0.5;

/** But never for less growth than this: a training takes its knowledge base many seconds. */
const LEAST_GROWTH = 1.05;

/** Whether a basis that was trained on so many chunks is to be trained anew for these. */
export function worthTraining(chunks: number, trainedOn: number): boolean {
	return chunks >= LEAST_GROWTH * trainedOn;
}
