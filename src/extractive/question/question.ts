import { dialogueContext } from '../../retrieval/index.ts';
import { analyse, detectLanguage, queryTerms, spellAcronyms, words } from '../../text/index.ts';
import { weekdaysOfQuestion, weekdayTerm } from '../calendar/weekdays.ts';
import { quantitiesIn } from '../reading/ranges.ts';
import type { ExtractiveRequest } from '../request.ts';
import type { SpokenLanguage } from '../spoken-language.ts';
import type { AnswerType } from './answer-type-cues.ts';
import { countPattern, expectedAnswerTypes, wordsOfType } from './answer-types.ts';
import { type AskedDay, askedWeekday, asksOpening, asksWholeDay, readAskedDays } from './asked-day.ts';
import { asksComparison } from './comparisons.ts';
import { functionWords, isSpoken, voteLanguage } from './function-words.ts';
import { isNegated } from './negation.ts';
import { withoutCourtesies } from './small-talk.ts';
import { asksYesOrNo } from './yes-no.ts';

/** A word of the question that the answer should account for. */
export interface QuestionTerm {
	/** The stem that `analyse` returns. */
	term: string;
	/** 1 for the subject of the question, less for words that only request and for words from the messages before. */
	weight: number;
	/** Whether it comes from the messages before. */
	isCarriedOver: boolean;
	/** The types of answer that it asks for. A value of one of them stands for the word. */
	asksFor: readonly AnswerType[];
	/** A name or number by its spelling: `Chicago`, `HB-170`. Texts without it are about something else. */
	isName: boolean;
	/** For a day: the terms of parts about it. */
	days?: readonly string[];
}

/** A question, analysed. */
export interface Question {
	/** The language to answer in. */
	language: SpokenLanguage;
	/** Without courtesies. */
	text: string;
	answerTypes: ReadonlySet<AnswerType>;
	/** Finds the number that the question asks for; null if it asks for none. */
	countPattern: RegExp | null;
	/** Whether it compares things. */
	isComparison: boolean;
	/** Whether it is answered by yes or no. */
	isYesNo: boolean;
	/** Whether it asks without something, or for what is not: `without a receipt`. */
	isNegated: boolean;
	/** The numbers with a unit that it names. */
	quantities: ReadonlyArray<{ value: number; unit: string }>;
	/** Synonyms of its words, for those that the passages do not have. */
	synonyms: NonNullable<ExtractiveRequest['synonyms']>;
	/** The day that a question about hours asks about; null for any other. */
	day: AskedDay | null;
	/** How many days the question names: each is answered by a question of its own. */
	dayCount: number;
	/** Opening and closing time of the day are asked: `Are you open today?` */
	asksWholeDay: boolean;
	/** Codes that it names, as `codesIn` returns them. */
	codes: readonly string[];
	/** The terms of the question in the language of a document. */
	termsIn(language: string | null): QuestionTerm[];
}

/** The question of a message of 32,000 characters is at its beginning or end. This much of each is read. */
const EXCERPT_LENGTH = 1_500;
const MAX_TERMS = 40;
/** `tell`, `need`, `help`: they match any passage. */
const REQUEST_WORD_WEIGHT = 0.3;
/** A number such as `19` often occurs by chance. */
const NUMBER_WEIGHT = 0.5;

/** A message that depends on the messages before it by at least this weight is read together with them. */
const MIN_CONTEXT_WEIGHT = 0.4;
/** Words of the question before are context for a follow-up. Its own words count more, and so do later ones. */
const CARRIED_OVER_WEIGHT = 0.5;
/** A message of one or two words may also stand alone. */
const SHORT_MESSAGE_WEIGHT = 0.15;
/** Words of the reply before, to which a pronoun may point. */
const REPLY_WEIGHT = 0.2;
const REPLY_WORDS = 12;
const MAX_EARLIER_QUESTIONS = 3;

