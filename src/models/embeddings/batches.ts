import { tokensOf } from '../providers/tokens.ts';

/** Texts of one request. Services allow from a hundred to two thousand. More than a hundred gain little. */
const MAX_BATCH_TEXTS = 96;
/** Tokens of one request, as `tokensOf` counts them. A model on a small machine embeds so many within a few seconds. */
const MAX_BATCH_TOKENS = 16_000;
/** Numbers of one response. Parsing more than a megabyte of JSON would block the event loop. */
const MAX_BATCH_VALUES = 65_536;
/** The assumed dimensions until the first response shows the real number. */
const ASSUMED_DIMENSIONS = 1_536;

/** Texts of one request. */
export interface Batch {
	/** The index of the first of them among all texts. */
	offset: number;
	texts: string[];
}

/**
 * Splits texts into batches.
 * @param dimensions of a vector; null if not known yet
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
