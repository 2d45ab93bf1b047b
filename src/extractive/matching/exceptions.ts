import { isCalendarTerm, isWeekdayTerm } from '../calendar/calendar-terms.ts';
import { intervalContains, isIntervalTerm } from '../calendar/dates.ts';
import { PUBLIC_HOLIDAYS } from '../calendar/holidays.ts';
import { weekdayTerm } from '../calendar/weekdays.ts';
import { type AskedDay, asksOpening } from '../question/asked-day.ts';
import { isOpenPastMidnight } from '../question/clock-range.ts';
import { hasClock, saysClosed } from '../question/values.ts';
import type { Terms } from '../reading/passage-reading.ts';
import type { Candidate } from './candidate.ts';
import type { Source } from './source.ts';

/** A match of a whole word, a synonym or a part of a compound. */
const SURE_MATCH = 0.75;
/** Function words, and words of the reply before, weigh less. */
const MIN_CONTENT_WEIGHT = 0.5;
/** A match in the context counts as found from here on. */
const MATCHED = 0.5;

/** How a part stands to the asked day. A higher one wins. */
const RELATION = {
	date: 4,
	holiday: 3,
	publicHolidays: 2,
	closingDay: 1,
	/** The weekly hours, or a part that names no day. */
	weekly: 0,
	/** A season, public holidays where the day is perhaps one, `Concert: 24 December, 18:00`: shown below the weekly hours. */
	perhaps: -1,
	/** Another date, season or holiday, or no hours. */
	otherDay: -2,
} as const;
type Relation = (typeof RELATION)[keyof typeof RELATION];

/** Candidates in the order in which they answer for the asked day. */
export interface DayOrder {
	/** Best first. */
	ranked: readonly Candidate[];
	/** A part that may hold on the day instead of the first one, so both are shown. */
	beside: Candidate | null;
}

/**
 * Orders candidates by the day of the question. Exceptions win over the weekly hours: a date or holiday of that day, or a closing
 * day where the best candidate names a range of days. The weekly hours win over parts about other dates. What comes first must
 * answer, and must have each other word of the question that the best candidate has.
 * @param ordered best first
 */
export function orderByDay(ordered: readonly Candidate[]): DayOrder {
	const [best] = ordered;
	const day = best?.space.question.day;
	if (!best || !day) return { ranked: ordered, beside: null };
	const hours = new WeeklyHours(ordered);
	const relations = new Map(ordered.map((candidate) => [candidate, relationOf(candidate, day, best, hours)]));
	const relation = (candidate: Candidate) => relations.get(candidate) as Relation;
	const answers = ordered.filter((candidate) => candidate.hasType && hasWordsOf(candidate, best));
	let found = best;
	for (const candidate of answers) {
		const isHigher = relation(candidate) > relation(found);
		// A part that names no day replaces nothing.
		const isAboutDay = relation(candidate) !== RELATION.weekly || isWeekly(candidate, day);
		if (isHigher && isAboutDay) found = candidate;
	}
	const isOrdinary = relation(found) === RELATION.weekly && isWeekly(found, day);
	if (relation(found) <= RELATION.weekly) found = stillOpen(answers, day) ?? found;
	const beside = isOrdinary ? answers.find((candidate) => relation(candidate) === RELATION.perhaps) : undefined;
	return {
		ranked: found === best ? ordered : [found, ...ordered.filter((other) => other !== found)],
		beside: beside ?? null,
	};
}

/** The terms of a candidate without those of its headings far above. */
export function shownTermsOf(candidate: Candidate): Terms {
	const { label, all } = ownTermsOf(candidate);
	return new Set([...label, ...all, ...nearTermsOf(candidate)]);
}

/** The terms of what names a candidate, and all of its own. */
function ownTermsOf({ part }: Candidate): { label: Terms; all: Terms } {
	if ('unit' in part) {
		const { terms, labelTerms } = part.unit;
		return { label: labelTerms, all: new Set([...labelTerms, ...terms]) };
	}
	const { table, rows, columns } = part.selection;
	const cells = rows.map((row) => table.rows[row] ?? []);
	const names = columns.flatMap((column) => table.header?.[column] ?? []);
	const termsOf = (list: ReadonlyArray<{ terms: Terms }>) => new Set(list.flatMap(({ terms }) => [...terms]));
	return {
		label: termsOf(cells.flatMap((row) => row.slice(0, table.labelColumns))),
		all: termsOf([...cells.flat(), ...names]),
	};
}