/**
 * One or more letters with digits: `E3`, `TW-110`, `F07`, `HB170-2`. Units such as `54mm` begin with the digits. Letters of scripts
 * without spaces may stand beside a code: `E3とは`.
 */
const CODE = codePattern('[\\p{Script=Latin}\\p{Script=Greek}\\p{Script=Cyrillic}]');

/**
 * Analyses the question of a request.
 * @param passageLanguage the language of most passages; null without passages
 * @param dayAt which of the days is asked that a question about hours names, from 0
 */
export function readQuestion(request: ExtractiveRequest, passageLanguage: string | null, dayAt = 0): Question {
	const text = withoutCourtesies(excerpt(request.question));
	const earlier = request.history.filter(({ role }) => role === 'user').map(({ content }) => excerpt(content));
	const language = languageOf(text, earlier, passageLanguage);
	const context = contextOf(text, earlier, request);
	const known = new Map<string | null, QuestionTerm[]>();
	const hours = readDays(text, context, language, request.moment, dayAt);
	const ownTypes = expectedAnswerTypes(`${text} `, language);
	// `Are you open today?` asks for the time, too.
	if (hours.day !== null && asksOpening(text, language)) ownTypes.add('time');
	const carriedTypes = context.filter(({ factor }) => factor >= CARRIED_OVER_WEIGHT ** 2);
	const answerTypes =
		ownTypes.size > 0 || carriedTypes.length === 0
			? ownTypes
			: (carriedTypes
					.map(({ content }) => expectedAnswerTypes(`${content} `, language))
					.find((types) => types.size > 0) ?? ownTypes);
	if (answerTypes.size === 0 && hours.day !== null) answerTypes.add('time');
	return {
		language,
		text,
		answerTypes,
		countPattern: countPattern(text, language),
		isComparison: asksComparison(text, language),
		isYesNo: asksYesOrNo(text, language),
		isNegated: isNegated(text),
		quantities: quantitiesIn(text, language),
		synonyms: request.synonyms ?? [],
		day: hours.day,
		dayCount: hours.count,
		asksWholeDay: hours.day !== null && asksWholeDay(text, language),
		codes: codesIn(text),
		termsIn: (inLanguage) => {
			let terms = known.get(inLanguage);
			if (!terms) {
				terms = questionTerms(text, context, hours, answerTypes, language, inLanguage);
				known.set(inLanguage, terms);
			}
			return terms;
		},
	};
}

/**
 * The codes of a text in upper case, without a hyphen between letters and digits: `E3`, `TW110`, `HB170-2`. A range has all of its
 * codes: `E1–E4`.
 */
export function codesIn(text: string): string[] {
	const codes = [...text.matchAll(CODE)].map(([code]) => code.replace(/(?<=\p{L})-/u, '').toUpperCase());
	return codes.length < 2 ? codes : [...new Set([...codes, ...codesInRanges(text)])];
}

/** `E1–E4`, `E01 to E04`: the letters stand before both numbers. */
const CODE_RANGE =
	/(?<![\p{L}\p{N}])(\p{L}{1,4})(\p{Nd}{1,4})\s?(?:-|–|—|to|through|bis|à|a|al|tot|até)\s?\1(\p{Nd}{1,4})(?![\p{L}\p{N}])/giu;
/** A longer range is not one of codes. */
const MAX_RANGE_CODES = 50;

function codesInRanges(text: string): string[] {
	return [...text.matchAll(CODE_RANGE)].flatMap(([, letters = '', from = '', to = '']) => {
		const count = Number(to) - Number(from) + 1;
		if (count < 2 || count > MAX_RANGE_CODES) return [];
		return Array.from({ length: count }, (_, at) => {
			return letters.toUpperCase() + String(Number(from) + at).padStart(from.length, '0');
		});
	});
}

