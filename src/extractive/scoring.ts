import type { AnalysedPassage, Unit } from './analyse-passage.ts';
import { matchesAnswerType } from './answer-types.ts';
import { functionWords } from './function-words.ts';
import { matchTerms } from './matching.ts';
import type { Question, QuestionTerm } from './question.ts';
import type { QuotablePassage } from './request.ts';

/** A passage with its analysis. */
export interface Source {
	passage: QuotablePassage;
	analysis: AnalysedPassage;
}

/** A unit with its position and its scores. */
export interface ScoredUnit {
	source: Source;
	unit: Unit;
	/** Its position among the units of its passage. */
	position: number;
	/** How well it answers. Comparable within one question only. */
	score: number;
	/** The share of the question that the unit contains together with its context, 0..1. Comparable between questions. */
	evidence: number;
	/** Whether it or its context has a word of the question (of the question before, if this one has no words of its own). */
	sharesTerm: boolean;
}

/** The weight of words in the context of the unit, and in its neighbours. */
const CONTEXT_WEIGHT = 0.9;
const NEIGHBOUR_WEIGHT = 0.4;

/** The share of the score that the passage's score in the search decides. */
const PASSAGE_SCORE_WEIGHT = 0.6;
const ANSWER_TYPE_BONUS = 0.2;
const STEP_BONUS = 0.4;
/** A number of the things that the question asks for is better than any other number. */
const COUNT_BONUS = 0.5;
/** Under a heading that is the question, as in a list of frequent questions, the first sentences are the answer. */
const HEADING_MATCH_BONUS = 0.7;
const HEADING_MATCH_UNITS = 6;
const HEADING_MATCH_THRESHOLD = 0.5;
const ANNOUNCEMENT_FACTOR = 0.3;
const SHORT_SENTENCE_FACTOR = 0.6;
/** A unit that matches the question only by its heading ranks below a unit that has the words itself. */
const NO_TERM_FACTOR = 0.75;
const MIN_SENTENCE_WORDS = 4;

/** Scores every unit of the passages, except those in languages in which the question has no terms. */
export function scoreUnits(question: Question, sources: readonly Source[]): ScoredUnit[] {
	const scored: ScoredUnit[] = [];
	for (const language of new Set(sources.map((source) => source.analysis.language))) {
		const own = sources.filter((source) => source.analysis.language === language);
		const asked = question.termsIn(language);
		if (asked.length > 0) scored.push(...scoreInLanguage(question, asked, own, language));
	}
	const best = Math.max(...sources.map((source) => source.passage.score), Number.EPSILON);
	for (const one of scored) {
		one.score *= 1 - PASSAGE_SCORE_WEIGHT + PASSAGE_SCORE_WEIGHT * Math.max(0, one.source.passage.score / best);
	}
	return scored;
}

function scoreInLanguage(
	question: Question,
	questionTerms: readonly QuestionTerm[],
	sources: readonly Source[],
	language: string | null,
): ScoredUnit[] {
	const units = sources.flatMap((source) =>
		source.analysis.units.map((unit, position) => ({ source, unit, position })),
	);
	const matches = matchTerms(questionTerms, vocabularyOf(units.map(({ unit }) => unit)), language);
	const ownMatches = units.map(({ unit }) => matches.map((match) => bestMatch(match, unit.terms)));
	const rarity = matches.map((_, i) => relativeIdf(ownMatches, i));
	// Two different weights: how well a word distinguishes sentences, and how much the question is about it. The search found
	// all passages by the subject, so the subject is frequent among them, but an answer must contain it.
	const ranking = questionTerms.map(({ weight }, i) => weight * (rarity[i] as number));
	const subject = questionTerms.map(({ weight }, i) => weight * (0.5 + 0.5 * (rarity[i] as number)));
	const ignored = functionWords(language).ignored;
	const headingSimilarities = new Map(
		sources.map((source) => {
			const values = source.analysis.headings.map((heading) => headingSimilarity(matches, ranking, heading, ignored));
			return [source, Math.max(...values)];
		}),
	);
	const onlyCarried = questionTerms.every((term) => term.isCarriedOver);
	return units.map(({ source, unit, position }, at) => {
		const own = ownMatches[at] as number[];
		const contextMatches = matches.map((match) => bestMatch(match, unit.contextTerms));
		const previousMatches = isSameParagraph(unit, source.analysis.units[position - 1]) ? ownMatches[at - 1] : null;
		const nextMatches = isSameParagraph(unit, source.analysis.units[position + 1]) ? ownMatches[at + 1] : null;
		const neighbourMatches = own.map((_, i) => Math.max(previousMatches?.[i] ?? 0, nextMatches?.[i] ?? 0));
		const matchScores = own.map((value, i) =>
			Math.max(
				value,
				CONTEXT_WEIGHT * (contextMatches[i] as number),
				NEIGHBOUR_WEIGHT * (neighbourMatches[i] as number),
			),
		);
		const evidenceScores = own.map((value, i) =>
			Math.max(value, contextMatches[i] as number, neighbourMatches[i] as number),
		);
		const similarity = headingSimilarities.get(source) as number;
		const headingBonus = similarity * HEADING_MATCH_BONUS * Math.max(0, 1 - position / HEADING_MATCH_UNITS);
		const hasNoTerm = similarity < HEADING_MATCH_THRESHOLD && unit.leadIn === null && own.every((value) => value === 0);
		return {
			source,
			unit,
			position,
			score:
				(weightedShare(matchScores, ranking) + headingBonus) *
				formFactor(unit, question) *
				(hasNoTerm ? NO_TERM_FACTOR : 1),
			evidence: weightedShare(evidenceScores, subject),
			sharesTerm: questionTerms.some(
				({ isCarriedOver }, i) =>
					(onlyCarried || !isCarriedOver) && ((own[i] as number) > 0 || (contextMatches[i] as number) > 0),
			),
		};
	});
}

