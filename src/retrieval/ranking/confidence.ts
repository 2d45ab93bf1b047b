import type { ResolvedWord } from './analysed-query.ts';

/**
 * Chunks that a knowledge base is taken to have besides its own. In one of three chunks every word is either in a third
 * of it or unheard of; with these the difference is no larger than it deserves.
 */
const SMOOTHING_CHUNKS = 20;

/** The evidence (of three factors of 0.4) that makes confidence a half. */
const HALF_CONFIDENCE_EVIDENCE = 0.4 ** 3;

/** What speaks for a knowledge base having an answer; each 0..1. */
export interface Evidence {
	/** The weighted share of the question's words that the best hits have. */
	coverage: number;
	/** The cosine of the best hits. */
	cosine: number;
	/** How much of what the question says lies in what the knowledge base is about. */
	familiarity: number;
}

/**
 * How sure it is that the best hits are about the question, 0..1. All three kinds of evidence are needed: a question
 * from another field shares words with some chunk, or points its way, but seldom both, and never says much that the
 * knowledge base knows. Below 0.2 there is most likely no answer.
 */
export function confidence({ coverage, cosine, familiarity }: Evidence): number {
	const evidence = clamp(coverage) * clamp(cosine) * clamp(familiarity);
	return ((1 + HALF_CONFIDENCE_EVIDENCE ** 2) * evidence ** 2) / (evidence ** 2 + HALF_CONFIDENCE_EVIDENCE ** 2);
}

/** Without vectors the words must speak for all. */
export function keywordEvidence(coverage: number): Evidence {
	return { coverage, cosine: coverage, familiarity: coverage };
}

/**
 * With vectors of a provider's embedder their cosine, which must then be taken from its floor on, speaks for what a question
 * is about as well. Words may add to it, and need not: the same may be said in others, or in another language.
 */
export function embedderEvidence(coverage: number, cosine: number): Evidence {
	return { coverage: Math.max(coverage, cosine), cosine, familiarity: cosine };
}

/**
 * The weighted share of the asked words that a chunk has, 0..1.
 * @param chunks how many chunks the weights come from
 */
export function coverage(
	contentWords: readonly ResolvedWord[],
	terms: ReadonlyMap<string, number>,
	chunks: number,
): number {
	const smoothing = Math.log((chunks + 1 + SMOOTHING_CHUNKS) / (chunks + 1));
	let all = 0;
	let found = 0;
	for (const { terms: forms, weight, reliability } of contentWords) {
		all += weight + smoothing;
		if (forms.some((form) => terms.has(form))) found += reliability * (weight + smoothing);
	}
	return all === 0 ? 0 : found / all;
}

/**
 * How much of a question lies in what the basis knows, compared with what is usual for the knowledge base's own words.
 * @param reach of the question's words
 * @param meanReach the mean reach of the knowledge base's words
 */
export function familiarity(reach: number, meanReach: number): number {
	return reach === 0 ? 0 : reach / (reach + meanReach);
}

function clamp(value: number): number {
	return Math.min(1, Math.max(0, value));
}