function codePattern(letter: string): RegExp {
	return new RegExp(
		`(?<!${letter}|\\p{N})${letter}{1,4}-?\\p{Nd}{1,4}${letter}?(?:-\\p{Nd}{1,4})?(?!-?\\p{Nd}|${letter})`,
		'gu',
	);
}

function excerpt(text: string): string {
	return text.length <= 2 * EXCERPT_LENGTH ? text : `${text.slice(0, EXCERPT_LENGTH)}\n${text.slice(-EXCERPT_LENGTH)}`;
}

/** A text that the question depends on, with the weight of its words. */
interface Context {
	content: string;
	factor: number;
}

/** The earlier questions that a follow-up continues, the last one first, and the beginning of the reply to the last one. */
function contextOf(text: string, earlier: readonly string[], request: ExtractiveRequest): Context[] {
	const context: Context[] = [];
	let message = text;
	let factor = 1;
	for (const content of earlier.slice(-MAX_EARLIER_QUESTIONS).reverse()) {
		const dependence = dialogueContext({ message, earlier: [{ role: 'user', content }] })?.weight ?? 0;
		if (dependence === 0) break;
		factor *= dependence >= MIN_CONTEXT_WEIGHT ? CARRIED_OVER_WEIGHT : SHORT_MESSAGE_WEIGHT;
		context.push({ content: withoutCourtesies(content), factor });
		message = content;
	}
	const last = request.history.at(-1);
	if (last?.role === 'assistant' && context[0]?.factor === CARRIED_OVER_WEIGHT)
		context.push({ content: last.content.split(/\s+/).slice(0, REPLY_WORDS).join(' '), factor: REPLY_WEIGHT });
	return context;
}

/** The days that a question about hours asks about, in the question itself or before it. */
interface DayReading {
	day: AskedDay | null;
	/** The number of days that are asked together. */
	count: number;
	/** It was named in a message before. */
	isCarriedOver: boolean;
	/** A text without the name of a day that `day` stands for. */
	without(content: string): string;
}

/** A follow-up takes the day of the question before, or replaces it: `Are you open today?` → `And on Sunday?` */
function readDays(
	text: string,
	context: readonly Context[],
	language: SpokenLanguage,
	moment: ExtractiveRequest['moment'],
	dayAt: number,
): DayReading {
	const earlier = context.filter(({ factor }) => factor > REPLY_WEIGHT).map(({ content }) => content);
	const isAsked = [text, ...earlier].some((content) => asksOpening(content, language));
	const daysIn = (content: string): AskedDay[] => {
		const found = readAskedDays(content, language, moment);
		if (found) return found.days;
		const { days } = weekdaysOfQuestion(content, [language]);
		return days.length === 1 && days[0] ? [askedWeekday(days[0], moment)] : [];
	};
	if (!isAsked) return { day: null, count: 0, isCarriedOver: false, without: (content) => content };
	const own = daysIn(text);
	const isOther = own.length === 0 && weekdaysOfQuestion(text, [language]).days.length > 0;
	const days = own.length > 0 || isOther ? own : (earlier.map(daysIn).find(({ length }) => length > 0) ?? []);
	return {
		day: days[dayAt] ?? null,
		count: days.length,
		isCarriedOver: own.length === 0 && days.length > 0,
		without: (content) => withoutDays(content, language, moment),
	};
}

/** A message names a few days at most. */
const MAX_NAMED_DAYS = 6;

function withoutDays(content: string, language: SpokenLanguage, moment: ExtractiveRequest['moment']): string {
	let rest = content;
	for (let count = 0; count < MAX_NAMED_DAYS; count++) {
		const found = readAskedDays(rest, language, moment);
		if (found === null) break;
		rest = found.text;
	}
	return rest;
}

