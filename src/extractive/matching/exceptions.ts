import { isWeekdayTerm } from '../calendar/calendar-terms.ts';
import { weekdayTerm } from '../calendar/weekdays.ts';
import type { AskedDay } from '../question/asked-day.ts';
import { saysClosed } from '../question/values.ts';
import type { Terms } from '../reading/passage-reading.ts';
import type { Candidate } from './candidate.ts';

/** A match of a whole word, a synonym or a part of a compound. */
const SURE_MATCH = 0.75;
/** Function words, and words of the reply before, weigh less. */
const MIN_CONTENT_WEIGHT = 0.5;
/** A match in the context counts as found from here on. */
const MATCHED = 0.5;

/**
 * The candidates with an exception for the day of the question first, because exceptions win over the weekly hours: a date or
 * holiday of that day, or a closing day where the best candidate names a range of days. An exception must answer and must have
 * each other word of the question that the best candidate has.
 * @param ordered best first
 */
export function exceptionsFirst(ordered: readonly Candidate[]): readonly Candidate[] {
	const [best] = ordered;
	const day = best?.space.question.day;
	if (!best || !day) return ordered;
	let found = best;
	for (const candidate of ordered) {
		const isHigher = precedence(candidate, day, best) > precedence(found, day, best);
		if (isHigher && candidate.hasType && hasWordsOf(candidate, best)) found = candidate;
	}
	return found === best ? ordered : [found, ...ordered.filter((other) => other !== found)];
}

/** The terms of a candidate without those of its headings far above. */
export function termsOf({ part }: Candidate): Terms {
	if ('unit' in part) {
		const { terms, labelTerms, nearTerms } = part.unit;
		return new Set([...labelTerms, ...terms, ...nearTerms]);
	}
	const { table, rows, columns } = part.selection;
	const cells = rows.flatMap((row) => table.rows[row] ?? []);
	const names = columns.flatMap((column) => table.header?.[column] ?? []);
	return new Set([...cells, ...names].flatMap(({ terms }) => [...terms]).concat(...table.nearTerms));
}

/** 4 for a line about that date, 3 for that holiday, 2 for all public holidays, 1 for a closing day, 0 for the weekly hours. */
function precedence(candidate: Candidate, day: AskedDay, best: Candidate): number {
	const terms = termsOf(candidate);
	const named = [...day.exceptions].filter((term) => terms.has(term));
	if (named.some((term) => !term.startsWith('-H-'))) return 4;
	if (named.some((term) => term !== '-H-public')) return 3;
	if (named.length > 0) return 2;
	return isClosingDay(candidate, day, best) ? 1 : 0;
}

/** `Closed on Mondays` beside `Daily 9–17`. */
function isClosingDay({ part, source }: Candidate, { weekday }: AskedDay, best: Candidate): boolean {
	if (weekday === null || !('unit' in part) || source.passage.document_id !== best.source.passage.document_id)
		return false;
	if (weekdaysOf(termsOf(best)) < 2) return false;
	const own = new Set([...part.unit.labelTerms, ...part.unit.terms]);
	return own.has(weekdayTerm(weekday)) && weekdaysOf(own) < 3 && saysClosed(part.unit.text);
}

function weekdaysOf(terms: Terms): number {
	return [...terms].filter(isWeekdayTerm).length;
}

function hasWordsOf(candidate: Candidate, best: Candidate): boolean {
	if (candidate.space !== best.space) return false;
	return candidate.space.terms.every(({ days, asksFor, weight }, i) => {
		if (days || asksFor.length > 0 || weight < MIN_CONTENT_WEIGHT || (best.all[i] as number) < SURE_MATCH) return true;
		return (candidate.all[i] as number) >= MATCHED;
	});
}
