import { DAY_MS } from '../../base/index.ts';
import { hasClock } from '../question/values.ts';

const FIRST_MONDAY = Date.UTC(2024, 0, 1);
/** A longer text has other words. */
const MAX_ONLY_DAYS = 100;
const WEEK = [1, 2, 3, 4, 5, 6, 7];

/** Between the first and the last day of a range. */
const TO = '(?:-|–|—|~|～|〜|to|through|thru|until|bis|au|à|al|a|tot en met|tot|t/m|até|から|إلى|حتى)';
const AND = '(?:[,;/+&・]|and|und|et|y|en|e|u\\.)';
/** The endings of plurals, and in German and Dutch of times of the day: `Mondays`, `montags`, `Montagabend`, `zaterdag morgen`. */
const ENDING = "(s|'s|e|en|(?:vor|nach)?mittags?|abends?|\\s?morgens?)?";
/** A time of the day follows. `Sat` and `So` may be other words anywhere else. */
const CLOCK_AHEAD = '(?=\\.?[:,]?\\s?\\p{Nd}{1,2}(?:[:.h]\\p{Nd}{2}|\\s?(?:am|pm|uhr|h|[-–])))';

/** Names besides those of the platform, by language; in each list Monday to Sunday. */
const MORE_NAMES: Record<string, string[]> = {
	en: ['', 'tues', 'weds', 'thur thurs', '', '', ''],
	de: ['', '', '', '', '', 'sonnabend', ''],
	ja: ['月曜', '火曜', '水曜', '木曜', '金曜', '土曜', '日曜'],
};

/** Names that are more often other words: `segunda` is also `second`. In each list Monday to Sunday. */
const AMBIGUOUS_NAMES: Record<string, string[]> = {
	pt: ['segunda', 'terça terca', 'quarta', 'quinta', 'sexta', '', ''],
};

/** Words for several days of the week. */
const GROUPS: Record<string, { working: string; weekend: string; daily: string }> = {
	en: { working: 'weekdays?', weekend: 'weekends?', daily: 'daily|every day|(?:7|seven) days a week|24/7' },
	de: {
		working: 'werktags|wochentags|werktage|wochentage',
		weekend: 'wochenenden?',
		daily: 'täglich|jeden tag|alle tage|rund um die uhr',
	},
	fr: {
		working: 'en semaine|jours ouvrables|jours ouvrés',
		weekend: 'week-?ends?|fins? de semaine',
		daily: 'tous les jours|7 ?(?:j|jours) ?(?:/|sur) ?7|24 ?h ?(?:/|sur) ?24',
	},
	es: { working: 'entre semana|laborables', weekend: 'fin(?:es)? de semana', daily: 'todos los días|diariamente' },
	nl: { working: 'doordeweeks|weekdagen|werkdagen', weekend: 'weekend(?:en)?', daily: 'dagelijks|elke dag|alle dagen' },
	pt: { working: 'dias úteis|durante a semana', weekend: 'fi[mn]s? de semana', daily: 'todos os dias|diariamente' },
	it: { working: 'feriali', weekend: 'fine settimana|weekend', daily: 'tutti i giorni|ogni giorno' },
	ja: { working: '平日', weekend: '週末|土日', daily: '毎日|年中無休' },
	ar: { working: 'أيام الأسبوع', weekend: 'نهاية الأسبوع', daily: 'يوميا|كل يوم' },
};

interface Patterns {
	/** By name in lower case: 1 for Monday. */
	numbers: ReadonlyMap<string, number>;
	/** `Monday to Friday`, `Mo–Fr`. */
	range: RegExp;
	/** `Monday`, `Mondays`. */
	name: RegExp;
	/** Short names where they are sure: `Sat 10–14`, `Sat, Sun 10–14`, `na segunda`. */
	abbreviation: RegExp;
	/** A text of nothing but days: `Mo/Mi/Fr`. */
	only: RegExp;
	anyName: RegExp;
	working: RegExp | null;
	weekend: RegExp | null;
	daily: RegExp | null;
}

const LANGUAGES = Object.keys(GROUPS);
const known = new Map<string, Patterns>();
let anyLongName: RegExp | undefined;

/** Finds the long name of a day in any language of the list. */
function anyWeekday(): RegExp {
	anyLongName ??= new RegExp(alternatives(LANGUAGES.flatMap((language) => longNames(language))), 'iu');
	return anyLongName;
}

function longNames(language: string): string[] {
	return WEEK.map((day) => nameOf(language, day, 'long'));
}

function nameOf(language: string, day: number, weekday: 'long' | 'short'): string {
	const format = new Intl.DateTimeFormat(language, { weekday, timeZone: 'UTC' });
	return format
		.format(FIRST_MONDAY + (day - 1) * DAY_MS)
		.toLowerCase()
		.replace(/\.$/, '');
}

