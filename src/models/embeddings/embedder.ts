/** The id of the embedder that is trained on the documents themselves and needs nobody outside. */
export const BUILTIN_EMBEDDER = 'builtin';

/** Turns texts into vectors by asking a provider. Two vectors may be compared only where the same embedder made both. */
export interface Embedder {
	/** `provider/name`, with `?dimensions=…` where the settings ask for a number of them: what vectors are told apart by. */
	readonly id: string;
	/**
	 * The unit vectors of texts, all of the same dimension, batch by batch as they come, which is in no order. Asks again
	 * where that may help: it may take minutes. Where a batch fails, those that are under way are given all the same before it
	 * throws.
	 * @throws AppError `model_error`, which `isRecoverable` judges; the signal's reason
	 */
	embedDocuments(texts: readonly string[], signal: AbortSignal): AsyncIterable<EmbeddedBatch>;
	/**
	 * The unit vector of a question, within seconds or not at all: somebody waits for the answer.
	 * @throws AppError `model_error`; the signal's reason
	 */
	embedQuestion(text: string, signal: AbortSignal): Promise<Float32Array>;
	/**
	 * The cosine that texts about unrelated matters have with this embedder, 0..1. Models differ widely in it: for some it is
	 * next to nothing, for others 0.7. It is measured once.
	 * @throws AppError `model_error`; the signal's reason
	 */
	floor(signal: AbortSignal): Promise<number>;
	/**
	 * The unit vector of a text that is always the same: whoever has kept an earlier one sees whether the same model still
	 * answers to the name. It is asked for once, by itself or with the first question.
	 * @throws AppError `model_error`; the signal's reason
	 */
	sample(signal: AbortSignal): Promise<Float32Array>;
	/** Has the sample asked for anew: it was not what was expected, and may be by then. */
	forgetSample(): void;
}

/** Vectors of some of the texts that were asked for. */
export interface EmbeddedBatch {
	/** The place of the first of them among all texts; the others follow it. */
	offset: number;
	vectors: Float32Array[];
}

/** The embedders of this server. */
export interface Embedders {
	/** The id of the one that new indexes are made with; `builtin` for the one that needs no provider. */
	readonly configured: string;
	/** The embedder of an id, also where another is configured now; null where its provider is not there (any more). */
	resolve(id: string): Embedder | null;
}
