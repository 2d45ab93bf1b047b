import { addDays, type CalendarDate, easterSunday, isSameDay } from './calendar-date.ts';

/** Holidays of one date, or a number of days after Easter Sunday. */
const HOLIDAYS: Record<string, { month: number; day: number } | { easter: number }> = {
	'new-year': { month: 1, day: 1 },
	epiphany: { month: 1, day: 6 },
	'good-friday': { easter: -2 },
	'easter-sunday': { easter: 0 },
	'easter-monday': { easter: 1 },
	'labour-day': { month: 5, day: 1 },
	ascension: { easter: 39 },
	'whit-sunday': { easter: 49 },
	'whit-monday': { easter: 50 },
	assumption: { month: 8, day: 15 },
	'german-unity': { month: 10, day: 3 },
	'all-saints': { month: 11, day: 1 },
	'christmas-eve': { month: 12, day: 24 },
	'christmas-day': { month: 12, day: 25 },
	'boxing-day': { month: 12, day: 26 },
	'new-years-eve': { month: 12, day: 31 },
};

/** What is called by one name: `over Christmas`. */
const PERIODS: Record<string, readonly string[]> = {
	christmas: ['christmas-eve', 'christmas-day', 'boxing-day'],
	easter: ['good-friday', 'easter-sunday', 'easter-monday'],
	whitsun: ['whit-sunday', 'whit-monday'],
	'new-years': ['new-years-eve', 'new-year'],
	public: ['public'],
};

/** The names in each language. The longer of two names at one place counts. */
const NAMES: Record<string, Record<string, string>> = {
	en: {
		// `Bank holiday Mondays` are no other Mondays.
		public: '(?:public|bank|national|statutory) holidays?(?: mondays?)?',
		'new-year': "new year['’]?s day",
		'new-years-eve': "new year['’]?s eve",
		'new-years': "new year['’]?s?",
		'good-friday': 'good friday',
		'easter-sunday': 'easter sunday|easter day',
		'easter-monday': 'easter monday',
		easter: 'easter',
		ascension: 'ascension day',
		'whit-monday': 'whit monday|pentecost monday',
		'christmas-eve': 'christmas eve',
		'christmas-day': 'christmas day',
		'boxing-day': "boxing day|st\\.? stephen['’]?s day",
		christmas: 'christmas',
	},
	de: {
		public: '(?:gesetzlichen?r? )?feiertag(?:e|en|s)?',
		'new-year': 'neujahr(?:s?tag)?',
		epiphany: '(?:heilige )?drei könige|dreikönigstag',
		'new-years-eve': 'silvester|sylvester',
		'good-friday': 'karfreitag',
		'easter-sunday': 'ostersonntag',
		'easter-monday': 'ostermontag',
		easter: 'ostern|osterfeiertagen?|ostertage',
		'labour-day': 'tag der arbeit|maifeiertag',
		ascension: '(?:christi )?himmelfahrt',
		'whit-sunday': 'pfingstsonntag',
		'whit-monday': 'pfingstmontag',
		whitsun: 'pfingsten',
		'german-unity': 'tag der deutschen einheit',
		'all-saints': 'allerheiligen',
		'christmas-eve': 'heilig(?:er ?|en ?)?abend',
		'christmas-day': '(?:1\\.|ersten?r?) weihnachts(?:feier)?tag',
		'boxing-day': '(?:2\\.|zweiten?r?) weihnachts(?:feier)?tag',
		christmas: 'weihnachten|weihnachtsfeiertagen?|weihnachtstagen?',
	},
	fr: {
		public: 'jours? fériés?',
		'new-year': "jour de l['’]an|nouvel an",
		'new-years-eve': 'saint[- ]sylvestre|réveillon du nouvel an',
		'good-friday': 'vendredi saint',
		'easter-monday': 'lundi de pâques',
		easter: 'pâques',
		'labour-day': 'fête du travail',
		ascension: 'ascension',
		'whit-monday': 'lundi de pentecôte',
		whitsun: 'pentecôte',
		assumption: 'assomption',
		'all-saints': 'toussaint',
		'christmas-eve': '(?:veille|réveillon) de noël',
		'christmas-day': '(?:jour de )?noël',
	},
	es: {
		public: '(?:días )?festivos|días feriados|feriados',
		'new-year': 'año nuevo',
		'new-years-eve': 'nochevieja',
		'good-friday': 'viernes santo',
		'easter-monday': 'lunes de pascua',
		easter: 'semana santa',
		'christmas-eve': 'nochebuena',
		'christmas-day': '(?:día de )?navidad',
	},
	nl: {
		public: '(?:officiële |nationale )?feestdag(?:en)?',
		'new-year': 'nieuwjaarsdag',
		'new-years-eve': 'oudejaarsdag|oudejaarsavond|oud en nieuw',
		'good-friday': 'goede vrijdag',
		'easter-sunday': 'eerste paasdag',
		'easter-monday': 'tweede paasdag|paasmaandag',
		easter: 'pasen',
		ascension: 'hemelvaartsdag|hemelvaart',
		'whit-monday': 'tweede pinksterdag|pinkstermaandag',
		whitsun: 'pinksteren',
		'christmas-eve': 'kerstavond',
		'christmas-day': 'eerste kerstdag',
		'boxing-day': 'tweede kerstdag',
		christmas: 'kerst(?:mis|dagen)?',
	},
	pt: {
		public: 'feriados?',
		'new-year': 'ano novo',
		'new-years-eve': 'véspera de ano novo|réveillon',
		'good-friday': 'sexta-feira santa',
		easter: 'páscoa',
		'christmas-eve': 'véspera de natal',
		'christmas-day': '(?:dia de )?natal',
	},
	it: {
		public: '(?:giorni )?festivi|festività',
		'new-year': 'capodanno',
		epiphany: 'epifania',
		'new-years-eve': 'san silvestro',
		'easter-monday': "pasquetta|lunedì dell['’]angelo",
		easter: 'pasqua',
		assumption: 'ferragosto',
		'all-saints': 'ognissanti',
		'christmas-eve': 'vigilia di natale',
		'christmas-day': 'natale',
		'boxing-day': 'santo stefano',
	},
	ja: {
		public: '祝日|祭日',
		'new-year': '元日|元旦',
		'new-years-eve': '大晦日',
		'christmas-eve': 'クリスマスイブ',
		'christmas-day': 'クリスマス',
	},
	ar: { public: 'العطلات الرسمية|العطل الرسمية|أيام العطل', 'new-year': 'رأس السنة', 'christmas-day': 'عيد الميلاد' },
};

