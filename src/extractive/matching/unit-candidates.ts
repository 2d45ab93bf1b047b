import { matchesAnswerType, mayMatchAnswerType } from '../question/answer-forms.ts';
import type { Question } from '../question/question.ts';
import type { Unit } from '../reading/passage-reading.ts';
import { type NumberRange, rangeMatch } from '../reading/ranges.ts';
import type { Candidate } from './candidate.ts';
import { hasCodesOf, withCodes } from './codes.ts';
import { namesAbove, type Source } from './source.ts';
import { better, type Matches, scaled, type TermSpace, weightedShare } from './term-space.ts';

/** The weights of words near the unit, in the title, and in its neighbours. */
export const NEAR_WEIGHT = 0.9;
export const FAR_WEIGHT = 0.8;
const NEIGHBOUR_WEIGHT = 0.4;
/** A value of the asked type stands for the word that asks for it. */
export const TYPE_WEIGHT = 0.85;

const ANSWER_TYPE_BONUS = 0.2;
const STEP_BONUS = 0.4;
/** A number of the things that the question asks for is better than any other number. */
const COUNT_BONUS = 0.5;
/** Under a heading that is the question, as in a list of frequent questions, the first sentences are the answer. */
const TOPIC_BONUS = 0.7;
const TOPIC_UNITS = 6;
const MIN_TOPIC_FIT = 0.5;
/** A key that names what is asked. */
const LABEL_BONUS = 0.3;
const ANNOUNCEMENT_FACTOR = 0.3;
const SHORT_SENTENCE_FACTOR = 0.6;
const MIN_SENTENCE_WORDS = 4;
/** A unit that matches the question only by its heading ranks below a unit that has the words itself. */
const NO_TERM_FACTOR = 0.75;
/** A listing answers a question how to do something. */
const CODE_FACTOR = 0.6;
const WEAK_TYPE_FACTOR = 0.9;
/** A value that is asked by its form, and is not there. */
const MISSING_TYPE_FACTOR = 0.6;

/** A range of the question's unit with or without its number. */
const RANGE_FACTOR = 1.3;
const OTHER_RANGE_FACTOR = 0.5;
/** After so many units other work can run: a passage may have hundreds of short lines. */
const UNITS_PER_STEP = 8;

/** The candidates among the sentences, items, pairs and listings of a passage. Yields between them, so that other work can run. */
export function* unitCandidates(space: TermSpace, source: Source): Generator<void, Candidate[]> {
	const { units } = source.reading;
	const single: Matches[] = [];
	for (const { terms, text } of units) {
		if (single.length % UNITS_PER_STEP === 0) yield;
		single.push(withCodes(space.matchesIn(terms), text, space));
	}
	const texts = space.question.answerTypes.has('steps')
		? single.map((_, at) => listMatches(units, single, at))
		: single;
	const headingFit = Math.max(...source.reading.headings.map(space.similarity));
	const candidates: Candidate[] = [];
	for (const [position, unit] of units.entries()) {
		if (position % UNITS_PER_STEP === 0) yield;
		const label = withCodes(space.matchesIn(unit.labelTerms), unit.label, space);
		const hasType = typeOf(space.question, unit);
		// A pair is shown with the name above it: `Denver, Phone: (303) 555-0126`.
		const names = unit.kind === 'pair' ? better(label, space.matchesIn(unit.topicTerms)) : label;
		const own = withTypeWords(better(texts[position] as Matches, names), space, hasType);
		const neighbours = better(
			own.map(() => 0),
			...[-1, 1].flatMap((step) =>
				isSameParagraph(unit, units[position + step]) ? [texts[position + step] as Matches] : [],
			),
		);
		const near = space.matchesIn(unit.nearTerms);
		const far = space.matchesIn(unit.farTerms);
		const topicFit = Math.max(space.similarity(unit.topicTerms), headingFit);
		const shown = better(own, scaled(near, NEAR_WEIGHT), scaled(far, FAR_WEIGHT), scaled(neighbours, NEIGHBOUR_WEIGHT));
		const namesType = hasType === true && [...unit.labelTerms].some((term) => space.typeTerms.has(term));
		const labelFit = unit.label === '' ? 0 : Math.max(space.fit(unit.labelTerms), namesType ? TYPE_WEIGHT : 0);
		const topicBonus = topicFit * TOPIC_BONUS * Math.max(0, 1 - unit.topicDistance / TOPIC_UNITS);
		const hasNoTerm = topicFit < MIN_TOPIC_FIT && unit.leadIn === null && own.every((match) => match === 0);
		const score =
			(weightedShare(shown, space.ranking) + topicBonus + labelFit * LABEL_BONUS) *
			formFactor(unit, space.question, hasType) *
			rangeFactor(unit.labelRanges, space.question) *
			(hasNoTerm ? NO_TERM_FACTOR : 1);
		candidates.push({
			source,
			space,
			part: { unit, position },
			own,
			all: better(own, near, far, neighbours),
			labelFit,
			topicFit,
			hasType,
			hasCodes: hasCodesOf(space.question, [`${unit.label} ${unit.text}`, unit.topic, ...namesAbove(source)]),
			score,
		});
	}
	return candidates;
}

