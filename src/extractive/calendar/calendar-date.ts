import { DAY_MS } from '../../base/index.ts';

/** A day of a year; of any year if it is null. */
export interface CalendarDate {
	year: number | null;
	month: number;
	day: number;
}

/** ISO 8601; without a year as in `--12-24`. */
export function dateTerm({ year, month, day }: CalendarDate): string {
	const two = (value: number) => String(value).padStart(2, '0');
	return `${year === null ? '-' : String(year).padStart(4, '0')}-${two(month)}-${two(day)}`;
}

/** 1 for Monday to 7 for Sunday. */
export function weekdayOf(date: CalendarDate): number {
	return new Date(millisecondsOf(date)).getUTCDay() || 7;
}

/** The date a number of days later, or earlier if it is negative. */
export function addDays(date: CalendarDate, days: number): CalendarDate {
	const later = new Date(millisecondsOf(date) + days * DAY_MS);
	return { year: later.getUTCFullYear(), month: later.getUTCMonth() + 1, day: later.getUTCDate() };
}

/** Easter Sunday of a year: the Gregorian computus of Meeus, Jones and Butcher. */
export function easterSunday(year: number): CalendarDate {
	const a = year % 19;
	const b = Math.floor(year / 100);
	const c = year % 100;
	const d = Math.floor(b / 4);
	const e = b % 4;
	const g = Math.floor((8 * b + 13) / 25);
	const h = (19 * a + b - d - g + 15) % 30;
	const i = Math.floor(c / 4);
	const k = c % 4;
	const l = (32 + 2 * e + 2 * i - h - k) % 7;
	const m = Math.floor((a + 11 * h + 19 * l) / 433);
	const month = Math.floor((h + l - 7 * m + 90) / 25);
	return { year, month, day: (h + l - 7 * m + 33 * month + 19) % 32 };
}

/** Whether two dates are the same day of a year. */
export function isSameDay(a: CalendarDate, b: CalendarDate): boolean {
	return a.month === b.month && a.day === b.day;
}

function millisecondsOf({ year, month, day }: CalendarDate): number {
	return Date.UTC(year ?? 0, month - 1, day);
}
