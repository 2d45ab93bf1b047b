import type { ResolvedWord } from './analysed-query.ts';

/**
 * Chunks that are added to the size of a knowledge base (smoothing). With three chunks, every word is either in a third of
 * them or unknown; smoothing keeps that difference small.
 */
const SMOOTHING_CHUNKS = 20;

/** The evidence (three factors of 0.4) at which confidence is 0.5. */
const HALF_CONFIDENCE_EVIDENCE = 0.4 ** 3;

/** The distinct terms of a chunk. */
export interface TermSet {
	has(term: string): boolean;
}

/** Evidence that a knowledge base has an answer; each 0..1. */
export interface Evidence {
	/** The weighted share of the question's words that the best hits have. */
	coverage: number;
	/** The cosine of the best hits. */
	cosine: number;
	/** The share of the question that lies in the subjects of the knowledge base. */
	familiarity: number;
}

/**
 * The confidence that the best hits are about the question, 0..1. It needs all three kinds of evidence: a question from
 * another field shares words with some chunk or has a similar direction, but seldom both, and its familiarity is always low.
 * Below 0.2 there is most likely no answer.
 */
export function confidence({ coverage, cosine, familiarity }: Evidence): number {
	const evidence = clamp(coverage) * clamp(cosine) * clamp(familiarity);
	return ((1 + HALF_CONFIDENCE_EVIDENCE ** 2) * evidence ** 2) / (evidence ** 2 + HALF_CONFIDENCE_EVIDENCE ** 2);
}

/** Without vectors, words are the only evidence. */
export function keywordEvidence(coverage: number): Evidence {
	return { coverage, cosine: coverage, familiarity: coverage };
}

/**
 * With vectors of a provider's embedder, the cosine above its floor is also evidence for the subject of a question. Words may
 * add to it but are not required: a passage may use other words, or another language.
 */
export function embedderEvidence(coverage: number, cosine: number): Evidence {
	return { coverage: Math.max(coverage, cosine), cosine, familiarity: cosine };
}

/**
 * The weighted share of the asked words that a chunk has, 0..1.
 * @param chunks the number of chunks that the weights come from
 */
export function coverage(contentWords: readonly ResolvedWord[], terms: TermSet, chunks: number): number {
	const smoothing = Math.log((chunks + 1 + SMOOTHING_CHUNKS) / (chunks + 1));
	let all = 0;
	let found = 0;
	for (const { terms: forms, longForms = [], weight, reliability } of contentWords) {
		all += weight + smoothing;
		const isFound =
			forms.some((form) => terms.has(form)) || longForms.some((form) => form.every((term) => terms.has(term)));
		if (isFound) found += reliability * (weight + smoothing);
	}
	return all === 0 ? 0 : found / all;
}

/**
 * The share of a question that the basis knows, relative to the mean of the knowledge base's own words.
 * @param reach of the question's words
 * @param meanReach the mean reach of the knowledge base's words
 */
export function familiarity(reach: number, meanReach: number): number {
	return reach === 0 ? 0 : reach / (reach + meanReach);
}

function clamp(value: number): number {
	return Math.min(1, Math.max(0, value));
}