interface Pattern {
	pattern: RegExp;
	/** By the number of the group in the pattern. */
	keys: string[];
}

const known = new Map<string, Pattern | null>();

/** The holidays that a text names, as terms such as `-H-easter-monday`; and the text with their names apart: `Good Friday` is no Friday. */
export function readHolidays(text: string, language: string | null): { text: string; names: string; terms: string[] } {
	const found = holidaysIn(text, language ?? 'en');
	let rest = '';
	let names = '';
	let at = 0;
	for (const holiday of found) {
		rest += `${text.slice(at, holiday.at)} `;
		names += ` ${text.slice(holiday.at, holiday.end)}`;
		at = holiday.end;
	}
	return { text: rest + text.slice(at), names, terms: found.flatMap(({ key }) => termsOfName(key)) };
}

/** The holidays that a question names, as terms, with the dates that they have next; null without one. */
export function holidayOfQuestion(
	text: string,
	language: string,
): { terms: string[]; dates(today: CalendarDate): CalendarDate[]; at: number; text: string } | null {
	const [first] = holidaysIn(text, language);
	if (!first) return null;
	const keys = PERIODS[first.key] ?? [first.key];
	return {
		terms: termsOfName(first.key),
		at: first.at,
		dates: (today) => keys.flatMap((key) => nextDateOf(key, today) ?? []),
		text: `${text.slice(0, first.at)} ${text.slice(first.end)}`,
	};
}

/** The named holidays of a date as terms. */
export function holidayTermsOf(date: CalendarDate): string[] {
	return Object.keys(HOLIDAYS)
		.filter((key) => isSameDay(dateIn(key, date.year ?? 0), date))
		.map(holidayTerm);
}

/** The term of all public holidays. */
export const PUBLIC_HOLIDAYS = holidayTerm('public');

function termsOfName(key: string): string[] {
	return (PERIODS[key] ?? [key]).map(holidayTerm);
}

function holidayTerm(key: string): string {
	return `-H-${key}`;
}

function nextDateOf(key: string, today: CalendarDate): CalendarDate | null {
	if (!Object.hasOwn(HOLIDAYS, key)) return null;
	const year = today.year ?? 0;
	const date = dateIn(key, year);
	const isPast = date.month < today.month || (date.month === today.month && date.day < today.day);
	return isPast ? dateIn(key, year + 1) : date;
}

function dateIn(key: string, year: number): CalendarDate {
	const holiday = HOLIDAYS[key];
	if (holiday === undefined) throw new Error(`There is no holiday ${key}.`);
	if (!('easter' in holiday)) return { year, month: holiday.month, day: holiday.day };
	return addDays(easterSunday(year), holiday.easter);
}

function holidaysIn(text: string, language: string): Array<{ key: string; at: number; end: number }> {
	const found = patternOf(language);
	if (found === null) return [];
	return [...text.matchAll(found.pattern)].map((match) => {
		const at = match.index as number;
		const key = found.keys[match.slice(1).findIndex((group) => group !== undefined)] as string;
		return { key, at, end: at + match[0].length };
	});
}

function patternOf(language: string): Pattern | null {
	let pattern = known.get(language);
	if (pattern === undefined) {
		pattern = makePattern(language);
		known.set(language, pattern);
	}
	return pattern;
}

function makePattern(language: string): Pattern | null {
	if (!Object.hasOwn(NAMES, language)) return null;
	const names = Object.entries(NAMES[language] as Record<string, string>);
	const [before, after] = language === 'ja' ? ['', ''] : ['(?<!\\p{L})', '(?!\\p{L})'];
	const groups = names.map(([, words]) => `(${words})`).join('|');
	return { pattern: new RegExp(`${before}(?:${groups})${after}`, 'giu'), keys: names.map(([key]) => key) };
}