/**
 * The days of the week in a text of a document as terms, and the text without their names.
 * @param language ISO 639-1; null is read as English
 */
export function readWeekdays(text: string, language: string | null): { text: string; terms: string[] } {
	const own = patternsOf(language ?? 'en');
	const found = namedDays(text, own);
	// A list of hours is too short to detect its language.
	if (found.days.length === 0 && anyWeekday().test(text)) {
		for (const other of LANGUAGES.filter((one) => one !== language)) {
			const more = namedDays(text, patternsOf(other));
			if (more.days.length > 0) return { text: more.text, terms: [...new Set(more.days)].map(weekdayTerm) };
		}
	}
	const days = new Set(found.days);
	const add = (more: readonly number[]) => {
		for (const day of more) days.add(day);
	};
	if (own.working?.test(text)) add(WEEK.slice(0, 5));
	if (own.weekend?.test(text)) add(WEEK.slice(5));
	// `Daily` is said of much else than hours.
	if (own.daily?.test(text) && hasClock(text)) add(WEEK);
	return { text: found.text, terms: [...days].map(weekdayTerm) };
}

/** A day that a question names. */
export interface NamedWeekday {
	/** 1 for Monday to 7 for Sunday. */
	day: number;
	/** `Fridays`, `every Friday`: not the coming one alone. */
	isEvery: boolean;
}

/** Each, every, in the languages with names of days that show no plural. */
const EVERY = /(?<!\p{L})(?:every|each|jeden|chaque|les|los|cada|elke|iedere|todas?|ogni|tutti i)\s$/iu;

