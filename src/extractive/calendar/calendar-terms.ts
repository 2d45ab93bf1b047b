import type { CalendarDate } from './calendar-date.ts';
import { dateTermsIn, intervalContains } from './dates.ts';
import { readHolidays } from './holidays.ts';
import { readWeekdays } from './weekdays.ts';

/**
 * Days as terms of an index. The forms are those of ISO 8601 where it has one; no word of a text has them.
 * - `-W-1` to `-W-7`: Monday to Sunday,
 * - `--12-24`: a date of any year; `2026-12-24`: a date; `--04-01/--09-30`: an interval,
 * - `-H-easter-monday`: a holiday; `-H-public`: all public holidays.
 */
const CALENDAR_TERM = /^(?:-W-\d|-H-|(?:\d{4}|-)-\d\d-\d\d(?:$|\/))/;
const WEEKDAY_TERM = /^-W-\d$/;

/** A text without the names of weekdays, and its days as terms. */
export interface CalendarText {
	text: string;
	terms: string[];
}

/** `Sonn- und Feiertage`, `zon- en feestdagen`: the first word is cut. */
const CUT_SUNDAY = /(?<!\p{L})(sonn|zon)-(?=\s?(?:und|en|u\.|[&/+])\s?\p{L})/giu;
const SUNDAYS: Record<string, string> = { de: '$1tage', nl: '$1dagen' };

/**
 * Reads the days of a text of a document. Names of weekdays are replaced by their terms, so that `Mon–Fri`, `montags` and
 * `Wednesday` are compared alike; dates and holidays are left in the text, too.
 * @param language ISO 639-1; null if it is unknown
 */
export function readCalendar(text: string, language: string | null): CalendarText {
	const sundays = SUNDAYS[language ?? ''];
	const whole = sundays === undefined ? text : text.replace(CUT_SUNDAY, sundays);
	const holidays = readHolidays(whole, language);
	// `Sat, Sun & Bank Holidays` without the holidays.
	const rest = holidays.terms.length === 0 ? whole : holidays.text.replace(/\s+/g, ' ').trim();
	const weekdays = readWeekdays(rest, language);
	return {
		text: weekdays.text + holidays.names,
		terms: [...weekdays.terms, ...dateTermsIn(whole, language), ...holidays.terms],
	};
}

export function isCalendarTerm(term: string): boolean {
	return CALENDAR_TERM.test(term);
}

export function isWeekdayTerm(term: string): boolean {
	return WEEKDAY_TERM.test(term);
}

/** The terms of a vocabulary that are about a day: the terms of the day, and the intervals that contain its date. */
export function dayTermsIn(day: readonly string[], vocabulary: ReadonlySet<string>): string[] {
	const own = day.filter((term) => vocabulary.has(term));
	const date = day.map(dateOfTerm).find((found) => found !== null);
	return date ? [...own, ...[...vocabulary].filter((term) => intervalContains(term, date))] : own;
}

function dateOfTerm(term: string): CalendarDate | null {
	const match = /^(\d{4})-(\d\d)-(\d\d)$/.exec(term);
	return match && { year: Number(match[1]), month: Number(match[2]), day: Number(match[3]) };
}
