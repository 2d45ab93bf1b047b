import { detectLanguage, isContentWord, stemmerOf, words } from '../text/index.ts';

/** Two questions with this share of common terms (Dice coefficient) ask about the same. */
const MIN_SIMILARITY = 0.6;

/**
 * The terms that a question is compared by, each once and sorted: the stems of its words that are neither stop words nor
 * interrogatives. A question of such words alone is compared by all of its words.
 */
export function termsOf(question: string): string[] {
	const language = detectLanguage(question) ?? 'en';
	const stem = stemmerOf(language);
	const all = words(question);
	const content = all.filter((word) => isContentWord(word, language));
	return [...new Set((content.length > 0 ? content : all).map(stem))].sort();
}

/** The group whose terms are most similar to those of a question, the oldest of equals; null if none is similar enough. */
export function mostSimilar(
	terms: readonly string[],
	groups: ReadonlyArray<{ group_id: string; terms: readonly string[] }>,
): string | null {
	let best: string | null = null;
	let highest = 0;
	for (const group of groups) {
		const similarity = diceOf(terms, group.terms);
		if (similarity < MIN_SIMILARITY || similarity <= highest) continue;
		best = group.group_id;
		highest = similarity;
	}
	return best;
}

function diceOf(one: readonly string[], other: readonly string[]): number {
	if (one.length + other.length === 0) return 1;
	const common = one.filter((term) => other.includes(term)).length;
	return (2 * common) / (one.length + other.length);
}
