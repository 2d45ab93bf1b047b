import { addDays, type CalendarDate, dateTerm } from './calendar-date.ts';

/** The days of a longer range are not listed: it is an interval. */
const MAX_RANGE_DAYS = 62;
/** A text with more dates is a calendar. */
const MAX_TERMS = 200;

const ORDINAL = '(?:\\.|st|nd|rd|th|er|º|ª)?';
const RANGE = '(?:-|–|—|~|～|〜|to|until|through|bis|au|al|a|à|tot|t/m|até|から|إلى|حتى)';
const LIST = '(?:,|/|&|\\+|and|und|et|y|en|e)';
/** Between two dates that are the ends of a range. */
const BETWEEN_DATES = new RegExp(
	`^\\s?(?:${RANGE}|until and including|bis einschließlich|tot en met)\\s?(?:the\\s|zum\\s|le\\s|el\\s)?$`,
	'iu',
);
const ISO = /(?<!\p{Nd})(\p{Nd}{4})-(\p{Nd}{2})-(\p{Nd}{2})(?!\p{Nd})/gu;
/** `24.12.2026`, `24.12.`, `24/12`. */
const NUMERIC =
	/(?<![\p{Nd}./-])(\p{Nd}{1,2})([./])(\p{Nd}{1,2})(?:\2(\p{Nd}{4}|\p{Nd}{2})?)?(?![\p{Nd}]|[./]\p{Nd})/gu;
/** `24.–26.12.`, `24. und 25.12.2026`. */
const DOTTED_DAYS = new RegExp(
	`(?<![\\p{Nd}.,:])((?:\\p{Nd}{1,2}\\.\\s?(?:${RANGE}|${LIST})\\s?){1,6}\\p{Nd}{1,2}\\.)\\s?(\\p{Nd}{1,2})\\.(\\p{Nd}{4})?(?!\\p{Nd})`,
	'giu',
);
/** What only a date follows: `am 24.12`. */
const BEFORE_DATE = /(?<!\p{L})(?:am|den|zum|vom|le|du|el|del|op|em|il|on)\s$/iu;
/** Between two dates of a list: `24 December and 1 January`. */
const BETWEEN_LISTED = new RegExp(
	`^\\s?(?:${LIST}|or|oder|ou|o|of)\\s?(?:on\\s|am\\s|den\\s|le\\s|el\\s|op\\s)?(?:the\\s)?$`,
	'iu',
);
const JAPANESE = /(?:(\p{Nd}{4})年)?(\p{Nd}{1,2})月(\p{Nd}{1,2})日/gu;

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
	/** `April–September`, `April 2026 to March 2027`. */
	months: RegExp;
}

const known = new Map<string, MonthPatterns>();

/**
 * The dates of a text as terms: `--12-24`, or `2026-12-24` with a year. Each day of a range is one; a long range is an interval:
 * `--04-01/--09-30`.
 */
export function dateTermsIn(text: string, language: string | null): string[] {
	const terms = new Set(monthRangesIn(text, language));
	if (!/\p{Nd}/u.test(text)) return [...terms];
	const found = findDates(text, language).sort((a, b) => a.at - b.at);
	for (const [i, { dates, end }] of found.entries()) {
		for (const date of dates) terms.add(dateTerm(date));
		const [from, next] = [dates.at(-1), found[i + 1]];
		const to = next?.dates[0];
		if (from && to && next && BETWEEN_DATES.test(text.slice(end, next.at))) {
			const between = datesBetween(from, to);
			if (between === null) {
				// The ends alone would be exceptions.
				for (const date of [from, to]) terms.delete(dateTerm(date));
				next.dates = next.dates.slice(1);
				terms.add(intervalTerm(from, to));
			}
			for (const date of between ?? []) terms.add(dateTerm(date));
		}
		if (terms.size > MAX_TERMS) break;
	}
	return [...terms];
}

/** The dates of a question that names one, a list or a short range; and the question without them. Null without a date. */
export function datesOfQuestion(
	text: string,
	language: string,
): { dates: CalendarDate[]; at: number; text: string } | null {
	const found = findDates(text, language).sort((a, b) => a.at - b.at);
	const [first] = found;
	if (!first) return null;
	const dates = [...first.dates];
	let end = first.end;
	for (const next of found.slice(1)) {
		const between = text.slice(end, next.at);
		const [from, to] = [dates.at(-1) as CalendarDate, next.dates[0] as CalendarDate];
		if (BETWEEN_DATES.test(between)) dates.push(...(datesBetween(from, to) ?? []));
		else if (!BETWEEN_LISTED.test(between)) break;
		dates.push(...next.dates);
		end = next.end;
	}
	return { dates, at: first.at, text: `${text.slice(0, first.at)} ${text.slice(end)}` };
}

const INTERVAL_TERM = /^(?:(\d{4})|-)-(\d\d)-(\d\d)\/(?:(\d{4})|-)-(\d\d)-(\d\d)$/;

/** Whether a term is an interval of dates. */
export function isIntervalTerm(term: string): boolean {
	return INTERVAL_TERM.test(term);
}

