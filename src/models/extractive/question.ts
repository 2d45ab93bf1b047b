import { detectLanguage, queryTerms } from '../../text/index.ts';
import type { ChatRequest } from '../chat-model.ts';
import { type AnswerKind, countOf, wantedKinds } from './answer-kinds.ts';
import { askingWords, isSpoken, voteOn } from './asking-words.ts';
import type { SpokenLanguage } from './phrases.ts';
import { withoutCourtesies } from './small-talk.ts';

/** A word that the answer should speak of. */
export interface AskedTerm {
	/** As `analyse` renders it. */
	term: string;
	/** 1 for what the question is about, less for words of asking and for words from the question before. */
	weight: number;
	/** Whether it comes from the question before. */
	carried: boolean;
}

/** A question as the extractive model understands it. */
export interface Question {
	/** The language to answer in. */
	language: SpokenLanguage;
	wants: ReadonlySet<AnswerKind>;
	/** Finds the number of something that is asked for; null where none is. */
	count: RegExp | null;
	/** The asked terms in a language, because a document is searched in its own. */
	termsIn(language: string | null): AskedTerm[];
}

/** What a message of 32,000 characters asks stands at its beginning or end; this much of each is read. */
const READ_LENGTH = 1_500;
const MOST_TERMS = 48;
/** `tell`, `need`, `help`: they fit any passage. */
const LITTLE = 0.3;
/** The same figure turns up anywhere by chance: `19`. */
const FIGURE = 0.5;
/** Words of the question before set the scene of a follow-up, but what it asks now decides. */
const CARRIED = 0.5;
/** A question with fewer words of its own than this leans on the one before. */
const FEW_TERMS = 2;

const CONTINUES =
	/^\s*(and|or|but|what about|how about|what if|und|oder|was ist mit|wie sieht es|et|ou|qu'en est-il|y|o|qué hay|en|of|hoe zit|e|ou|mas|ma|では|じゃあ|それ|و|ماذا عن)(?![\p{L}\p{N}])/iu;
const POINTS_BACK =
	/(?<![\p{L}\p{N}])(it|its|they|them|their|that|those|this|these|there|she|he|her|him|dafür|davon|dazu|damit|darüber|dort|cela|ça|celui|celle|eso|esto|ello|daarvoor|daarvan|isso|isto|ciò|questo|quello)(?![\p{L}\p{N}])|それ|これ|その|ذلك|هذا|هذه/iu;

/**
 * Reads the question of a request.
 * @param passageLanguage the language that most of the passages are in, null where there are none
 */
export function readQuestion(request: ChatRequest, passageLanguage: string | null): Question {
	const text = withoutCourtesies(excerpt(request.question));
	const turns = request.history.filter((turn) => turn.role === 'user').map((turn) => excerpt(turn.content));
	const before = turns.at(-1) ?? '';
	const language = languageOf(text, turns, passageLanguage);
	const known = new Map<string | null, AskedTerm[]>();
	return {
		language,
		wants: wantedKinds(`${text} `, language),
		count: countOf(text, language),
		termsIn: (inLanguage) => {
			let terms = known.get(inLanguage);
			if (!terms) {
				terms = askedTerms(text, before, inLanguage);
				known.set(inLanguage, terms);
			}
			return terms;
		},
	};
}

function excerpt(text: string): string {
	return text.length <= 2 * READ_LENGTH ? text : `${text.slice(0, READ_LENGTH)}\n${text.slice(-READ_LENGTH)}`;
}

function askedTerms(text: string, before: string, language: string | null): AskedTerm[] {
	const own = weighed(text, language, 1, false);
	const strong = own.filter((asked) => asked.weight === 1).length;
	const leans = strong === 0 || (strong <= FEW_TERMS && (CONTINUES.test(text) || POINTS_BACK.test(text)));
	if (!leans || before === '') return own.slice(0, MOST_TERMS);
	const mine = new Set(own.map((asked) => asked.term));
	const carried = weighed(before, language, CARRIED, true).filter((asked) => !mine.has(asked.term));
	return [...own, ...carried].slice(0, MOST_TERMS);
}

function weighed(text: string, language: string | null, factor: number, carried: boolean): AskedTerm[] {
	const asking = askingWords(language);
	const terms = [...new Set(queryTerms(text, language))].filter((term) => !asking.none.has(term));
	const weightOf = (term: string) => (asking.little.has(term) ? LITTLE : /^\p{Nd}+$/u.test(term) ? FIGURE : 1);
	return terms.map((term) => ({ term, weight: factor * weightOf(term), carried }));
}

/**
 * The language of the question. Detectors guess wildly on three words of jargon, so function words vote first, then the
 * earlier questions of the same visitor, then the documents that match; the detector decides what is left.
 */
function languageOf(text: string, turns: string[], passageLanguage: string | null): SpokenLanguage {
	const voted = voteOn(text).languages;
	const [only] = voted;
	if (only !== undefined && voted.length === 1) return only;
	const detected = detectLanguage(text);
	const script = /[\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Arabic}]/u.test(text);
	if (isSpoken(detected) && (script || voted.includes(detected))) return detected;
	const earlier = voteOn(turns.slice(-4).join('\n')).languages;
	const likely = [earlier.length === 1 ? (earlier[0] ?? null) : null, passageLanguage, detected];
	const fits = likely.filter(isSpoken).filter((language) => voted.length === 0 || voted.includes(language));
	return fits[0] ?? only ?? 'en';
}
