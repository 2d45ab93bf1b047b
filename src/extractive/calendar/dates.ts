/** A longer range is given by its ends. */
const MAX_RANGE_DAYS = 62;
/** A text with more dates is a calendar. */
const MAX_TERMS = 200;

const ORDINAL = '(?:\\.|st|nd|rd|th|er|º|ª)?';
const RANGE = '(?:-|–|—|to|until|through|bis|au|al|a|à|tot|t/m|até)';
const LIST = '(?:,|/|&|\\+|and|und|et|y|en|e)';
/** Between two dates that are the ends of a range. */
const BETWEEN_DATES = new RegExp(
	`^\\s?(?:${RANGE}|until and including|bis einschließlich|tot en met)\\s?(?:the\\s|zum\\s|le\\s|el\\s)?$`,
	'iu',
);
const ISO = /(?<!\p{Nd})(\p{Nd}{4})-(\p{Nd}{2})-(\p{Nd}{2})(?!\p{Nd})/gu;
const NUMERIC =
	/(?<![\p{Nd}./-])(\p{Nd}{1,2})([./])(\p{Nd}{1,2})(?:\2(\p{Nd}{4}|\p{Nd}{2})?)?(?![\p{Nd}]|[./]\p{Nd})/gu;
const JAPANESE = /(?:(\p{Nd}{4})年)?(\p{Nd}{1,2})月(\p{Nd}{1,2})日/gu;

/** A day of a year; of any year if it is null. */
export interface CalendarDate {
	year: number | null;
	month: number;
	day: number;
}

interface Found {
	at: number;
	end: number;
	/** One date, or several of the same month: `24 and 25 December`. */
	dates: CalendarDate[];
}

interface MonthPatterns {
	numbers: ReadonlyMap<string, number>;
	/** `24–26 December 2026`, `24. Dezember`. */
	dayFirst: RegExp;
	/** `December 24, 2026`. */
	monthFirst: RegExp;
}

const known = new Map<string, MonthPatterns>();

/** The dates of a text as terms: `--12-24`, or `2026-12-24` with a year. Each day of a range is one. */
export function dateTermsIn(text: string, language: string | null): string[] {
	if (!/\p{Nd}/u.test(text)) return [];
	const found = findDates(text, language).sort((a, b) => a.at - b.at);
	const terms = new Set<string>();
	for (const [i, { dates, end }] of found.entries()) {
		for (const date of dates) terms.add(dateTerm(date));
		const [from, next] = [dates.at(-1), found[i + 1]];
		if (from && next && BETWEEN_DATES.test(text.slice(end, next.at)))
			for (const date of daysBetween(from, next.dates[0] as CalendarDate)) terms.add(dateTerm(date));
		if (terms.size > MAX_TERMS) break;
	}
	return [...terms];
}

/** The first date of a question, and the question without it; null without one. */
export function dateOfQuestion(text: string, language: string): { date: CalendarDate; text: string } | null {
	const [first] = findDates(text, language).sort((a, b) => a.at - b.at);
	const date = first?.dates[0];
	return first && date ? { date, text: `${text.slice(0, first.at)} ${text.slice(first.end)}` } : null;
}

/** ISO 8601; without a year as in `--12-24`. */
export function dateTerm({ year, month, day }: CalendarDate): string {
	const two = (value: number) => String(value).padStart(2, '0');
	return `${year === null ? '-' : String(year).padStart(4, '0')}-${two(month)}-${two(day)}`;
}

function findDates(text: string, language: string | null): Found[] {
	const { numbers, dayFirst, monthFirst } = patternsOf(language ?? 'en');
	const found: Found[] = [];
	const add = (match: RegExpMatchArray, dates: CalendarDate[]) => {
		const at = match.index as number;
		const valid = dates.filter(isDate);
		if (valid.length > 0 && !found.some((other) => at < other.end && other.at < at + match[0].length))
			found.push({ at, end: at + match[0].length, dates: valid });
	};
	for (const match of text.matchAll(ISO)) add(match, [dateOf(match[1], match[2], match[3])]);
	for (const match of text.matchAll(JAPANESE)) add(match, [dateOf(match[1], match[2], match[3])]);
	for (const match of text.matchAll(dayFirst)) {
		const [, days = '', month = '', year] = match;
		add(match, datesOf(days, numbers.get(month.toLowerCase()) ?? 0, year));
	}
	for (const match of text.matchAll(monthFirst)) {
		const [, month = '', days = '', year] = match;
		add(match, datesOf(days, numbers.get(month.toLowerCase()) ?? 0, year));
	}
	for (const match of text.matchAll(NUMERIC)) {
		const [whole, a, mark, b, year] = match;
		// `2.5` is a number: a date without a year ends with the mark.
		if (year === undefined && !(mark === '.' && whole.endsWith('.'))) continue;
		const isMonthFirst = mark === '/' && language === 'en';
		// 03/04/2026 is a day of March or of April.
		if (isMonthFirst && Number(a) <= 12 && Number(b) <= 12 && a !== b) continue;
		const full = year?.length === 2 ? `20${year}` : year;
		add(match, [isMonthFirst && Number(b) > 12 ? dateOf(full, a, b) : dateOf(full, b, a)]);
	}
	return found;
}

