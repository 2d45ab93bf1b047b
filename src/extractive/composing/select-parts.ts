import { isWeekdayTerm } from '../calendar/calendar-terms.ts';
import type { Candidate, TableSelection } from '../matching/candidate.ts';
import { hasOtherCodes } from '../matching/codes.ts';
import type { Source } from '../matching/source.ts';
import type { Question } from '../question/question.ts';
import type { Unit } from '../reading/passage-reading.ts';
import { isReply, ShownUnits } from './shown-units.ts';

/** What an answer shows of one passage. */
export type AnswerPart =
	| { source: Source; kind: 'sentences'; units: readonly Unit[] }
	| { source: Source; kind: 'list'; lead: Unit | null; units: readonly Unit[]; isCut: boolean }
	| { source: Source; kind: 'code'; lead: Unit | null; unit: Unit }
	| { source: Source; kind: 'cells'; selection: TableSelection };

/** A list of more items is cut. */
const MAX_LIST_UNITS = 12;
/** The length of a statement with its support. */
const MAX_CHARACTERS = 395;
const MAX_SUPPORTING = 2;
/** A unit below this share of the best score is probably about something else. */
const MIN_SHARE_OF_BEST = 0.6;
/** Two sentences with this share of common words count as duplicates. */
const DUPLICATE_SHARE = 0.75;
/** A question above a paragraph that fits this well is the question that is asked, so its answer is given from the beginning. */
const MIN_TOPIC_FIT = 0.55;

/** The answer itself, and at most two sentences that support it. */
export function selectParts(ranked: readonly Candidate[], question: Question): AnswerPart[] {
	const [best] = ranked;
	if (!best) return [];
	const { source, part } = best;
	if ('selection' in part) return [{ source, kind: 'cells', selection: part.selection }];
	const { unit, position } = part;
	const { units } = source.reading;
	if (unit.kind === 'code') return [{ source, kind: 'code', lead: leadOf(units, unit), unit }];
	if (unit.isListed && isListAsked(best, ranked, question)) return [listOf(source, unit)];
	const after = units[position + 1];
	if (unit.kind === 'sentence' && after?.leadIn === position) {
		return after.kind === 'code' ? [{ source, kind: 'code', lead: unit, unit: after }] : [listOf(source, after)];
	}
	if (unit.kind === 'pair') {
		const days = pairsOfDays(best, units);
		if (days.length > 1) return [{ source, kind: 'list', lead: null, units: days, isCut: false }];
		const joined = joinedValues(unit, units);
		if (joined !== null) return [{ source, kind: 'sentences', units: [joined] }];
	}
	const shown = new ShownUnits(best.space, units);
	for (const at of statementOf(best, units, position)) shown.add(at);
	if (unit.kind !== 'sentence') return [{ source, kind: 'sentences', units: shown.list() }];
	return withSupport(shown, best, ranked);
}

/** The hours of each day, for a question that names none: `What are your opening hours?`; of several days, if it names several. */
function pairsOfDays({ space, part }: Candidate, units: readonly Unit[]): Unit[] {
	if (!('unit' in part) || space.question.day !== null || !hasDays(part.unit)) return [];
	const { block, topic, label } = part.unit;
	const named = space.terms.flatMap(({ days }) => days ?? []);
	const pairs = units.filter((unit) => unit.block === block && unit.topic === topic && hasDays(unit));
	const asked = pairs.filter(({ labelTerms }) => named.length === 0 || named.some((day) => labelTerms.has(day)));
	return asked.length > MAX_LIST_UNITS || pairs.some((unit) => unit !== part.unit && unit.label === label) ? [] : asked;
}

function hasDays({ kind, labelTerms }: Unit): boolean {
	return kind === 'pair' && [...labelTerms].some(isWeekdayTerm);
}

/** A pair with the values of all pairs of its name: `Monday: 9–12; 14–17`. Null if no other one has its name. */
function joinedValues(unit: Unit, units: readonly Unit[]): Unit | null {
	const named = units.filter(
		({ kind, label, topic, block }) =>
			kind === 'pair' && label === unit.label && topic === unit.topic && block === unit.block,
	);
	return named.length < 2 || named.length > MAX_LIST_UNITS
		? null
		: { ...unit, text: [...new Set(named.map(({ text }) => text))].join('; ') };
}