function questionTerms(
	text: string,
	context: readonly Context[],
	hours: DayReading,
	types: ReadonlySet<AnswerType>,
	spoken: SpokenLanguage,
	language: string | null,
): QuestionTerm[] {
	const terms = new Map<string, QuestionTerm>();
	const typeStems = [...types].map((type) => [type, new Set(analyse(wordsOfType(type, spoken), language))] as const);
	const addDay = (term: string, days: readonly string[], isCarriedOver: boolean, weight = 1) => {
		if (!terms.has(term)) terms.set(term, { term, weight, isCarriedOver, asksFor: [], isName: false, days });
	};
	let hasDay = hours.day !== null;
	const add = (whole: string, factor: number, isCarriedOver: boolean, replaced: ReadonlySet<string>) => {
		const { text: content, days } = weekdaysOfQuestion(hours.without(whole), [spoken, language]);
		const capitalised = namesIn(content, language);
		for (const { term, word, weight } of weightedTerms(content, spoken, language)) {
			if (terms.has(term) || replaced.has(term)) continue;
			const asksFor = typeStems.filter(([, stems]) => stems.has(term)).map(([type]) => type);
			const isName = !isCarriedOver && asksFor.length === 0 && capitalised.has(word);
			terms.set(term, { term, weight: weight * factor, isCarriedOver, asksFor, isName });
		}
		// Another day replaces the one of the question before.
		if (hasDay || factor === REPLY_WEIGHT) return;
		for (const { day } of days) addDay(weekdayTerm(day), [weekdayTerm(day)], isCarriedOver, factor);
		hasDay = days.length > 0;
	};
	const [dayTerm] = hours.day?.terms ?? [];
	if (hours.day !== null && dayTerm !== undefined) addDay(dayTerm, hours.day.terms, hours.isCarriedOver);
	add(text, 1, false, new Set());
	const own = [...terms.values()];
	const asksItself = own.some(({ asksFor }) => asksFor.length > 0);
	// A message that names nothing is about what the question before named.
	const namesNothing = !own.some(({ asksFor, weight }) => asksFor.length === 0 && weight >= NUMBER_WEIGHT);
	for (const { content, factor } of context) {
		const weight = namesNothing && factor === CARRIED_OVER_WEIGHT ? 1 : factor;
		// Another kind of answer is asked for than before: the telephone first, then the address.
		const replaced = asksItself ? typeWordsOf(content, spoken, language) : new Set<string>();
		add(content, weight, true, replaced);
	}
	return [...terms.values()].slice(0, MAX_TERMS);
}

/** The words with which a question asks for its type of answer. */
function typeWordsOf(content: string, spoken: SpokenLanguage, language: string | null): Set<string> {
	const types = [...expectedAnswerTypes(`${content} `, spoken)];
	return new Set(types.flatMap((type) => analyse(wordsOfType(type, spoken), language)));
}

interface WeightedTerm {
	term: string;
	word: string;
	weight: number;
}

function weightedTerms(text: string, spoken: SpokenLanguage, language: string | null): WeightedTerm[] {
	const ignored = functionWords(language);
	const spokenIgnored = functionWords(spoken).ignored;
	return words(spellAcronyms(text)).flatMap((word) => {
		const [term] = queryTerms(word, language);
		if (term === undefined || ignored.ignored.has(term) || spokenIgnored.has(analyse(word, spoken)[0] ?? '')) return [];
		const weight = ignored.lowWeight.has(term) ? REQUEST_WORD_WEIGHT : /^\p{Nd}+$/u.test(term) ? NUMBER_WEIGHT : 1;
		return [{ term, word, weight }];
	});
}

/** Words that are names by their spelling: capitalised within a sentence, except in German, or with letters and digits. */
function namesIn(text: string, language: string | null): Set<string> {
	const names = new Set<string>();
	const pattern = language === 'de' ? /(?!)/gu : /(?<=[\p{L}\p{N},’']\s+)\p{Lu}[\p{L}\p{N}'’-]+/gu;
	for (const [name] of text.matchAll(pattern)) for (const word of words(name)) names.add(word);
	return names;
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
