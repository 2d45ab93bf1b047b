import { analyse, generalVariants, variantsOf } from '../../text/index.ts';
import { isCalendarTerm, isWeekdayTerm } from '../calendar/calendar-terms.ts';
import { wordsOfType } from '../question/answer-types.ts';
import { functionWords } from '../question/function-words.ts';
import type { Question, QuestionTerm } from '../question/question.ts';
import { synonymsIn } from '../question/synonyms.ts';
import type { Terms } from '../reading/passage-reading.ts';
import { bestMatch, hasMatch, matchOfWord, matchTerms, type TermMatch } from './match-terms.ts';
import { replacedTerms } from './replaced-terms.ts';
import type { Source } from './source.ts';

/** How well each term of the question is matched, in the order of the terms; 0..1. */
export type Matches = readonly number[];

/** The terms of a question among the words of some passages of one language. */
export interface TermSpace {
	question: Question;
	terms: readonly QuestionTerm[];
	/** How well a term distinguishes the parts of the passages, 0..1. */
	rarity: readonly number[];
	/** The weights for ranking parts: what distinguishes them. */
	ranking: readonly number[];
	/**
	 * The weights for evidence: what the question is about. The search found all passages by the subject, so the subject is
	 * frequent among them, but an answer must contain it.
	 */
	subject: readonly number[];
	/** Whether any of the passages has a match of the term. */
	isKnown: readonly boolean[];
	/** The words that name what is asked: `phone`, `telephone`, `tel` for a phone number. */
	typeTerms: Terms;
	matchesIn(terms: Terms): number[];
	/** The share of the words of a name that the question has, 0..1. @param weightOf a word, 1 by default */
	fit(name: Terms, weightOf?: (word: string) => number): number;
	/**
	 * The similarity of question and heading, 0..1: the harmonic mean of the share of the question, by weight, that the heading
	 * contains, and of the share of the heading that the question contains.
	 */
	similarity(heading: Terms): number;
}

/** A day of the week selects a row or a sentence, but it is no subject: any text may have it. */
const DAY_FACTOR = 0.5;

/** Matches the terms of a question with the words of passages in one language. Yields between its steps, so that other work can run. */
export function* termSpaceOf(
	question: Question,
	sources: readonly Source[],
	language: string | null,
): Generator<void, TermSpace> {
	const asked = question.termsIn(language);
	const vocabulary = new Set<string>();
	const texts: Terms[] = [];
	for (const source of sources) {
		addTexts(source, texts, vocabulary);
		yield;
	}
	const defined = variantsOf(
		sources.flatMap(({ reading }) => reading.acronyms),
		language,
	);
	const matches = matchTerms(
		asked,
		vocabulary,
		language,
		[generalVariants(language), defined],
		fallbacksOf(question, language),
	);
	yield;
	const isReplaced = replacedTerms(asked, matches, sources);
	const terms = asked.map((term, i) => (isReplaced[i] ? { ...term, weight: 0 } : term));
	yield;
	const counts = matches.map((match) => texts.filter((text) => bestMatch(match, text) > 0).length);
	yield;
	const idf = (count: number) => Math.log(1 + (texts.length - count + 0.5) / (count + 0.5));
	const rarity = counts.map((count) => (texts.length === 0 ? 1 : idf(count) / idf(0)));
	const ignored = functionWords(language).ignored;
	const ranking = terms.map(({ weight }, i) => weight * (rarity[i] as number));
	const matchesIn = (of: Terms) => matches.map((match) => bestMatch(match, of));
	const fit: TermSpace['fit'] = (name, weightOf = () => 1) => fitOf(name, matches, ignored, weightOf);
	return {
		question,
		terms,
		rarity,
		ranking,
		subject: terms.map(({ term, weight }, i) => {
			return weight * (0.5 + 0.5 * (rarity[i] as number)) * (isWeekdayTerm(term) ? DAY_FACTOR : 1);
		}),
		isKnown: matches.map(hasMatch),
		typeTerms: typeTermsOf(question, language),
		matchesIn,
		fit,
		similarity: (heading) => {
			const ofQuestion = weightedShare(matchesIn(heading), ranking);
			const ofHeading = fit(heading);
			return ofQuestion + ofHeading === 0 ? 0 : (2 * ofQuestion * ofHeading) / (ofQuestion + ofHeading);
		},
	};
}

