import { isContentWord, queryLanguage, queryWords, words } from '../../text/index.ts';
import { type ReferenceWords, referenceWordsOf } from './reference-words.ts';

/** A message without content words says nothing without its context: `why?`, `and then?`. */
const WITHOUT_CONTENT = 1;
const PRONOUN = 0.7;
const OPENING = 0.5;
const COMPARISON = 0.4;
/** A message of one or two words may continue the topic; its context only decides between almost equal matches. */
const SHORT = 0.15;

const SHORT_WORDS = 2;
/** Content words of its sentence before a pronoun up to which it points out of the message. After more words it points to one of them. */
const MAX_WORDS_BEFORE_PRONOUN = 2;
const MAX_WORDS_BEFORE_COMPARISON = 1;

const SENTENCE_END = /(?<=[.!?。？！؟])\s*/u;

/**
 * How much a message depends on the messages before it: 0 if it stands alone, 1 if it says nothing by itself.
 * @param languages of the documents (ISO 639-1), the most frequent first
 */
export function leaningOf(message: string, languages: ReadonlyArray<string | null>): number {
	const contentWords = queryWords(message, languages).filter(({ isInterrogative }) => !isInterrogative).length;
	if (contentWords === 0) return WITHOUT_CONTENT;
	const language = queryLanguage(message, languages);
	const reference = referenceWordsOf(language);
	return Math.max(
		contentWords <= SHORT_WORDS ? SHORT : 0,
		reference?.opening.test(message) ? OPENING : 0,
		...(reference ? message.split(SENTENCE_END).map((sentence) => referenceIn(sentence, language, reference)) : []),
	);
}

/** The strongest reference of a sentence to what is before it. */
function referenceIn(sentence: string, language: string | null, reference: ReferenceWords): number {
	const all = words(sentence);
	let contentWords = 0;
	let strongest = 0;
	all.forEach((word, position) => {
		const isLast = position === all.length - 1;
		if (
			(contentWords <= MAX_WORDS_BEFORE_PRONOUN && reference.pronouns.has(word)) ||
			(contentWords === 0 && reference.leading.has(word)) ||
			(isLast && reference.final.has(word))
		) {
			strongest = PRONOUN;
		} else if (reference.comparisons.has(word)) {
			if (contentWords <= MAX_WORDS_BEFORE_COMPARISON) strongest = Math.max(strongest, COMPARISON);
		} else if (isContentWord(word, language)) {
			contentWords++;
		}
	});
	return strongest;
}
