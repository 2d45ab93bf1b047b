import { addDays, type CalendarDate, dateTerm, weekdayOf } from '../calendar/calendar-date.ts';
import { datesOfQuestion } from '../calendar/dates.ts';
import { holidayOfQuestion, holidayTermsOf, PUBLIC_HOLIDAYS } from '../calendar/holidays.ts';
import { type PublicHolidayStatus, publicHolidayStatus } from '../calendar/public-holidays.ts';
import { isUncertain, type NamedWeekday, weekdaysOfQuestion, weekdayTerm } from '../calendar/weekdays.ts';
import type { ExtractiveRequest } from '../request.ts';
import type { SpokenLanguage } from '../spoken-language.ts';
import { LATEST_END_HOUR } from './clock-range.ts';

/** The day that a question about hours asks about. */
export interface AskedDay {
	/** How the question names it. */
	named: 'now' | 'relative' | 'weekday' | 'date' | 'holiday';
	/** The terms of parts about it: its weekday, its date, the holidays of that date. The first one stands for the question. */
	terms: readonly string[];
	/** The terms of parts about just that date. */
	exceptions: ReadonlySet<string>;
	/** Perhaps a public holiday: the date is one in a part of the country, or the country is unknown. */
	isPerhapsPublic: boolean;
	/** 1 for Monday to 7 for Sunday; null for a period such as Christmas. */
	weekday: number | null;
	/** Null if the question means a day of every week, or came without its moment. */
	date: CalendarDate | null;
	/** The time of the day at the question, for one about now. */
	time: { hour: number; minute: number } | null;
	/** The zone in which the question was asked, if the operator has not set one. */
	assumedZone: string | null;
}

/** Words of questions about opening hours, in lower case. */
const OPENING: Record<SpokenLanguage, RegExp> = {
	en: /\b(open|opens|opened|opening|close|closes|closed|closing|hours|shut)\b/,
	de: /öffn|offen|geschlossen|schlie(ß|ss)|(?<!\p{L})(auf|zu)\s*\?|(?<!\p{L})(hab|hat|habt|haben|ist|seid|sind)(?!\p{L}).*(?<!\p{L})(auf|zu)(?!\p{L})|betriebszeit/u,
	fr: /ouvr|ouvert|ferm|horaire/,
	es: /\babr(e|ís|en|ir)|abiert|cierr|cerrad|cerrar|horario/,
	nl: /\bopen|gesloten|sluit|\bdicht\b|geopend/,
	pt: /\babr(e|em|ir)|abert|\bfech|horário/,
	it: /\bapr(e|ite|ono|ire)|\bapert|\bchiu|\borari/,
	ja: /営業|開い|開き|開館|開店|閉ま|閉店|閉館|休み|休館|定休|やって/,
	ar: /مفتوح|تفتح|يفتح|مغلق|تغلق|يغلق|مواعيد|ساعات|دوام/,
};

