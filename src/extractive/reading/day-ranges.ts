import { analyse } from '../../text/index.ts';

/** Monday to Sunday in one language, in lower case: the long and the short names of each day. */
interface DayNames {
	days: string[][];
	range: RegExp;
}

const FIRST_MONDAY = Date.UTC(2024, 0, 1);
const DAY_MS = 86_400_000;
const TO = '(?:-|–|—|to|through|until|bis|au|à|a|al|tot|t/m|até)';
const known = new Map<string, DayNames>();

/** What a range of days is called besides: the working week. */
const WORKING_WEEK: Record<string, string> = {
	en: 'weekday weekdays',
	de: 'werktags wochentags werktag',
	fr: 'semaine',
	es: 'laborables',
	nl: 'weekdagen werkdagen doordeweeks',
	pt: 'úteis semana',
	it: 'feriali',
};

/** The days of `Tuesday-Friday`, `Dienstag bis Freitag`, `du mardi au vendredi` by their long names. */
export function daysInRanges(text: string, language: string | null): string[] {
	const { days, range } = namesOf(language ?? 'en');
	const found: string[] = [];
	for (const [, from, to] of text.toLowerCase().matchAll(range)) {
		const first = days.findIndex((names) => names.includes(from as string));
		const last = days.findIndex((names) => names.includes(to as string));
		const count = ((last - first + 7) % 7) + 1;
		for (let i = 0; i < count; i++) {
			found.push((days[(first + i) % 7] as string[])[0] as string);
			if (found.length > 14) return found;
		}
		if (first === 0 && last === 4) found.push(WORKING_WEEK[language ?? 'en'] ?? '');
	}
	return found;
}

const knownStems = new Map<string | null, ReadonlySet<string>>();

/** The names of the days of the week in a language, as stems of `analyse`. */
export function dayStems(language: string | null): ReadonlySet<string> {
	let stems = knownStems.get(language);
	if (stems === undefined) {
		const names = namesOf(language ?? 'en').days.map(([long]) => long);
		stems = new Set(analyse(names.join(' '), language));
		knownStems.set(language, stems);
	}
	return stems;
}

function namesOf(language: string): DayNames {
	let names = known.get(language);
	if (names === undefined) {
		const nameOf = (weekday: 'long' | 'short', day: number) =>
			new Intl.DateTimeFormat(language, { weekday, timeZone: 'UTC' })
				.format(FIRST_MONDAY + day * DAY_MS)
				.toLowerCase()
				.replace(/\.$/, '');
		const days = Array.from({ length: 7 }, (_, day) => [nameOf('long', day), nameOf('short', day)]);
		const any = days.flat().sort((a, b) => b.length - a.length);
		const name = `(${any.map((one) => one.replace(/[.*+?^${}()|[\]\\]/g, '\\$&')).join('|')})`;
		names = { days, range: new RegExp(`(?<!\\p{L})${name}s?\\.?\\s?${TO}\\s?${name}(?!\\p{L})`, 'gu') };
		known.set(language, names);
	}
	return names;
}
