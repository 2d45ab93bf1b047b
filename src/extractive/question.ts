import { detectLanguage, queryTerms } from '../text/index.ts';
import { type AnswerType, countPattern, expectedAnswerTypes } from './answer-types.ts';
import { functionWords, isSpoken, voteLanguage } from './function-words.ts';
import type { SpokenLanguage } from './phrases.ts';
import type { ExtractiveRequest } from './request.ts';
import { withoutCourtesies } from './small-talk.ts';

/** A word that the answer should speak of. */
export interface QuestionTerm {
	/** As `analyse` renders it. */
	term: string;
	/** 1 for what the question is about, less for words of asking and for words from the question before. */
	weight: number;
	/** Whether it comes from the question before. */
	isCarriedOver: boolean;
}

/** A question as the extractive model understands it. */
export interface Question {
	/** The language to answer in. */
	language: SpokenLanguage;
	answerTypes: ReadonlySet<AnswerType>;
	/** Finds the number of something that is asked for; null where none is. */
	countPattern: RegExp | null;
	/** The asked terms in a language, because a document is searched in its own. */
	termsIn(language: string | null): QuestionTerm[];
}

/** What a message of 32,000 characters asks stands at its beginning or end; this much of each is read. */
const EXCERPT_LENGTH = 1_500;
const MAX_TERMS = 48;
/** `tell`, `need`, `help`: they fit any passage. */
const REQUEST_WORD_WEIGHT = 0.3;
/** The same figure turns up anywhere by chance: `19`. */
const NUMBER_WEIGHT = 0.5;
/** Words of the question before set the scene of a follow-up, but what it asks now decides. */
const CARRIED_OVER_WEIGHT = 0.5;
/** A question with fewer words of its own than this leans on the one before. */
const FOLLOW_UP_MAX_TERMS = 2;

const FOLLOW_UP_START =
	/^\s*(and|or|but|what about|how about|what if|und|oder|was ist mit|wie sieht es|et|ou|qu'en est-il|y|o|qué hay|en|of|hoe zit|e|ou|mas|ma|では|じゃあ|それ|و|ماذا عن)(?![\p{L}\p{N}])/iu;
const ANAPHORA =
	/(?<![\p{L}\p{N}])(it|its|they|them|their|that|those|this|these|there|she|he|her|him|dafür|davon|dazu|damit|darüber|dort|cela|ça|celui|celle|eso|esto|ello|daarvoor|daarvan|isso|isto|ciò|questo|quello)(?![\p{L}\p{N}])|それ|これ|その|ذلك|هذا|هذه/iu;

/**
 * Reads the question of a request.
 * @param passageLanguage the language that most of the passages are in, null where there are none
 */
export function readQuestion(request: ExtractiveRequest, passageLanguage: string | null): Question {
	const text = withoutCourtesies(excerpt(request.question));
	const earlierQuestions = request.history
		.filter((message) => message.role === 'user')
		.map((message) => excerpt(message.content));
	const previousQuestion = earlierQuestions.at(-1) ?? '';
	const language = languageOf(text, earlierQuestions, passageLanguage);
	const known = new Map<string | null, QuestionTerm[]>();
	return {
		language,
		answerTypes: expectedAnswerTypes(`${text} `, language),
		countPattern: countPattern(text, language),
		termsIn: (inLanguage) => {
			let terms = known.get(inLanguage);
			if (!terms) {
				terms = questionTerms(text, previousQuestion, inLanguage);
				known.set(inLanguage, terms);
			}
			return terms;
		},
	};
}

function excerpt(text: string): string {
	return text.length <= 2 * EXCERPT_LENGTH ? text : `${text.slice(0, EXCERPT_LENGTH)}\n${text.slice(-EXCERPT_LENGTH)}`;
}

function questionTerms(text: string, previousQuestion: string, language: string | null): QuestionTerm[] {
	const ownTerms = weightedTerms(text, language, 1, false);
	const strongCount = ownTerms.filter((asked) => asked.weight === 1).length;
	const isFollowUp =
		strongCount === 0 || (strongCount <= FOLLOW_UP_MAX_TERMS && (FOLLOW_UP_START.test(text) || ANAPHORA.test(text)));
	if (!isFollowUp || previousQuestion === '') return ownTerms.slice(0, MAX_TERMS);
	const ownTermSet = new Set(ownTerms.map((asked) => asked.term));
	const carried = weightedTerms(previousQuestion, language, CARRIED_OVER_WEIGHT, true).filter(
		(asked) => !ownTermSet.has(asked.term),
	);
	return [...ownTerms, ...carried].slice(0, MAX_TERMS);
}

function weightedTerms(text: string, language: string | null, factor: number, isCarriedOver: boolean): QuestionTerm[] {
	const ignored = functionWords(language);
	const terms = [...new Set(queryTerms(text, language))].filter((term) => !ignored.ignored.has(term));
	const weightOf = (term: string) =>
		ignored.lowWeight.has(term) ? REQUEST_WORD_WEIGHT : /^\p{Nd}+$/u.test(term) ? NUMBER_WEIGHT : 1;
	return terms.map((term) => ({ term, weight: factor * weightOf(term), isCarriedOver }));
}

/**
 * The language of the question. Detectors guess wildly on three words of jargon, so function words vote first, then the
 * earlier questions of the same visitor, then the documents that match; the detector decides what is left.
 */
function languageOf(text: string, earlierQuestions: string[], passageLanguage: string | null): SpokenLanguage {
	const voted = voteLanguage(text).languages;
	const [only] = voted;
	if (only !== undefined && voted.length === 1) return only;
	const detected = detectLanguage(text);
	const script = /[\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Arabic}]/u.test(text);
	if (isSpoken(detected) && (script || voted.includes(detected))) return detected;
	const earlier = voteLanguage(earlierQuestions.slice(-4).join('\n')).languages;
	const likely = [earlier.length === 1 ? (earlier[0] ?? null) : null, passageLanguage, detected];
	const fits = likely.filter(isSpoken).filter((language) => voted.length === 0 || voted.includes(language));
	return fits[0] ?? only ?? 'en';
}
