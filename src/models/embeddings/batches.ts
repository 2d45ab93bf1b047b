import { tokensOf } from '../providers/tokens.ts';

/** Texts of one request. Services allow from a hundred to two thousand; beyond a hundred little is gained. */
const MAX_BATCH_TEXTS = 96;
/** Tokens of one request, as `tokensOf` counts them: what a model on a small machine embeds within a few seconds. */
const MAX_BATCH_TOKENS = 16_000;
/** Numbers of one answer: more than a megabyte of JSON would keep the event loop from everybody else. */
const MAX_BATCH_VALUES = 65_536;
/** Dimensions that are reckoned with until the first answer has told. */
const ASSUMED_DIMENSIONS = 1_536;

/** Texts that are asked for together. */
export interface Batch {
	/** The place of the first of them among all texts. */
	offset: number;
	texts: string[];
}

/**
 * Cuts texts into the batches in which they are asked for.
 * @param dimensions of a vector; null where that is not known yet
 */
export function batchesOf(texts: readonly string[], dimensions: number | null): Batch[] {
	const maxTexts = Math.max(
		1,
		Math.min(MAX_BATCH_TEXTS, Math.floor(MAX_BATCH_VALUES / (dimensions ?? ASSUMED_DIMENSIONS))),
	);
	const batches: Batch[] = [];
	let batch: Batch | undefined;
	let tokens = 0;
	for (const [offset, text] of texts.entries()) {
		const textTokens = tokensOf(text);
		if (batch === undefined || batch.texts.length === maxTexts || tokens + textTokens > MAX_BATCH_TOKENS) {
			batch = { offset, texts: [] };
			batches.push(batch);
			tokens = 0;
		}
		batch.texts.push(text);
		tokens += textTokens;
	}
	return batches;
}
