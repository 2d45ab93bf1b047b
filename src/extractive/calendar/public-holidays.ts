import { addDays, type CalendarDate, easterSunday, isSameDay, weekdayOf } from './calendar-date.ts';

/** Whether a date is a public holiday: in the whole country, perhaps (in a part of it, or as a substitute), or not. */
export type PublicHolidayStatus = 'public' | 'perhaps' | 'none';

/**
 * Public holidays of a country. `01-01` is a date, `E+1` a number of days after Easter Sunday, `05#1` the first Monday of May,
 * `05#-1` the last one, `11#4.4` the fourth Thursday of November.
 */
interface CountryHolidays {
	/** In the whole country. */
	national: string;
	/** In parts of it, or kept by many businesses only. */
	regional?: string;
	/** What is free instead if a holiday falls on a weekend: the days after it, or the nearest one. */
	substitutes?: 'after' | 'nearest';
}

const COUNTRIES: Record<string, CountryHolidays> = {
	// England and Wales. Scotland and Northern Ireland have the same zone and differ in a few days.
	GB: {
		national: '01-01 E-2 E+1 05#1 05#-1 08#-1 12-25 12-26',
		regional: '01-02 03-17 07-12 08#1 11-30',
		substitutes: 'after',
	},
	IE: {
		national: '01-01 03-17 E+1 05#1 06#1 08#1 10#-1 12-25 12-26',
		regional: '02-01 02#1 E-2',
		substitutes: 'after',
	},
	DE: {
		national: '01-01 E-2 E+1 05-01 E+39 E+50 10-03 12-25 12-26',
		regional: '01-06 03-08 E+0 E+49 E+60 08-15 09-20 10-31 11-01',
	},
	AT: {
		national: '01-01 01-06 E+1 05-01 E+39 E+50 E+60 08-15 10-26 11-01 12-08 12-25 12-26',
		regional: 'E-2',
	},
	CH: {
		national: '01-01 E+39 08-01 12-25',
		regional: '01-02 01-06 03-19 E-2 E+1 05-01 E+50 E+60 08-15 11-01 12-08 12-26',
	},
	FR: {
		national: '01-01 E+1 05-01 05-08 E+39 E+50 07-14 08-15 11-01 11-11 12-25',
		regional: 'E-2 12-26',
	},
	NL: {
		national: '01-01 E+0 E+1 E+39 E+49 E+50 12-25 12-26',
		regional: 'E-2 04-26 04-27 05-05',
	},
	BE: {
		national: '01-01 E+1 05-01 E+39 E+50 07-21 08-15 11-01 11-11 12-25',
		regional: 'E+0 E+49 07-11 09-27 11-15',
	},
	ES: {
		national: '01-01 E-2 05-01 08-15 10-12 11-01 12-06 12-08 12-25',
		regional: '01-06 03-19 E-3 E+1 12-26',
		substitutes: 'after',
	},
	IT: {
		national: '01-01 01-06 E+0 E+1 04-25 05-01 06-02 08-15 11-01 12-08 12-25 12-26',
		regional: '10-04',
	},
	PT: {
		national: '01-01 E-2 E+0 04-25 05-01 E+60 06-10 08-15 10-05 11-01 12-01 12-08 12-25',
		regional: 'E-47 06-13',
	},
	US: {
		national: '01-01 01#3 02#3 05#-1 06-19 07-04 09#1 10#2 11-11 11#4.4 12-25',
		regional: '11#4.5',
		substitutes: 'nearest',
	},
};

/** Of any other zone, such as UTC, only that these days are public holidays in many countries. */
const ELSEWHERE: CountryHolidays = {
	national: '',
	regional: '01-01 01-06 E-2 E+1 05-01 E+39 E+50 08-15 11-01 12-25 12-26',
};

/** The zones of each country as `Intl` names them. A folder stands for all of its zones. */
const ZONES: Record<string, string> = {
	GB: 'Europe/London Europe/Belfast',
	IE: 'Europe/Dublin',
	DE: 'Europe/Berlin Europe/Busingen',
	AT: 'Europe/Vienna',
	CH: 'Europe/Zurich',
	FR: 'Europe/Paris',
	NL: 'Europe/Amsterdam',
	BE: 'Europe/Brussels',
	ES: 'Europe/Madrid Africa/Ceuta Atlantic/Canary',
	IT: 'Europe/Rome',
	PT: 'Europe/Lisbon Atlantic/Madeira Atlantic/Azores',
	US: `America/New_York America/Detroit America/Chicago America/Denver America/Boise America/Phoenix America/Los_Angeles
		America/Anchorage America/Juneau America/Nome America/Sitka America/Menominee America/Indianapolis America/Louisville
		America/Indiana/ America/Kentucky/ America/North_Dakota/ Pacific/Honolulu`,
};

const RULE = /^(?:(?<month>\d\d)-(?<day>\d\d)|E(?<easter>[+-]\d+)|(?<of>\d\d)#(?<nth>-?\d)(?:\.(?<weekday>\d))?)$/;

/**
 * Whether a date of a year is a public holiday where a zone is.
 * @param zone the canonical name of a time zone; null if it is unknown
 */
export function publicHolidayStatus(date: CalendarDate, zone: string | null): PublicHolidayStatus {
	const country = countryOf(zone);
	if (isOneOf(country.national, date)) return 'public';
	const isPerhaps = isOneOf(country.regional ?? '', date) || isSubstitute(country, date);
	return isPerhaps ? 'perhaps' : 'none';
}

function countryOf(zone: string | null): CountryHolidays {
	const found = Object.entries(ZONES).find(([, zones]) =>
		zones.split(/\s+/).some((own) => own === zone || (own.endsWith('/') && zone?.startsWith(own))),
	);
	return (found && COUNTRIES[found[0]]) ?? ELSEWHERE;
}

function isSubstitute({ national, substitutes }: CountryHolidays, date: CalendarDate): boolean {
	const isHoliday = (days: number) => isOneOf(national, addDays(date, days));
	switch (weekdayOf(date)) {
		case 1:
			return substitutes !== undefined && (isHoliday(-1) || (substitutes === 'after' && isHoliday(-2)));
		case 2:
			return substitutes === 'after' && isHoliday(-2) && (isHoliday(-1) || isHoliday(-3));
		case 5:
			return substitutes === 'nearest' && isHoliday(1);
		default:
			return false;
	}
}

function isOneOf(rules: string, date: CalendarDate): boolean {
	return rules.split(' ').some((rule) => rule !== '' && isSameDay(dateOf(rule, date.year ?? 0), date));
}

function dateOf(rule: string, year: number): CalendarDate {
	const { month, day, easter, of, nth, weekday = '1' } = RULE.exec(rule)?.groups ?? {};
	if (month !== undefined) return { year, month: Number(month), day: Number(day) };
	if (easter !== undefined) return addDays(easterSunday(year), Number(easter));
	if (of === undefined) throw new Error(`${rule} is no rule for a holiday.`);
	if (Number(nth) < 0) {
		const last = { year, month: Number(of) + 1, day: 0 };
		return addDays(last, -((weekdayOf(last) - Number(weekday) + 7) % 7));
	}
	const first = { year, month: Number(of), day: 1 };
	return addDays(first, ((Number(weekday) - weekdayOf(first) + 7) % 7) + 7 * (Number(nth) - 1));
}