/** The sentence with those that it needs to be understood. */
function statementOf({ topicFit, space }: Candidate, units: readonly Unit[], position: number): number[] {
	const unit = units[position] as Unit;
	const isSameBlock = (at: number) => units[at]?.block === unit.block && units[at]?.kind === 'sentence';
	let from = position;
	if (unit.isQuestion && topicFit >= MIN_TOPIC_FIT && isSameBlock(position - unit.topicDistance)) {
		from = position - unit.topicDistance;
	} else
		while (isSameBlock(from - 1) && (units[from] as Unit).isDependent && !(units[from - 1] as Unit).isAnnouncement)
			from--;
	let to = position;
	while (isSameBlock(to + 1) && ((units[to + 1] as Unit).isDependent || charactersOf(units, from, to) < 40)) {
		if (charactersOf(units, from, to + 1) > MAX_CHARACTERS) break;
		const before = units.slice(from, to + 1).map(({ text }) => text);
		if (hasOtherCodes((units[to + 1] as Unit).text, before, space.question)) break;
		to++;
	}
	if (charactersOf(units, from, to) > 2 * MAX_CHARACTERS) return [position];
	return Array.from({ length: to - from + 1 }, (_, i) => from + i);
}

function charactersOf(units: readonly Unit[], from: number, to: number): number {
	return units.slice(from, to + 1).reduce((sum, { text, label }) => sum + text.length + label.length + 1, 0);
}

/** Adds sentences that answer nearly as well, in the order of their rank; those of the same passage in its order. */
function withSupport(shown: ShownUnits, best: Candidate, ranked: readonly Candidate[]): AnswerPart[] {
	const others: AnswerPart[] = [];
	const first = shown.list();
	const said = first.map(({ terms }) => terms);
	let characters = first.reduce((sum, { text }) => sum + text.length, 0);
	let count = 0;
	for (const { source, part, score } of ranked) {
		if (count >= MAX_SUPPORTING || score < best.score * MIN_SHARE_OF_BEST) break;
		if ('selection' in part || part.unit.kind !== 'sentence' || part.unit.isAnnouncement || part.unit.isDependent)
			continue;
		const { unit, position } = part;
		if (characters + unit.text.length > MAX_CHARACTERS) continue;
		if (source === best.source && shown.has(position)) continue;
		if (
			said.some(
				(terms) => [...unit.terms].filter((term) => terms.has(term)).length >= DUPLICATE_SHARE * unit.terms.size,
			)
		)
			continue;
		if (isReply(source.reading.units, position)) continue;
		if (source === best.source) shown.add(position);
		else others.push({ source, kind: 'sentences', units: [unit] });
		said.push(unit.terms);
		characters += unit.text.length;
		count++;
	}
	return [{ source: best.source, kind: 'sentences', units: shown.list() }, ...others];
}

/** Whether the whole list answers: instructions are useful from the first step to the last only. */
function isListAsked(best: Candidate, ranked: readonly Candidate[], question: Question): boolean {
	if (!('unit' in best.part)) return false;
	const { unit } = best.part;
	const items = best.source.reading.units.filter(({ block, isListed }) => isListed && block === unit.block);
	if (items.length < 2) return false;
	if (
		question.answerTypes.has('steps') &&
		unit.kind !== 'pair' &&
		(unit.number !== null || unit.leadIn !== null || best.topicFit >= 0.4)
	)
		return true;
	if (unit.kind === 'pair') return false;
	const near = ranked.filter(({ score }) => score >= best.score * MIN_SHARE_OF_BEST);
	const matching = near.filter(
		({ source, part }) => source === best.source && 'unit' in part && items.includes(part.unit),
	);
	return matching.length * 2 > items.length;
}

function listOf(source: Source, of: Unit): AnswerPart {
	const { units } = source.reading;
	const items = units.filter((unit) => unit.isListed && unit.block === of.block);
	const shown = items.slice(0, MAX_LIST_UNITS);
	return { source, kind: 'list', lead: leadOf(units, of), units: shown, isCut: shown.length < items.length };
}

function leadOf(units: readonly Unit[], unit: Unit): Unit | null {
	return unit.leadIn === null ? null : (units[unit.leadIn] as Unit);
}
