import { dateTermsIn } from './dates.ts';
import { readHolidays } from './holidays.ts';
import { readWeekdays } from './weekdays.ts';

/**
 * Days as terms of an index. The forms are those of ISO 8601 where it has one; no word of a text has them.
 * - `-W-1` to `-W-7`: Monday to Sunday,
 * - `--12-24`: a date of any year; `2026-12-24`: a date,
 * - `-H-easter-monday`: a holiday; `-H-public`: all public holidays.
 */
const CALENDAR_TERM = /^(?:-W-\d|-H-|(?:\d{4}|-)-\d\d-\d\d$)/;
const WEEKDAY_TERM = /^-W-\d$/;

/** A text without the names of weekdays, and its days as terms. */
export interface CalendarText {
	text: string;
	terms: string[];
}

/**
 * Reads the days of a text of a document. Names of weekdays are replaced by their terms, so that `Mon–Fri`, `montags` and
 * `Wednesday` are compared alike; dates and holidays are left in the text, too.
 * @param language ISO 639-1; null if it is unknown
 */
export function readCalendar(text: string, language: string | null): CalendarText {
	const holidays = readHolidays(text, language);
	const weekdays = readWeekdays(holidays.text, language);
	return {
		text: weekdays.text + holidays.names,
		terms: [...weekdays.terms, ...dateTermsIn(text, language), ...holidays.terms],
	};
}

export function isCalendarTerm(term: string): boolean {
	return CALENDAR_TERM.test(term);
}

export function isWeekdayTerm(term: string): boolean {
	return WEEKDAY_TERM.test(term);
}
