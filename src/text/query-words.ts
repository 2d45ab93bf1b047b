import type { QueryWord } from './query-word.ts';
import { stemmerOf } from './stem.ts';
import { isInterrogative, STOP_WORD_LANGUAGES, stopWordsOf } from './stop-words.ts';
import { words } from './words.ts';

/**
 * The words of a question, in order and with repeats, stemmed for documents in several languages. Stop words of the
 * question's own language are left out. That language is the one whose stop words cover most of the question, because a
 * short question is too little for the detector.
 * @param languages of the documents (ISO 639-1), the most frequent first. Null, a document of unknown language, stands for
 *   the unstemmed word and for the question's own language.
 */
export function queryWords(text: string, languages: ReadonlyArray<string | null>): QueryWord[] {
	const all = words(text);
	const language = languageOf(all, languages);
	const stop = stopWordsOf(language);
	const stems = [...new Set(languages.includes(null) ? [...languages, language] : languages)].map(stemmerOf);
	return all
		.filter((word) => !stop.has(word))
		.map((word) => ({
			stems: [...new Set(stems.map((stem) => stem(word)))],
			isInterrogative: isInterrogative(word, language),
		}));
}

/** The language of a question to documents in these languages, as `queryWords` finds it; null if it is unknown. */
export function queryLanguage(text: string, languages: ReadonlyArray<string | null>): string | null {
	return languageOf(words(text), languages);
}

/** Whether a normalised word has content: it is neither a stop word nor an interrogative of its language. */
export function isContentWord(word: string, language: string | null): boolean {
	return !stopWordsOf(language).has(word) && !isInterrogative(word, language);
}

function languageOf(all: readonly string[], languages: ReadonlyArray<string | null>): string | null {
	const named = languages.filter((language) => language !== null);
	return guessLanguage(all, languages.includes(null) ? [...named, ...STOP_WORD_LANGUAGES] : named);
}

function guessLanguage(all: readonly string[], languages: readonly string[]): string | null {
	let best: string | null = languages[0] ?? null;
	let maxCount = 0;
	for (const language of new Set(languages)) {
		const stop = stopWordsOf(language);
		const count = all.filter((word) => stop.has(word) || isInterrogative(word, language)).length;
		if (count > maxCount) {
			maxCount = count;
			best = language;
		}
	}
	return best;
}
