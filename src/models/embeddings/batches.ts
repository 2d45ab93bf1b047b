import { tokensOf } from '../providers/tokens.ts';

/** Texts of one request. Services allow from a hundred to two thousand; beyond a hundred little is gained. */
const MOST_TEXTS = 96;
/** Tokens of one request, as `tokensOf` counts them: what a model on a small machine embeds within a few seconds. */
const MOST_TOKENS = 16_000;
/** Numbers of one answer: more than a megabyte of JSON would keep the event loop from everybody else. */
const MOST_VALUES = 65_536;
/** Dimensions that are reckoned with until the first answer has told. */
const USUAL_DIMENSIONS = 1_536;

/** Texts that are asked for together. */
export interface Batch {
	/** The place of the first of them among all texts. */
	at: number;
	texts: string[];
}

/**
 * Cuts texts into the batches in which they are asked for.
 * @param dimensions of a vector; null where that is not known yet
 */
export function batchesOf(texts: readonly string[], dimensions: number | null): Batch[] {
	const most = Math.max(1, Math.min(MOST_TEXTS, Math.floor(MOST_VALUES / (dimensions ?? USUAL_DIMENSIONS))));
	const batches: Batch[] = [];
	let batch: Batch | undefined;
	let tokens = 0;
	for (const [at, text] of texts.entries()) {
		const more = tokensOf(text);
		if (batch === undefined || batch.texts.length === most || tokens + more > MOST_TOKENS) {
			batch = { at, texts: [] };
			batches.push(batch);
			tokens = 0;
		}
		batch.texts.push(text);
		tokens += more;
	}
	return batches;
}
