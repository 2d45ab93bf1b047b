/**
 * Numbers with a unit, as in `4 to 15 years`, `20 kg and more`, `under 16 degrees`. Both ends belong to it. A range of hours whose
 * end is before its beginning goes over midnight.
 */
export interface NumberRange {
	from: number;
	to: number;
	/** The unit as `unitOf` returns it: `year`, `kg`, `%`. */
	unit: string;
}

/** Digits, with groups of thousands or a decimal fraction: `1,000`, `12.345,5`, `10 000`. */
const NUMBER =
	"((?:\\p{Nd}{1,3}(?:[.,'’\\u00a0\\u202f ]\\p{Nd}{3}(?!\\p{Nd})){1,3}|\\p{Nd}{1,9})(?:[.,]\\p{Nd}{1,3}(?!\\p{Nd}))?)";
const UNIT = '\\s?(%|°|\\p{L}{1,12})?';
const BETWEEN = new RegExp(
	`${NUMBER}${UNIT}\\s?(?:-|–|—|to|bis|à|a|e|tot|até|and|und|et)\\s(?:(?:below|under|unter|zu)\\s)?${NUMBER}${UNIT}|${NUMBER}${UNIT}[-–]${NUMBER}${UNIT}`,
	'giu',
);
const LOWER = new RegExp(
	`(?<!\\p{L})(?:ab|from|dès|à partir de|at least|mindestens|over|above|more than|über|mehr als|plus de|desde|vanaf|a partir de|a partire da|da)\\s${NUMBER}${UNIT}|${NUMBER}${UNIT}\\s(?:und mehr|and more|or more|and over|et plus|ou plus|oder mehr|y más|en meer|e mais|e più)`,
	'giu',
);
const UPPER = new RegExp(
	`(?<!\\p{L})(?:unter|under|below|less than|weniger als|moins de|bis zu|bis|up to|jusqu'à|jusqu’à|menos de|minder dan|tot|até|fino a|meno di)\\s${NUMBER}${UNIT}`,
	'giu',
);
const HOURS = /^(?:hour|uhr|am|pm)$/;
const QUANTITY = new RegExp(`(?<![\\p{L}\\p{N}.,])${NUMBER}\\s?(%|°|\\p{L}{1,12})`, 'giu');

/**
 * The ranges in the name of a row or column.
 * @param language that of the text, ISO 639-1; null if it is unknown
 */
export function rangesIn(text: string, language: string | null): NumberRange[] {
	const numberOf = (digits: string | undefined) => parseNumber(digits ?? '', language);
	if (!/\p{Nd}/u.test(text)) return [];
	const found: NumberRange[] = [];
	for (const match of text.matchAll(BETWEEN)) {
		const [a, unitOfA, b, unitOfB] = match.slice(1, 5).some(Boolean) ? match.slice(1, 5) : match.slice(5, 9);
		const unit = unitOf(unitOfB ?? unitOfA);
		const ends = [numberOf(a), numberOf(b)] as [number, number];
		const [from, to] = HOURS.test(unit) ? ends : [Math.min(...ends), Math.max(...ends)];
		if (unit !== '') found.push({ from, to, unit });
	}
	if (found.length > 0) return found;
	for (const [, a, unitOfA, b, unitOfB] of text.matchAll(LOWER)) {
		const unit = unitOf(unitOfA ?? unitOfB);
		if (unit !== '') found.push({ from: numberOf(a ?? b), to: Number.POSITIVE_INFINITY, unit });
	}
	for (const [, a, unitOfA] of text.matchAll(UPPER)) {
		const unit = unitOf(unitOfA);
		if (unit !== '') found.push({ from: 0, to: numberOf(a), unit });
	}
	return found;
}

/**
 * The numbers with a unit that a question names.
 * @param language that of the text, ISO 639-1; null if it is unknown
 */
export function quantitiesIn(text: string, language: string | null): Array<{ value: number; unit: string }> {
	return [...text.matchAll(QUANTITY)].map(([, value, unit]) => ({
		value: parseNumber(value ?? '', language),
		unit: unitOf(unit),
	}));
}

/** 1 if a range has one of the quantities, -1 if it has the unit of one but not its value, 0 otherwise. */
export function rangeMatch(
	ranges: readonly NumberRange[],
	quantities: ReadonlyArray<{ value: number; unit: string }>,
): number {
	let best = 0;
	for (const { from, to, unit } of ranges) {
		for (const quantity of quantities) {
			if (quantity.unit !== unit) continue;
			const [isAfter, isBefore] = [quantity.value >= from, quantity.value <= to];
			if (from <= to ? isAfter && isBefore : isAfter || isBefore) return 1;
			best = -1;
		}
	}
	return best;
}

/** Spellings of one unit in the languages of the widget. Other plurals differ by their endings only. */
const UNITS = new Map(
	[
		'minute min mins minuto minutos minuti minuut minuten',
		'second sec secs sek seg segundo segundos secondo secondi seconde',
		'hour h hr hrs std stunde heure hora ora ore uur',
		'day tag jour jours día días dia dias dag giorno giorni',
		'week wk woche semaine semana settimana settimane',
		'month mo monat mois mes meses mês maand mese mesi',
		'year yr yrs jahr an ans año años ano anos jaar anno anni',
		'kg kilo kilogram kilogramm kilogramme kilogrammo kilogrammi',
		'g gram gramm gramme grammo grammi',
		'km kilometer kilometre kilomètre kilómetro kilometro chilometro chilometri',
		'm meter metre mètre metro metri',
		'cm centimeter centimetre zentimeter centimètre centímetro centimetro',
		'l liter litre litro litri',
		'% percent prozent',
	].flatMap((line) => {
		const [unit = '', ...others] = line.split(' ');
		return [unit, ...others].flatMap((word) => [[word, unit] as const, [singular(word), unit] as const]);
	}),
);

/** The unit by one spelling: `minutes`, `Minuten` and `min` are `minute`. */
function unitOf(text: string | undefined): string {
	const word = (text ?? '').toLowerCase();
	return UNITS.get(word) ?? UNITS.get(singular(word)) ?? singular(word);
}

function singular(word: string): string {
	return word.length > 3 ? word.replace(/(?:en|es|s|n|e)$/u, '') : word;
}

/** Languages with a point before the decimal fraction. The others have a comma. */
const POINT_LANGUAGES: ReadonlySet<string | null> = new Set(['en', 'ja', 'ar']);

/**
 * The value of digits. The last point or comma begins a fraction, unless it stands before each group of three digits and the
 * language does not use it so. Without a known language three digits are thousands.
 */
function parseNumber(digits: string, language: string | null): number {
	const text = digits.replace(/['’\s]/gu, '');
	const marks = text.match(/[.,]/g) ?? [];
	const last = marks.at(-1);
	if (last === undefined) return Number(text);
	const isThousands =
		marks.length > 1
			? marks.every((mark) => mark === last)
			: /^[1-9]\d{0,2}[.,]\d{3}$/.test(text) &&
				(language === null || last !== (POINT_LANGUAGES.has(language) ? '.' : ','));
	const at = isThousands ? text.length : text.lastIndexOf(last);
	return Number(`${text.slice(0, at).replace(/[.,]/g, '')}.${text.slice(at + 1) || '0'}`);
}
