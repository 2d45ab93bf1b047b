import { stemmerOf } from './stem.ts';
import { stopWordsOf } from './stop-words.ts';
import { words } from './words.ts';

/**
 * The index terms of a text, in order and with repeats. Full text and vectors use the same terms. A term
 * is one word of letters, digits and marks; no character in it ever separates tokens of the full-text index.
 * @param language ISO 639-1; null does not stem
 */
export function analyse(text: string, language: string | null): string[] {
	const stem = stemmerOf(language);
	return words(text).map(stem);
}

/** The terms of a question: as `analyse`, without stop words, except those that ask (who, how, can, …). */
export function queryTerms(text: string, language: string | null): string[] {
	const stem = stemmerOf(language);
	const stop = stopWordsOf(language);
	return words(text)
		.filter((word) => !stop.has(word))
		.map(stem);
}
