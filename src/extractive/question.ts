import { detectLanguage, queryTerms } from '../text/index.ts';
import { type AnswerType, countPattern, expectedAnswerTypes } from './answer-types.ts';
import { functionWords, isSpoken, voteLanguage } from './function-words.ts';
import type { SpokenLanguage } from './phrases.ts';
import type { ExtractiveRequest } from './request.ts';
import { withoutCourtesies } from './small-talk.ts';

/** A word that the answer should contain. */
export interface QuestionTerm {
	/** The stem that `analyse` returns. */
	term: string;
	/** 1 for the subject of the question, less for words that only request and for words from the question before. */
	weight: number;
	/** Whether it comes from the question before. */
	isCarriedOver: boolean;
}

/** A question, analysed. */
export interface Question {
	/** The language to answer in. */
	language: SpokenLanguage;
	answerTypes: ReadonlySet<AnswerType>;
	/** Finds the number that the question asks for; null if it asks for none. */
	countPattern: RegExp | null;
	/** The terms of the question in the language of a document. */
	termsIn(language: string | null): QuestionTerm[];
}

/** The question of a message of 32,000 characters is at its beginning or end. This much of each is read. */
const EXCERPT_LENGTH = 1_500;
const MAX_TERMS = 48;
/** `tell`, `need`, `help`: they match any passage. */
const REQUEST_WORD_WEIGHT = 0.3;
/** A number such as `19` often occurs by chance. */
const NUMBER_WEIGHT = 0.5;
/** Words of the question before are context for a follow-up. Its own words count more. */
const CARRIED_OVER_WEIGHT = 0.5;
/** A question with more terms than this does not depend on the question before. */
const FOLLOW_UP_MAX_TERMS = 2;

const FOLLOW_UP_START =
	/^\s*(and|or|but|what about|how about|what if|und|oder|was ist mit|wie sieht es|et|ou|qu'en est-il|y|o|qué hay|en|of|hoe zit|e|ou|mas|ma|では|じゃあ|それ|و|ماذا عن)(?![\p{L}\p{N}])/iu;
const ANAPHORA =
	/(?<![\p{L}\p{N}])(it|its|they|them|their|that|those|this|these|there|she|he|her|him|dafür|davon|dazu|damit|darüber|dort|cela|ça|celui|celle|eso|esto|ello|daarvoor|daarvan|isso|isto|ciò|questo|quello)(?![\p{L}\p{N}])|それ|これ|その|ذلك|هذا|هذه/iu;

/**
 * Analyses the question of a request.
 * @param passageLanguage the language of most passages; null without passages
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
 * The language of the question. Detectors are unreliable on three words of jargon, so the function words decide first, then
 * the earlier questions of the same visitor, then the passages, and the detector last.
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