/** The synonyms of the question's words as terms. */
function fallbacksOf({ synonyms }: Question, language: string | null): ReadonlyMap<string, ReadonlySet<string>> {
	const found = new Map<string, ReadonlySet<string>>();
	for (const { word, synonyms: others } of synonyms) {
		const [term] = analyse(word, language);
		if (term !== undefined) found.set(term, new Set(analyse(others.join(' '), language)));
	}
	return found;
}

/** The mean of values by weight. */
export function weightedShare(values: Matches, weights: readonly number[]): number {
	let sum = 0;
	let all = 0;
	for (let i = 0; i < values.length; i++) {
		sum += (values[i] as number) * (weights[i] as number);
		all += weights[i] as number;
	}
	return all === 0 ? 0 : sum / all;
}

/** For each term the better of its matches. */
export function better(...all: Matches[]): number[] {
	return (all[0] as Matches).map((_, i) => Math.max(...all.map((matches) => matches[i] as number)));
}

/** Matches that count less. */
export function scaled(matches: Matches, factor: number): number[] {
	return matches.map((match) => match * factor);
}

function typeTermsOf({ answerTypes, language: spoken }: Question, language: string | null): Terms {
	const synonyms = synonymsIn(language);
	const found = new Set<string>();
	for (const type of answerTypes) {
		// Any label may stand above a number.
		if (type === 'number' || type === 'duration' || type === 'steps') continue;
		for (const stem of analyse(wordsOfType(type, spoken), language)) {
			found.add(stem);
			for (const other of synonyms.get(stem) ?? []) found.add(other);
		}
	}
	return found;
}

/** The words of each part that can answer; adds all words, those of the context too, to the vocabulary. */
function addTexts({ reading }: Source, texts: Terms[], vocabulary: Set<string>): void {
	const addAll = (...all: Terms[]) => {
		for (const terms of all) for (const term of terms) vocabulary.add(term);
	};
	for (const { terms, labelTerms, nearTerms, farTerms } of reading.units) {
		const text = labelTerms.size === 0 ? terms : new Set([...labelTerms, ...terms]);
		texts.push(text);
		addAll(text, nearTerms, farTerms);
	}
	for (const { header, rows, nearTerms, farTerms } of reading.tables) {
		addAll(nearTerms, farTerms, ...(header ?? []).map(({ terms }) => terms));
		for (const row of rows) {
			const text = new Set(row.flatMap(({ terms }) => [...terms]));
			texts.push(text);
			addAll(text);
		}
	}
}

function fitOf(
	name: Terms,
	matches: readonly TermMatch[],
	ignored: ReadonlySet<string>,
	weightOf: (word: string) => number,
): number {
	let count = 0;
	let found = 0;
	// The days of a range are one name: `Monday–Friday` has the Friday of the question.
	let day: { weight: number; match: number } | null = null;
	for (const word of name) {
		if (ignored.has(word)) continue;
		let best = 0;
		for (const match of matches) best = Math.max(best, matchOfWord(match, word, name));
		const weight = weightOf(word);
		if (isWeekdayTerm(word)) {
			if (day === null || best > day.match) day = { weight, match: best };
			continue;
		}
		if (isCalendarTerm(word)) {
			// It stands beside the words of the date: `24`, `December`.
			if (best > 0) return best;
			continue;
		}
		count += weight;
		found += weight * best;
	}
	if (day !== null) {
		count += day.weight;
		found += day.weight * day.match;
	}
	return count === 0 ? 0 : found / count;
}