function dateOf(year: string | undefined, month: string | undefined, day: string | undefined): CalendarDate {
	return { year: year === undefined ? null : Number(year), month: Number(month), day: Number(day) };
}

function isDate({ year, month, day }: CalendarDate): boolean {
	const date = new Date(Date.UTC(year ?? 2024, month - 1, day));
	return month > 0 && date.getUTCMonth() === month - 1;
}

/** `24`, `24 and 25`, `24–26` of a month. */
function datesOf(days: string, month: number, year: string | undefined): CalendarDate[] {
	const dates: CalendarDate[] = [];
	let isRange = false;
	for (const part of days.split(/(\p{Nd}+)/u)) {
		if (!/^\p{Nd}+$/u.test(part)) {
			isRange = new RegExp(`(?<!\\p{L})${RANGE}(?!\\p{L})`, 'iu').test(part);
			continue;
		}
		const last = dates.at(-1);
		const date = dateOf(year, String(month), part);
		if (isRange && last) dates.push(...daysBetween(last, date));
		dates.push(date);
	}
	return dates;
}

/** The days after one date and before another one; none of a long range. */
function daysBetween(from: CalendarDate, to: CalendarDate): CalendarDate[] {
	const toYear = to.year ?? from.year;
	const fromYear = from.year ?? (toYear === null ? null : from.month > to.month ? toYear - 1 : toYear);
	const first = Date.UTC(fromYear ?? 2023, from.month - 1, from.day);
	const wraps = fromYear === null && from.month > to.month;
	const last = Date.UTC(toYear ?? (wraps ? 2024 : 2023), to.month - 1, to.day);
	const count = Math.round((last - first) / 86_400_000) - 1;
	if (count < 1 || count > MAX_RANGE_DAYS) return [];
	return Array.from({ length: count }, (_, i) => {
		const date = new Date(first + (i + 1) * 86_400_000);
		const year = fromYear === null ? null : date.getUTCFullYear();
		return { year, month: date.getUTCMonth() + 1, day: date.getUTCDate() };
	});
}

function patternsOf(language: string): MonthPatterns {
	let patterns = known.get(language);
	if (patterns === undefined) {
		const numbers = new Map<string, number>();
		for (let month = 1; month <= 12; month++) {
			for (const style of ['long', 'short'] as const) {
				const format = new Intl.DateTimeFormat(language, { month: style, day: 'numeric', timeZone: 'UTC' });
				const part = format.formatToParts(Date.UTC(2024, month - 1, 15)).find(({ type }) => type === 'month');
				const name = (part?.value ?? '').toLowerCase().replace(/\.$/, '');
				if (/\p{L}/u.test(name)) numbers.set(name, month);
			}
		}
		if (language === 'en') numbers.set('sept', 9);
		const names = [...numbers.keys()].sort((a, b) => b.length - a.length);
		const month = names.length === 0 ? '(?!)' : names.map((name) => name.replace(/[.]/g, '\\.')).join('|');
		const day = `\\p{Nd}{1,2}${ORDINAL}`;
		const days = `((?:${day}\\s?(?:${RANGE}|${LIST})\\s?){0,6}${day})`;
		const year = '(?:,?\\s(?:de\\s|del\\s)?(\\p{Nd}{4})(?!\\p{Nd}))?';
		patterns = {
			numbers,
			dayFirst: new RegExp(`(?<![\\p{Nd}.,:])${days}\\s?(?:of\\s|de\\s|d['’])?(${month})(?!\\p{L})\\.?${year}`, 'giu'),
			monthFirst: new RegExp(`(?<!\\p{L})(${month})\\.?\\s${days}(?![\\p{Nd}:]|\\s?(?:am|pm|%))${year}`, 'giu'),
		};
		known.set(language, patterns);
	}
	return patterns;
}