/** Days by their distance from the day of the question. The first that matches counts. */
const RELATIVE: Record<SpokenLanguage, Array<[days: number, pattern: RegExp]>> = {
	en: [
		[2, /\bday after tomorrow\b/iu],
		[1, /\btomorrow\b/iu],
		[0, /\b(today|tonight|this (morning|afternoon|evening))('s)?\b/iu],
	],
	de: [
		[2, /(?<!\p{L})übermorgen(?!\p{L})/iu],
		[0, /(?<!\p{L})heute?( (früh|morgen|vormittag|mittag|nachmittag|abend))?(?!\p{L})/iu],
		[1, /(?<!\p{L}|(?:am|jeden|diesen|guten|tag|woch|abend|mo|di|mi|do|fr|sa|so)[ ,]{1,2})morgen(?!\p{L})/iu],
	],
	fr: [
		[2, /après[- ]demain/iu],
		[1, /(?<!\p{L})demain(?!\p{L})/iu],
		[0, /aujourd['’ ]?hui|(?<!\p{L})(ce (soir|matin|midi)|cet après-midi)(?!\p{L})/iu],
	],
	es: [
		[2, /pasado mañana/iu],
		[0, /(?<!\p{L})(hoy|esta (tarde|noche|mañana))(?!\p{L})/iu],
		[1, /(?<!\p{L}|(?:la|cada|lunes|martes|miércoles|jueves|viernes|sábado|domingo) )mañana(?!\p{L})/iu],
	],
	nl: [
		[2, /\bovermorgen\b/iu],
		[1, /(?<!\b(?:goede|goeie|elke|iedere|de|'s|(?:maan|dins|woens|donder|vrij|zater|zon)dag),? )\bmorgen\b/iu],
		[0, /\b(vandaag|vanavond|vanmiddag|vanochtend)\b/iu],
	],
	pt: [
		[2, /depois de amanhã/iu],
		[1, /(?<!\p{L})amanhã(?!\p{L})/iu],
		[0, /(?<!\p{L})(hoje|esta (tarde|noite|manhã))(?!\p{L})/iu],
	],
	it: [
		[2, /\bdopodomani\b/iu],
		[1, /\bdomani\b/iu],
		[0, /\b(oggi|stasera|stamattina)\b/iu],
	],
	ja: [
		[2, /明後日|あさって/u],
		[1, /明日|あした|あす/u],
		[0, /今日|本日|きょう|今夜|今晩/u],
	],
	ar: [
		[2, /بعد غد/u],
		[1, /(?<!\p{L})غد(ا|ًا|اً)?(?!\p{L})/u],
		[0, /اليوم|الليلة/u],
	],
};

const NOW: Record<SpokenLanguage, RegExp> = {
	en: /\b(right now|now|currently|at the moment|still(?= open))\b/iu,
	de: /(?<!\p{L})(jetzt|gerade|momentan|im moment|aktuell)(?!\p{L})/iu,
	fr: /(?<!\p{L})(maintenant|en ce moment|actuellement)(?!\p{L})/iu,
	es: /(?<!\p{L})(ahora( mismo)?|en este momento)(?!\p{L})/iu,
	nl: /\b(nu|op dit moment|momenteel)\b/iu,
	pt: /(?<!\p{L})(agora|neste momento)(?!\p{L})/iu,
	it: /\b(adesso|ora|in questo momento)\b/iu,
	ja: /今すぐ|現在|今(?![日夜晩年月週朝])/u,
	ar: /الآن|حاليا/u,
};

/** How a question asks for a time of the day: any other one asks for the hours of the whole day. */
const ASKS_TIME: Record<SpokenLanguage, RegExp> = {
	en: /\b(when|time|late|early|until|till)\b/iu,
	de: /(?<!\p{L})(wann|uhr|spät|früh|lange)(?!\p{L})/iu,
	fr: /quand|heure|tard|tôt/iu,
	es: /cu[áa]ndo|hora/iu,
	nl: /\b(wanneer|laat|vroeg|lang)\b/iu,
	pt: /quando|horas/iu,
	it: /quando|\bora\b|tardi/iu,
	ja: /いつ|何時/u,
	ar: /متى|ساعة/u,
};

/** Of more days, none is answered alone. */
const MAX_ASKED_DAYS = 3;

/** The zone of a deployment whose operator has set none. */
const DEFAULT_ZONE = 'UTC';

/** Whether a text asks about opening hours. */
export function asksOpening(text: string, language: SpokenLanguage): boolean {
	return OPENING[language].test(text.toLowerCase());
}

/** Whether a question about a day asks for all of its hours. */
export function asksWholeDay(text: string, language: SpokenLanguage): boolean {
	return !ASKS_TIME[language].test(text);
}

/** The days that a question about hours names, at most three, and the question without them; null without one. */
export function readAskedDays(
	text: string,
	language: SpokenLanguage,
	moment: ExtractiveRequest['moment'],
): { days: AskedDay[]; text: string } | null {
	const asked = moment ? localMoment(moment) : null;
	const holiday = holidayOfQuestion(text, language);
	// Between Christmas and New Year, after Easter: another day.
	if (holiday && isUncertain(text.slice(0, holiday.at))) return null;
	if (holiday) return { days: [holidayOf(holiday, asked)], text: holiday.text };
	const dated = datesOfQuestion(text, language);
	if (dated) {
		if (isUncertain(text.slice(0, dated.at)) || dated.dates.length > MAX_ASKED_DAYS) return null;
		const dates = dated.dates.map((date) => (date.year === null && asked ? comingDate(date, asked.date) : date));
		return { days: dates.map((date) => dayOf('date', date, asked)), text: withoutWeekdays(dated.text, language) };
	}
	if (asked) {
		let rest = text;
		const distances: number[] = [];
		for (const [distance, pattern] of RELATIVE[language]) {
			if (!pattern.test(rest)) continue;
			distances.push(distance);
			rest = rest.replace(pattern, ' ');
		}
		if (distances.length > 0) {
			const dates = distances.sort((a, b) => a - b).map((distance) => addDays(asked.date, distance));
			const days = dates.map((date) => dayOf('relative', date, asked));
			// `tomorrow and on Saturday`; but `tomorrow, Tuesday` is one day.
			for (const named of weekdaysOfQuestion(rest, [language]).days) {
				if (!named.isEvery && days.every(({ weekday }) => weekday !== named.day))
					days.push(askedWeekday(named, moment));
			}
			return { days: days.slice(0, MAX_ASKED_DAYS), text: withoutWeekdays(rest, language) };
		}
		const now = NOW[language];
		if (now.test(text) && weekdaysOfQuestion(text, [language]).days.length === 0) {
			const today = dayOf('now', asked.date, asked);
			// The hours of the day before may end after midnight.
			const before = asked.time.hour < LATEST_END_HOUR ? [weekdayTerm(weekdayOf(addDays(asked.date, -1)))] : [];
			const day = { ...today, terms: [...today.terms, ...before], time: asked.time };
			return { days: [day], text: text.replace(now, ' ') };
		}
	}
	return null;
}

/** The weekly hours do not answer for a public holiday, but for any other one, such as New Year's Eve. */
function holidayOf(
	holiday: { terms: readonly string[]; dates(today: CalendarDate): CalendarDate[] },
	asked: LocalMoment | null,
): AskedDay {
	const dates = asked ? holiday.dates(asked.date) : [];
	const [date] = dates;
	if (date && dates.length === 1) {
		const day = dayOf('holiday', date, asked);
		return day.exceptions.has(PUBLIC_HOLIDAYS) ? { ...day, weekday: null, terms: [...day.exceptions] } : day;
	}
	const statuses = dates.map((one) => publicHolidayStatus(one, asked?.zone ?? null));
	const isPublic = dates.length === 0 || statuses.some((status) => status !== 'none');
	const exceptions = new Set([...holiday.terms, ...dates.flatMap(termsOfDate), ...(isPublic ? [PUBLIC_HOLIDAYS] : [])]);
	const day = dayOf('holiday', null, asked);
	return { ...day, terms: [...exceptions], exceptions };
}

/** A single day of the week that a question names: the coming one, unless it means each. */
export function askedWeekday({ day, isEvery }: NamedWeekday, moment: ExtractiveRequest['moment']): AskedDay {
	const asked = moment && !isEvery ? localMoment(moment) : null;
	const date = asked ? addDays(asked.date, (day - weekdayOf(asked.date) + 7) % 7) : null;
	return { ...dayOf('weekday', date, asked), weekday: day, ...(date === null ? { terms: [weekdayTerm(day)] } : {}) };
}

function withoutWeekdays(text: string, language: SpokenLanguage): string {
	return weekdaysOfQuestion(text, [language]).text;
}

function dayOf(named: AskedDay['named'], date: CalendarDate | null, asked: LocalMoment | null): AskedDay {
	const isDated = date !== null && date.year !== null;
	const status: PublicHolidayStatus = isDated ? publicHolidayStatus(date, asked?.zone ?? null) : 'none';
	const exceptions = new Set(date === null ? [] : termsOfDate(date));
	if (isDated) for (const term of holidayTermsOf(date)) exceptions.add(term);
	if (status === 'public') exceptions.add(PUBLIC_HOLIDAYS);
	const weekday = isDated ? weekdayOf(date) : null;
	return {
		named,
		terms: [
			...(weekday === null ? [] : [weekdayTerm(weekday)]),
			...exceptions,
			...(status === 'perhaps' ? [PUBLIC_HOLIDAYS] : []),
		],
		exceptions,
		isPerhapsPublic: status === 'perhaps',
		weekday,
		date,
		time: null,
		assumedZone: asked?.zone === DEFAULT_ZONE ? DEFAULT_ZONE : null,
	};
}

/** A line without a year holds in each. */
function termsOfDate(date: CalendarDate): string[] {
	return date.year === null ? [dateTerm(date)] : [dateTerm(date), dateTerm({ ...date, year: null })];
}

function comingDate(date: CalendarDate, today: CalendarDate): CalendarDate {
	const year = today.year ?? 0;
	const isPast = date.month < today.month || (date.month === today.month && date.day < today.day);
	return { ...date, year: isPast ? year + 1 : year };
}

interface LocalMoment {
	date: CalendarDate;
	time: { hour: number; minute: number };
	/** Its canonical name: `UTC` for `Etc/UTC`. */
	zone: string;
}

function localMoment({ asked_at, time_zone }: NonNullable<ExtractiveRequest['moment']>): LocalMoment {
	const { format, zone } = formatOf(time_zone);
	const parts = Object.fromEntries(format.formatToParts(asked_at).map(({ type, value }) => [type, Number(value)]));
	const { year = 0, month = 1, day = 1, hour = 0, minute = 0 } = parts;
	return { date: { year, month, day }, time: { hour, minute }, zone };
}

/** An older Node may not know a zone that was stored with a newer one. */
function formatOf(zone: string): { format: Intl.DateTimeFormat; zone: string } {
	const options = {
		year: 'numeric',
		month: 'numeric',
		day: 'numeric',
		hour: 'numeric',
		minute: 'numeric',
		hourCycle: 'h23',
	} as const;
	const of = (timeZone: string) => {
		const format = new Intl.DateTimeFormat('en', { ...options, timeZone });
		return { format, zone: format.resolvedOptions().timeZone };
	};
	try {
		return of(zone);
	} catch {
		return of(DEFAULT_ZONE);
	}
}