/** The words of the units and of what is around them. */
function vocabularyOf(units: readonly Unit[]): Set<string> {
	const vocabulary = new Set<string>();
	for (const { terms, contextTerms } of units) {
		for (const term of terms) vocabulary.add(term);
		for (const term of contextTerms) vocabulary.add(term);
	}
	return vocabulary;
}

/** Whether two neighbours belong to one paragraph. Each line of a list or table is separate. */
function isSameParagraph(unit: Unit, neighbour: Unit | undefined): boolean {
	return unit.kind === 'sentence' && neighbour?.block === unit.block;
}

function bestMatch(match: Map<string, number>, terms: ReadonlySet<string>): number {
	let best = 0;
	for (const [word, value] of match) if (value > best && terms.has(word)) best = value;
	return best;
}

/**
 * The similarity of question and heading, 0..1: the harmonic mean of the share of the question, by weight, that the heading
 * contains, and of the share of the heading that the question contains.
 */
function headingSimilarity(
	matches: Array<Map<string, number>>,
	weights: number[],
	heading: ReadonlySet<string>,
	asking: ReadonlySet<string>,
): number {
	const words = [...heading].filter((word) => !asking.has(word)).length;
	const said = matches.map((match) => bestMatch(match, heading));
	const ofQuestion = weightedShare(said, weights);
	const ofHeading = words === 0 ? 0 : Math.min(1, said.reduce((sum, value) => sum + value, 0) / words);
	return ofQuestion + ofHeading === 0 ? 0 : (2 * ofQuestion * ofHeading) / (ofQuestion + ofHeading);
}

/** BM25's idf over the units, divided by its largest value: 0..1, and 1 for a term that no unit contains. */
function relativeIdf(inside: number[][], term: number): number {
	const count = inside.length;
	let holding = 0;
	for (const own of inside) if ((own[term] as number) > 0) holding++;
	const idf = (n: number) => Math.log(1 + (count - n + 0.5) / (n + 0.5));
	return idf(holding) / idf(0);
}

function weightedShare(values: number[], weights: number[]): number {
	let sum = 0;
	let all = 0;
	for (let i = 0; i < values.length; i++) {
		sum += (values[i] as number) * (weights[i] as number);
		all += weights[i] as number;
	}
	return all === 0 ? 0 : sum / all;
}

/** How much the form of a unit speaks for or against it as an answer; 1 is neutral. */
function formFactor(unit: Unit, question: Question): number {
	let factor = question.countPattern?.test(unit.text) ? 1 + COUNT_BONUS : 1;
	for (const kind of question.answerTypes) {
		if (matchesAnswerType(unit.text, kind)) factor += ANSWER_TYPE_BONUS;
		if (kind === 'steps' && unit.number !== null) factor += STEP_BONUS;
	}
	if (unit.isAnnouncement) factor *= ANNOUNCEMENT_FACTOR;
	if (unit.kind === 'sentence' && unit.words < MIN_SENTENCE_WORDS) factor *= SHORT_SENTENCE_FACTOR;
	return factor;
}