/** The matches of an item are those of its list, because instructions are given whole. */
function listMatches(units: readonly Unit[], texts: readonly Matches[], at: number): Matches {
	const unit = units[at] as Unit;
	if (!unit.isListed || unit.label !== '') return texts[at] as Matches;
	const items = texts.filter((_, other) => units[other]?.isListed && units[other]?.block === unit.block);
	return better(texts[at] as Matches, ...items);
}

/** The matches with those of the words that a value of the asked type answers. */
export function withTypeWords(matches: Matches, space: TermSpace, hasType: boolean | null): number[] {
	return matches.map((match, i) =>
		hasType && (space.terms[i]?.asksFor.length ?? 0) > 0 ? Math.max(match, TYPE_WEIGHT) : match,
	);
}

/** Steps have no type: the form of a list shows them. */
function typeOf({ answerTypes }: Question, { label, text }: Unit): boolean | null {
	const types = [...answerTypes].filter((type) => type !== 'steps');
	return types.length === 0
		? null
		: types.some((type) => matchesAnswerType(`${text} ${type === 'price' ? label : ''}`, type));
}

/** How much the form of a unit speaks for or against it as an answer; 1 is neutral. */
function formFactor(unit: Unit, question: Question, hasType: boolean | null): number {
	let factor = question.countPattern?.test(unit.text) ? 1 + COUNT_BONUS : 1;
	if (hasType) factor += ANSWER_TYPE_BONUS;
	if (hasType === false) {
		const mayMatch = [...question.answerTypes].some((type) => mayMatchAnswerType(unit.text, type));
		factor *= mayMatch ? WEAK_TYPE_FACTOR : MISSING_TYPE_FACTOR;
	}
	if (question.answerTypes.has('steps') && unit.isListed && unit.label === '') factor += STEP_BONUS;
	if (unit.kind === 'code' && !question.answerTypes.has('steps')) factor *= CODE_FACTOR;
	if (unit.isAnnouncement) factor *= ANNOUNCEMENT_FACTOR;
	if (unit.kind === 'sentence' && unit.words < MIN_SENTENCE_WORDS && !unit.isQuestion) factor *= SHORT_SENTENCE_FACTOR;
	return factor;
}

/** How much the range in a name speaks for or against it: `20 kg and more` for a dog of 32 kg. */
export function rangeFactor(ranges: readonly NumberRange[], { quantities }: Question): number {
	return [OTHER_RANGE_FACTOR, 1, RANGE_FACTOR][rangeMatch(ranges, quantities) + 1] as number;
}

/** Whether two neighbours belong to one paragraph. Each line of a list is separate. */
function isSameParagraph(unit: Unit, neighbour: Unit | undefined): boolean {
	return unit.kind === 'sentence' && neighbour?.kind === 'sentence' && neighbour.block === unit.block;
}
