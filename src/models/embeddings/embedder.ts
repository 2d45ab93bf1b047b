/** The id of the embedder that is trained on the documents themselves and needs no provider. */
export const BUILTIN_EMBEDDER = 'builtin';

/** Turns texts into vectors by requests to a provider. Only vectors of the same embedder may be compared. */
export interface Embedder {
	/** `provider/name`, with `?dimensions=…` if the settings give a number. It identifies the vectors. */
	readonly id: string;
	/**
	 * The unit vectors of texts, all of the same dimension, in batches that arrive in any order. It retries requests where
	 * that may help, so it may take minutes. If a batch fails, the batches in progress are yielded before it throws.
	 * @throws AppError `model_error` (`isRecoverable` classifies it); the signal's reason
	 */
	embedDocuments(texts: readonly string[], signal: AbortSignal): AsyncIterable<EmbeddedBatch>;
	/**
	 * The unit vector of a question. It fails after seconds, because a person waits for the answer.
	 * @throws AppError `model_error`; the signal's reason
	 */
	embedQuestion(text: string, signal: AbortSignal): Promise<Float32Array>;
	/**
	 * The cosine of texts about unrelated subjects with this embedder, 0..1. It is almost 0 for some models and 0.7 for
	 * others. It is measured once.
	 * @throws AppError `model_error`; the signal's reason
	 */
	floor(signal: AbortSignal): Promise<number>;
	/**
	 * The unit vector of a constant text. A difference from an earlier vector shows that another model has the name now. It is
	 * requested once, alone or with the first question.
	 * @throws AppError `model_error`; the signal's reason
	 */
	sample(signal: AbortSignal): Promise<Float32Array>;
	/** Discards the sample after a difference, so that the next call requests it again. */
	forgetSample(): void;
}

/** The vectors of some of the texts. */
export interface EmbeddedBatch {
	/** The index of the first of them among all texts; the others follow it. */
	offset: number;
	vectors: Float32Array[];
}

/** The embedders of this server. */
export interface Embedders {
	/** The id of the embedder for new indexes; `builtin` for the one without a provider. */
	readonly configured: string;
	/** The embedder with an id, even if another is configured now; null if its provider is not configured. */
	resolve(id: string): Embedder | null;
}
