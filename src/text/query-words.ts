import { stemmerOf } from './stem.ts';
import { isInterrogative, STOP_WORD_LANGUAGES, stopWordsOf } from './stop-words.ts';
import { words } from './words.ts';

/** One word of a question. */
export interface QueryWord {
	/** Its index term in each of the given languages, without repeats. */
	stems: string[];
	/** Whether it is an interrogative or auxiliary (who, how, can, …) without content. */
	isInterrogative: boolean;
}

/**
 * The words of a question, in order and with repeats, stemmed for documents in several languages. Stop words of the
 * question's own language are left out. That language is the one whose stop words cover most of the question, because a
 * short question is too little for the detector.
 * @param languages of the documents (ISO 639-1), the most frequent first. Null, a document of unknown language, stands for
 *   the unstemmed word and for the question's own language.
 */
export function queryWords(text: string, languages: ReadonlyArray<string | null>): QueryWord[] {
	const all = words(text);
	const named = languages.filter((language) => language !== null);
	const queryLanguage = guessLanguage(all, languages.includes(null) ? [...named, ...STOP_WORD_LANGUAGES] : named);
	const stop = stopWordsOf(queryLanguage);
	const stems = [...new Set(languages.includes(null) ? [...languages, queryLanguage] : languages)].map(stemmerOf);
	return all
		.filter((word) => !stop.has(word))
		.map((word) => ({
			stems: [...new Set(stems.map((stem) => stem(word)))],
			isInterrogative: isInterrogative(word, queryLanguage),
		}));
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