/** Whether a term is an interval that contains a date of a year. */
export function intervalContains(term: string, { year, month, day }: CalendarDate): boolean {
	const match = INTERVAL_TERM.exec(term);
	if (!match || year === null) return false;
	const [, fromYear, fromMonth, fromDay, toYear, toMonth, toDay] = match;
	const first = Number(`${fromYear ?? ''}${fromMonth}${fromDay}`);
	const last = Number(`${toYear ?? ''}${toMonth}${toDay}`);
	const asked = (fromYear === undefined ? 0 : year * 10_000) + month * 100 + day;
	// October to March.
	return first > last ? asked >= first || asked <= last : asked >= first && asked <= last;
}

/** The days of a range of months: `--04-01/--09-30`. */
function monthRangesIn(text: string, language: string | null): string[] {
	const { numbers, months } = patternsOf(language ?? 'en');
	return [...text.matchAll(months)].map(([, from = '', fromYear, to = '', toYear]) => {
		const [first, last] = [from, to].map((name) => numbers.get(name.toLowerCase()) as number) as [number, number];
		const [year, lastYear] = [fromYear, toYear].map((digits) => (digits === undefined ? null : Number(digits)));
		const { day } = addDays({ year: lastYear ?? 2023, month: last + 1, day: 1 }, -1);
		return intervalTerm({ year: year ?? null, month: first, day: 1 }, { year: lastYear ?? null, month: last, day });
	});
}

/** Both ends have a year, or none. */
function intervalTerm(from: CalendarDate, to: CalendarDate): string {
	const next = from.month > to.month || (from.month === to.month && from.day > to.day) ? 1 : 0;
	const first = from.year ?? (to.year === null ? null : to.year - next);
	const last = to.year ?? (from.year === null ? null : from.year + next);
	return `${dateTerm({ ...from, year: first })}/${dateTerm({ ...to, year: last })}`;
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
	for (const match of text.matchAll(DOTTED_DAYS)) {
		const [, days = '', month = '', year] = match;
		add(match, datesOf(days, Number(month), year));
	}
	for (const match of text.matchAll(NUMERIC)) {
		const [, a, mark, b, year] = match;
		if (year === undefined && !isDateWithoutYear(match, text)) continue;
		const isMonthFirst = mark === '/' && (language ?? 'en') === 'en';
		// 03/04/2026 is a day of March or of April.
		if (isMonthFirst && Number(a) <= 12 && Number(b) <= 12 && a !== b) continue;
		const full = year?.length === 2 ? `20${year}` : year;
		add(match, [isMonthFirst && Number(b) > 12 ? dateOf(full, a, b) : dateOf(full, b, a)]);
	}
	return found;
}

/** `2.5` is a number and `1/2` a half: a date ends with the mark, follows a word such as `am`, or stands alone. */
function isDateWithoutYear(match: RegExpMatchArray, text: string): boolean {
	const [whole, a = '', mark, b = ''] = match;
	if (mark === '/') return a.length === 2 ? whole !== '24/7' : b.length === 2;
	if (whole.endsWith('.')) return true;
	return text.trim() === whole ? a.length === 2 : BEFORE_DATE.test(text.slice(0, match.index));
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
		if (isRange && last) dates.push(...(datesBetween(last, date) ?? []));
		dates.push(date);
	}
	return dates;
}

/** The dates after one date and before another one; null for a long range. */
function datesBetween(from: CalendarDate, to: CalendarDate): CalendarDate[] | null {
	const toYear = to.year ?? from.year;
	const fromYear = from.year ?? (toYear === null ? null : from.month > to.month ? toYear - 1 : toYear);
	const first = Date.UTC(fromYear ?? 2023, from.month - 1, from.day);
	const wraps = fromYear === null && from.month > to.month;
	const last = Date.UTC(toYear ?? (wraps ? 2024 : 2023), to.month - 1, to.day);
	const count = Math.round((last - first) / 86_400_000) - 1;
	if (count > MAX_RANGE_DAYS) return null;
	if (count < 1) return [];
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
		const monthYear = '(?:\\s(?:de\\s|del\\s)?(\\p{Nd}{4})(?!\\p{Nd}))?';
		patterns = {
			numbers,
			dayFirst: new RegExp(`(?<![\\p{Nd}.,:])${days}\\s?(?:of\\s|de\\s|d['’])?(${month})(?!\\p{L})\\.?${year}`, 'giu'),
			months: new RegExp(
				`(?<!\\p{L}|\\p{Nd}[.\\s]\\s?)(${month})\\.?${monthYear}\\s?${RANGE}\\s?(${month})(?!\\p{L})\\.?${monthYear}(?!\\s?\\p{Nd})`,
				'giu',
			),
			monthFirst: new RegExp(`(?<!\\p{L})(${month})\\.?\\s${days}(?![\\p{Nd}:]|\\s?(?:am|pm|%))${year}`, 'giu'),
		};
		known.set(language, patterns);
	}
	return patterns;
}
