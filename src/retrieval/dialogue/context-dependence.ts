import { isContentWord, queryLanguage, words } from '../../text/index.ts';
import { REFERENCE_LANGUAGES, type ReferenceWords, referenceWordsOf } from './reference-words.ts';

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
 * How much a message depends on the messages before it: 0 if it stands alone, 1 if it says nothing by itself. The language of
 * the message decides which words refer to earlier messages. It may be another one than that of the documents.
 * @param previous the question before it, whose language decides if the message alone does not show its own
 */
export function contextDependence(message: string, previous: string): number {
	const language = queryLanguage(message, [queryLanguage(previous, ANY_LANGUAGE), ...ANY_LANGUAGE]);
	const contentWords = words(message).filter((word) => isContentWord(word, language)).length;
	if (contentWords === 0) return WITHOUT_CONTENT;
	const reference = referenceWordsOf(language);
	return Math.max(
		contentWords <= SHORT_WORDS ? SHORT : 0,
		reference?.opening.test(message) ? OPENING : 0,
		...(reference ? message.split(SENTENCE_END).map((sentence) => referenceIn(sentence, language, reference)) : []),
	);
}

/** The languages with reference words first: of two that fit equally well, the first counts. */
const ANY_LANGUAGE: ReadonlyArray<string | null> = [...REFERENCE_LANGUAGES, null];

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
