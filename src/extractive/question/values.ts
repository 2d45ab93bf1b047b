/** Numbers that are written as words. */
const NUMBER_WORDS = [
	'one two three four five six seven eight nine ten twelve twenty thirty once twice half',
	'zwei drei vier fünf sechs sieben acht neun zehn zwölf zwanzig dreißig einmal zweimal halb einem',
	'deux trois quatre cinq six sept huit neuf dix douze vingt trente quinze moitié',
	'dos tres cuatro cinco seis siete ocho nueve diez doce veinte treinta quince mitad',
	'twee drie vier vijf zes zeven acht negen tien twaalf twintig dertig helft',
	'dois duas três quatro cinco seis sete oito nove dez doze vinte trinta quinze metade',
	'due tre quattro cinque sei sette otto nove dieci dodici venti trenta quindici metà',
].flatMap((list) => list.split(' '));

const LANGUAGES = ['en', 'de', 'fr', 'es', 'nl', 'pt', 'it', 'ja', 'ar'];
const UNSPACED = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}]/u;

const HAS_DIGIT = /\p{Nd}|[一二三四五六七八九十百千]+[日人円個回年歳名月時分割%％]/u;
/** `9–17`: hours without minutes, if no unit follows. */
const HAS_HOURS =
	/(?<![\p{N}.,:/-])\p{Nd}{1,2}\s?[–-]\s?\p{Nd}{1,2}(?![\p{N}:/-]|[.,]\p{Nd}|\s?[%°€£$]|\s(?!and|und|et|y|en|e|uhr)\p{L})/iu;
const CLOSED =
	/(?<!\p{L})(?:closed|shut|geschlossen|ruhetag|fermée?s?|cerrad[oa]s?|gesloten|fechad[oa]s?|encerrad[oa]s?|chius[oaie]|مغلقة?)(?!\p{L})|定休|休業|休館|休み/iu;
const HAS_CLOCK =
	/\p{Nd}{1,2}[:.h]\s?\p{Nd}{2}(?!\p{Nd})|\p{Nd}\s?(am|pm|a\.m\.|p\.m\.|uhr|heures?|h|uur|時)(?!\p{L})|(?<!\p{L})(noon|midnight|midi|minuit|mittag|mitternacht)(?!\p{L})/iu;
const HAS_NUMERIC_DATE = /\p{Nd}{1,4}[-/.]\p{Nd}{1,2}[-/.]\p{Nd}{1,4}|(?<!\p{Nd})(1[89]|20)\p{Nd}{2}(?!\p{Nd})/u;
const HAS_COUNT = wordPattern(NUMBER_WORDS);

/** Made on first use, because the platform then loads the data of each language. */
let calendar: RegExp | undefined;
let durations: RegExp | undefined;

/** A time of the day, or a word for closed. */
export function hasClock(text: string): boolean {
	return HAS_CLOCK.test(text) || HAS_HOURS.test(text) || saysClosed(text);
}

/** Says that something is closed. */
export function saysClosed(text: string): boolean {
	return CLOSED.test(text);
}

/** A date, a year, the name of a month or of a day of the week. */
export function hasDate(text: string): boolean {
	calendar ??= wordPattern(LANGUAGES.flatMap(calendarWords));
	return HAS_NUMERIC_DATE.test(text) || calendar.test(text);
}

/** A unit of time, as in `three days`, `once a year`. */
export function hasDuration(text: string): boolean {
	durations ??= wordPattern(LANGUAGES.flatMap(timeUnits));
	return durations.test(text);
}

/** A number in digits or words. */
export function hasNumber(text: string): boolean {
	return HAS_DIGIT.test(text) || HAS_COUNT.test(text);
}

/** Finds a number of these things: `28 days`, `three paid days`. */
export function countPatternOf(thing: string): RegExp {
	const numbers = `\\p{Nd}+|${NUMBER_WORDS.join('|')}`;
	return new RegExp(`(?<![\\p{L}\\p{N}])(?:${numbers})\\s+(?:\\p{L}+\\s+)?${thing}(?![\\p{L}\\p{N}])`, 'iu');
}

/** The names of months and days, from the platform's own data. */
function calendarWords(language: string): string[] {
	const month = new Intl.DateTimeFormat(language, { month: 'long', timeZone: 'UTC' });
	const day = new Intl.DateTimeFormat(language, { weekday: 'long', timeZone: 'UTC' });
	const months = Array.from({ length: 12 }, (_, i) => month.format(Date.UTC(2024, i, 15)));
	const days = Array.from({ length: 7 }, (_, i) => day.format(Date.UTC(2024, 0, 1 + i)));
	// The pattern handles plurals in -s: `Mondays`, `lunes`.
	return [...months, ...days];
}

/** The units of durations, singular and plural: `days`, `Tage`, `heures`. */
function timeUnits(language: string): string[] {
	return ['minute', 'second', 'hour', 'day', 'week', 'month', 'year'].flatMap((unit) => {
		const format = new Intl.NumberFormat(language, { style: 'unit', unit, unitDisplay: 'long' });
		return [1, 2].map((count) => {
			const parts = format.formatToParts(count).filter((part) => part.type === 'unit');
			return parts
				.map((part) => part.value)
				.join('')
				.trim();
		});
	});
}

function wordPattern(list: string[]): RegExp {
	const escaped = [...new Set(list)].filter(Boolean).map((word) => word.replace(/[.*+?^${}()|[\]\\]/g, '\\$&'));
	const spaced = escaped.filter((word) => !UNSPACED.test(word));
	const unspaced = escaped.filter((word) => UNSPACED.test(word));
	const alternatives = [`(?<![\\p{L}\\p{N}])(?:${spaced.join('|')})[sn]?(?![\\p{L}\\p{N}])`, ...unspaced];
	return new RegExp(alternatives.join('|'), 'iu');
}