function nearTermsOf({ part }: Candidate): Terms {
	return 'unit' in part ? part.unit.nearTerms : part.selection.table.nearTerms;
}

/** The values of a candidate, without what names them. */
function valueTextOf({ part }: Candidate): string {
	if ('unit' in part) return part.unit.text;
	const { table, rows, columns } = part.selection;
	return rows.map((row) => columns.map((column) => table.rows[row]?.[column]?.text ?? '').join(' – ')).join('; ');
}

function relationOf(candidate: Candidate, day: AskedDay, best: Candidate, hours: WeeklyHours): Relation {
	const { label, all } = ownTermsOf(candidate);
	// What names the hours says when they hold. Prose has no names.
	const isLabelled = [...label].some(isCalendarTerm);
	const named = datesAmong(isLabelled ? label : all);
	const near = datesAmong(nearTermsOf(candidate));
	const weekdays = [...all].filter(isWeekdayTerm);
	const hasWeekday = day.weekday !== null && weekdays.includes(weekdayTerm(day.weekday));
	const isForDay = hasWeekday || weekdays.length === 0;
	if (named.length > 0) {
		const exception = exceptionOf(named, day);
		if (exception !== null) {
			if (!hours.areAbout(candidate, isLabelled)) return RELATION.otherDay;
			return isLabelled || !hours.areOfSomething(candidate) ? exception : RELATION.perhaps;
		}
		// `Sat, Sun & Bank Holidays`; `Daily 9–17, closed on 24 December`.
		if (hasWeekday && (named.every(isHolidayTerm) || (!isLabelled && weekdays.length > 1))) return RELATION.weekly;
		const isPerhaps =
			named.some((term) => containsDay(term, day)) || (day.isPerhapsPublic && named.includes(PUBLIC_HOLIDAYS));
		if (!isPerhaps || !isForDay || !hours.areAbout(candidate, isLabelled)) return RELATION.otherDay;
		return hasWeekday ? RELATION.weekly : RELATION.perhaps;
	}
	// `Opening hours and public holidays` stands above all hours.
	const period = near.filter((term) => term !== PUBLIC_HOLIDAYS);
	const exception = exceptionOf(weekdays.length === 0 ? near : period, day);
	if (exception !== null && isForDay) return hours.areAbout(candidate, false) ? exception : RELATION.otherDay;
	const isPeriod = period.some((term) => isIntervalTerm(term) || isHolidayTerm(term)) || period.length > 1;
	if (isPeriod && !period.some((term) => containsDay(term, day))) return RELATION.otherDay;
	if (day.weekday !== null && !isForDay) return RELATION.otherDay;
	return isClosingDay(candidate, day, best) ? RELATION.closingDay : RELATION.weekly;
}

function datesAmong(terms: Terms): string[] {
	return [...terms].filter((term) => isCalendarTerm(term) && !isWeekdayTerm(term));
}

function isHolidayTerm(term: string): boolean {
	return term.startsWith('-H-');
}

function exceptionOf(terms: readonly string[], day: AskedDay): Relation | null {
	const found = terms.filter((term) => day.exceptions.has(term));
	if (found.some((term) => !isHolidayTerm(term))) return RELATION.date;
	if (found.some((term) => term !== PUBLIC_HOLIDAYS)) return RELATION.holiday;
	return found.length > 0 ? RELATION.publicHolidays : null;
}

function containsDay(term: string, { date }: AskedDay): boolean {
	return date !== null && intervalContains(term, date);
}

/** `Closed on Mondays` beside `Daily 9–17`. */
function isClosingDay({ part, source }: Candidate, { weekday }: AskedDay, best: Candidate): boolean {
	if (weekday === null || !('unit' in part) || source.passage.document_id !== best.source.passage.document_id)
		return false;
	if (weekdaysOf(shownTermsOf(best)) < 2) return false;
	const own = new Set([...part.unit.labelTerms, ...part.unit.terms]);
	return own.has(weekdayTerm(weekday)) && weekdaysOf(own) < 3 && saysClosed(part.unit.text);
}