/** `next Monday` may be the coming one or that of the next week; `after Monday` is another day. */
const UNCERTAIN_BEFORE =
	/(?<!\p{L})(?:next|after|before|until|till|since|from|between|nächste[nr]?|nach|vor|bis|seit|ab|zwischen|après|avant|jusqu['’]à|depuis|entre|próxim[oa]|después del?|antes del?|hasta(?: el)?|desde(?: el)?|volgende|voor|tot|sinds|vanaf|tussen|depois d[aeo]|até|prossim[oa]|dopo|prima di|fino a|tra)\s(?:the\s|el\s|le\s|la\s|il\s|dem\s|den\s)?$|来週の?$/iu;
const UNCERTAIN_AFTER = /^\s(?:prochaine?|próxim[oa]|que viene|prossim[oa]|القادم)/iu;

/** Whether the words around a day leave open which day is meant. */
export function isUncertain(before: string, after = ''): boolean {
	return UNCERTAIN_BEFORE.test(before) || UNCERTAIN_AFTER.test(after);
}

/**
 * The days of the week that a question names, of a range the first and the last one, and the question without them.
 * @param languages the names of each count
 */
export function weekdaysOfQuestion(
	text: string,
	languages: ReadonlyArray<string | null>,
): { text: string; days: NamedWeekday[] } {
	const days = new Map<number, NamedWeekday>();
	let rest = text;
	for (const language of new Set(languages.map((one) => one ?? 'en'))) {
		const { numbers, range, name, abbreviation, anyName, working, weekend } = patternsOf(language);
		const add = (day: number | undefined, isEvery: boolean) => {
			if (day !== undefined && !days.has(day)) days.set(day, { day, isEvery });
		};
		rest = rest.replace(range, (_, from: string, to: string) => {
			add(numbers.get(from.toLowerCase()), true);
			add(numbers.get(to.toLowerCase()), true);
			return ' ';
		});
		for (const [pattern, ends] of [
			[working, [1, 5]],
			[weekend, [6, 7]],
		] as const) {
			if (!pattern?.test(rest)) continue;
			rest = rest.replace(pattern, ' ');
			for (const day of ends) add(day, true);
		}
		if (language in AMBIGUOUS_NAMES) {
			rest = rest.replace(abbreviation, (found) => {
				for (const [, one] of found.matchAll(anyName)) add(numbers.get((one as string).toLowerCase()), false);
				return ' ';
			});
		}
		rest = rest.replace(name, (whole: string, found: string, ending: string | undefined, at: number) => {
			const isEvery = /^'?s$/.test(ending ?? '') || EVERY.test(rest.slice(0, at));
			add(numbers.get(found.toLowerCase()), isEvery || isUncertain(rest.slice(0, at), rest.slice(at + whole.length)));
			return ' ';
		});
	}
	return { text: rest, days: [...days.values()] };
}

/** @param day 1 for Monday to 7 for Sunday */
export function weekdayTerm(day: number): string {
	return `-W-${day}`;
}

function namedDays(text: string, patterns: Patterns): { text: string; days: number[] } {
	const { numbers, range, name, abbreviation, only, anyName } = patterns;
	const days: number[] = [];
	const add = (found: string) => days.push(numbers.get(found.toLowerCase()) as number);
	if (text.length <= MAX_ONLY_DAYS && only.test(text)) {
		const rest = text.replace(range, (_, from: string, to: string) => {
			days.push(...weekdayRange(numbers.get(from.toLowerCase()), numbers.get(to.toLowerCase())));
			return ' ';
		});
		for (const [, found] of rest.matchAll(anyName)) add(found as string);
		return { text: '', days };
	}
	const rest = text
		.replace(range, (_, from: string, to: string) => {
			days.push(...weekdayRange(numbers.get(from.toLowerCase()), numbers.get(to.toLowerCase())));
			return ' ';
		})
		.replace(name, (_, found: string) => {
			add(found);
			return ' ';
		})
		.replace(abbreviation, (found) => {
			for (const [, one] of found.matchAll(anyName)) add(one as string);
			return ' ';
		});
	return { text: rest, days };
}

function weekdayRange(first: number | undefined, last: number | undefined): number[] {
	if (first === undefined || last === undefined) return [];
	return Array.from({ length: ((last - first + 7) % 7) + 1 }, (_, i) => ((first - 1 + i) % 7) + 1);
}

function patternsOf(language: string): Patterns {
	let patterns = known.get(language);
	if (patterns === undefined) {
		patterns = makePatterns(language);
		known.set(language, patterns);
	}
	return patterns;
}

function makePatterns(language: string): Patterns {
	const numbers = new Map<string, number>();
	const longs = new Set<string>();
	for (const day of WEEK) {
		const long = nameOf(language, day, 'long');
		const more = (MORE_NAMES[language]?.[day - 1] ?? '').split(' ').filter((name) => name !== '');
		for (const name of [long, ...more]) longs.add(name);
		const ambiguous = (AMBIGUOUS_NAMES[language]?.[day - 1] ?? '').split(' ').filter((name) => name !== '');
		for (const name of [long, ...more, ...ambiguous, nameOf(language, day, 'short')]) numbers.set(name, day);
	}
	const all = [...numbers.keys()];
	const any = alternatives(all);
	const unspaced = /^[\p{Script=Han}]/u.test(all[0] ?? '');
	// `29日` is a day of a month, `毎日` each day; but `土日` is Saturday and Sunday.
	const [before, after] = unspaced
		? ['(?<!\\p{Nd}|(?![週月火水木金土日])\\p{Script=Han})', '']
		: ['(?<![\\p{L}\\p{N}])', '(?![\\p{L}\\p{N}])'];
	const group = (words: string | undefined) =>
		words === undefined ? null : new RegExp(`${before}(?:${words})${after}`, 'iu');
	const { working, weekend, daily } = GROUPS[language] ?? {};
	return {
		numbers,
		range: new RegExp(`${before}(${any})s?\\.?\\s?${TO}\\s?(${any})s?\\.?${after}`, 'giu'),
		name: new RegExp(`${unspaced ? '' : before}(${alternatives([...longs])})${ENDING}${after}`, 'giu'),
		abbreviation: new RegExp(
			`${before}(?:(?:${any})s?\\.?\\s?${AND}\\s?){0,6}(?:${any})s?${CLOCK_AHEAD}${inContext(language, after)}`,
			'giu',
		),
		only: new RegExp(`^\\s?(?:(?:${any})s?\\.?(?:\\s?(?:${AND}|:|${TO}))?\\s?){1,14}$`, 'iu'),
		anyName: new RegExp(`${before}(${any})s?${after}`, 'giu'),
		working: group(working),
		weekend: group(weekend),
		daily: group(daily),
	};
}

/** Another way to name a day by an ambiguous name: `na segunda`, `segunda e quarta`. Matches only the names. */
function inContext(language: string, after: string): string {
	const names = (AMBIGUOUS_NAMES[language] ?? []).flatMap((list) => list.split(' ')).filter((name) => name !== '');
	if (names.length === 0) return '';
	const any = `(?:${alternatives(names)})s?`;
	// `na segunda loja`: in the second shop.
	const end = '(?=\\s?(?:$|[,.;:!?()]|(?:e|ou|de|das|às|à|até|está|estão|há)(?!\\p{L})))';
	const listed = `(?<!\\p{L})${any}(?:,\\s${any}){0,5}\\se\\s${any}${after}${end}`;
	return `|${listed}|(?<=(?<!\\p{L})(?:na|nas|às)\\s)${any}${after}${end}`;
}

function alternatives(names: readonly string[]): string {
	const longestFirst = [...names].sort((a, b) => b.length - a.length);
	return longestFirst.map((name) => name.replace(/[.*+?^${}()|[\]\\]/g, '\\$&')).join('|');
}
