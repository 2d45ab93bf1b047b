import { type CalendarDate, dateOfQuestion, dateTerm } from '../calendar/dates.ts';
import { holidayOfQuestion, holidayTermsOf } from '../calendar/holidays.ts';
import { type NamedWeekday, weekdaysOfQuestion, weekdayTerm } from '../calendar/weekdays.ts';
import type { ExtractiveRequest } from '../request.ts';
import type { SpokenLanguage } from '../spoken-language.ts';

/** The day that a question about hours asks about. */
export interface AskedDay {
	/** How the question names it. */
	named: 'now' | 'relative' | 'weekday' | 'date' | 'holiday';
	/** The terms of parts about it: its weekday, its date, the holidays of that date. The first one stands for the question. */
	terms: readonly string[];
	/** The terms of parts about just that date. */
	exceptions: ReadonlySet<string>;
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
		[1, /(?<!\p{L}|am |jeden |guten )morgen(?!\p{L})/iu],
	],
	fr: [
		[2, /après[- ]demain/iu],
		[1, /(?<!\p{L})demain(?!\p{L})/iu],
		[0, /aujourd['’ ]?hui|(?<!\p{L})(ce (soir|matin|midi)|cet après-midi)(?!\p{L})/iu],
	],
	es: [
		[2, /pasado mañana/iu],
		[1, /(?<!\p{L}|la )mañana(?!\p{L})/iu],
		[0, /(?<!\p{L})(hoy|esta (tarde|noche|mañana))(?!\p{L})/iu],
	],
	nl: [
		[2, /\bovermorgen\b/iu],
		[1, /\bmorgen\b/iu],
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

/** The day that a question about hours names, and the question without it; null without one. */
export function readAskedDay(
	text: string,
	language: SpokenLanguage,
	moment: ExtractiveRequest['moment'],
): { day: AskedDay; text: string } | null {
	const asked = moment ? localMoment(moment) : null;
	const holiday = holidayOfQuestion(text, language);
	if (holiday) {
		const dates = asked ? holiday.dates(asked.date) : [];
		const day = dayOf('holiday', dates.length === 1 ? (dates[0] as CalendarDate) : null, asked);
		const exceptions = new Set([...holiday.terms, ...dates.flatMap(termsOfDate), '-H-public']);
		// The hours of a weekday say nothing about a holiday.
		return { day: { ...day, weekday: null, terms: [...exceptions], exceptions }, text: holiday.text };
	}
	const dated = dateOfQuestion(text, language);
	if (dated) {
		const date = dated.date.year === null && asked ? comingDate(dated.date, asked.date) : dated.date;
		return { day: dayOf('date', date, asked), text: withoutWeekdays(dated.text, language) };
	}
	if (asked) {
		for (const [distance, pattern] of RELATIVE[language]) {
			if (!pattern.test(text)) continue;
			const day = dayOf('relative', daysAfter(asked.date, distance), asked);
			return { day, text: withoutWeekdays(text.replace(pattern, ' '), language) };
		}
		const now = NOW[language];
		if (now.test(text) && weekdaysOfQuestion(text, [language]).days.length === 0) {
			const day = { ...dayOf('now', asked.date, asked), time: asked.time };
			return { day, text: text.replace(now, ' ') };
		}
	}
	return null;
}

/** A single day of the week that a question names: the coming one, unless it means each. */
export function askedWeekday({ day, isEvery }: NamedWeekday, moment: ExtractiveRequest['moment']): AskedDay {
	const asked = moment && !isEvery ? localMoment(moment) : null;
	const date = asked ? daysAfter(asked.date, (day - weekdayOf(asked.date) + 7) % 7) : null;
	return { ...dayOf('weekday', date, asked), weekday: day, ...(date === null ? { terms: [weekdayTerm(day)] } : {}) };
}

/** 1 for Monday to 7 for Sunday. */
function weekdayOf({ year, month, day }: CalendarDate): number {
	return new Date(Date.UTC(year ?? 0, month - 1, day)).getUTCDay() || 7;
}

function withoutWeekdays(text: string, language: SpokenLanguage): string {
	return weekdaysOfQuestion(text, [language]).text;
}

function dayOf(named: AskedDay['named'], date: CalendarDate | null, asked: LocalMoment | null): AskedDay {
	const isDated = date !== null && date.year !== null;
	const holidays = isDated ? holidayTermsOf(date, asked?.isEurope ?? false) : [];
	const exceptions = new Set(date === null ? [] : [...termsOfDate(date), ...holidays]);
	const weekday = isDated ? weekdayOf(date) : null;
	return {
		named,
		terms: [...(weekday === null ? [] : [weekdayTerm(weekday)]), ...exceptions],
		exceptions,
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

function daysAfter({ year, month, day }: CalendarDate, days: number): CalendarDate {
	const date = new Date(Date.UTC(year ?? 0, month - 1, day + days));
	return { year: date.getUTCFullYear(), month: date.getUTCMonth() + 1, day: date.getUTCDate() };
}

interface LocalMoment {
	date: CalendarDate;
	time: { hour: number; minute: number };
	zone: string;
	isEurope: boolean;
}

function localMoment({ asked_at, time_zone }: NonNullable<ExtractiveRequest['moment']>): LocalMoment {
	const { format, zone } = formatOf(time_zone);
	const parts = Object.fromEntries(format.formatToParts(asked_at).map(({ type, value }) => [type, Number(value)]));
	const { year = 0, month = 1, day = 1, hour = 0, minute = 0 } = parts;
	return { date: { year, month, day }, time: { hour, minute }, zone, isEurope: zone.startsWith('Europe/') };
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
	try {
		return { format: new Intl.DateTimeFormat('en', { ...options, timeZone: zone }), zone };
	} catch {
		return { format: new Intl.DateTimeFormat('en', { ...options, timeZone: DEFAULT_ZONE }), zone: DEFAULT_ZONE };
	}
}