/** `23.11.2026` is no time of the day. */
const NUMERIC_DATE = /\p{Nd}{1,4}([-/.])\p{Nd}{1,2}\1(?:\p{Nd}{2,4})?(?!\p{Nd})/gu;

function givesHours(text: string): boolean {
	return hasClock(text.replace(NUMERIC_DATE, ' '));
}

/** The hours of the asked weekday. */
function isWeekly(candidate: Candidate, { weekday }: AskedDay): boolean {
	return weekday !== null && ownTermsOf(candidate).all.has(weekdayTerm(weekday)) && givesHours(valueTextOf(candidate));
}

/** For a question about now: the hours of the day before, if they end after midnight and the question came before their end. */
function stillOpen(answers: readonly Candidate[], { named, time, weekday }: AskedDay): Candidate | undefined {
	if (named !== 'now' || time === null || weekday === null) return undefined;
	const before = weekdayTerm(weekday === 1 ? 7 : weekday - 1);
	return answers.find((candidate) => {
		const { all } = ownTermsOf(candidate);
		return all.has(before) && datesAmong(all).length === 0 && isOpenPastMidnight(valueTextOf(candidate), time);
	});
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

/** Where the weekly hours stand among the passages of some candidates. */
class WeeklyHours {
	readonly #candidates: readonly Candidate[];
	readonly #places = new Map<Source, Set<string | number>>();

	constructor(candidates: readonly Candidate[]) {
		this.#candidates = candidates;
	}

	/**
	 * Whether a part with a date is about hours: `Last updated: 24 December` is not.
	 * @param isLabelled whether the date is in its name
	 */
	areAbout(candidate: Candidate, isLabelled: boolean): boolean {
		const value = valueTextOf(candidate);
		if (!givesHours(value) && !this.#namesOpening(candidate, [value])) return false;
		const { part, source } = candidate;
		const places = this.#placesIn(source);
		if ('selection' in part) return places.size > 0 || this.#namesOpening(candidate, namesOf(candidate));
		const { block, topic } = part.unit;
		return (
			places.has(block) ||
			(topic !== '' && places.has(topic)) ||
			(isLabelled && places.size > 0) ||
			this.#namesOpening(candidate, [...namesOf(candidate), value])
		);
	}

	/** Whether another name stands before the date, so that the hours may be of something else: `Concert: 24 December, 18:00`. */
	areOfSomething(candidate: Candidate): boolean {
		const { part } = candidate;
		if (!('unit' in part) || part.unit.label === '') return false;
		return !this.#namesOpening(candidate, [part.unit.label, part.unit.text]);
	}

	#namesOpening({ space }: Candidate, texts: readonly string[]): boolean {
		return texts.some((text) => asksOpening(text, space.question.language));
	}

	/** The blocks and topics of a passage with weekly hours. */
	#placesIn(source: Source): ReadonlySet<string | number> {
		let places = this.#places.get(source);
		if (places === undefined) {
			places = new Set();
			for (const { terms, labelTerms, text, block, topic } of source.reading.units) {
				if (weekdaysOf(labelTerms) + weekdaysOf(terms) === 0 || !givesHours(text)) continue;
				if (datesAmong(new Set([...labelTerms, ...terms])).every(isHolidayTerm)) places.add(block).add(topic);
			}
			const tables = this.#candidates.filter((one) => one.source === source && 'selection' in one.part);
			if (tables.some((one) => weekdaysOf(ownTermsOf(one).label) > 0 && givesHours(valueTextOf(one)))) places.add('');
			this.#places.set(source, places);
		}
		return places;
	}
}

/** What names a part: its label and topic, and the innermost heading. */
function namesOf({ part, source }: Candidate): string[] {
	const heading = source.passage.heading_path.at(-1) ?? '';
	return 'unit' in part ? [part.unit.label, part.unit.topic, heading] : [part.selection.table.topic, heading];
}
