import type { QueryWord } from './query-word.ts';
import { stemmerOf } from './stem.ts';
import { stopWordsOf } from './stop-words.ts';
import { words } from './words.ts';

/** A short form with its long form, as a text defines it: `UK (United Kingdom)`. */
export interface Acronym {
	short: string;
	long: string;
}

/** The spellings of a thing: its short form, then its long forms. */
const GENERAL: Record<string, string> = {
	en: `USA|United States|United States of America
		UK|United Kingdom
		EU|European Union
		UN|United Nations
		VAT|value added tax
		GDPR|General Data Protection Regulation
		FAQ|frequently asked questions
		PIN|personal identification number
		CEO|chief executive officer
		CFO|chief financial officer
		HR|human resources
		ATM|cash machine
		NGO|non-governmental organisation
		AGM|annual general meeting
		ETA|estimated time of arrival
		SLA|service level agreement
		DIY|do it yourself
		tel|telephone|phone
		phone|telephone
		photo|photograph
		fridge|refrigerator
		bike|bicycle
		lab|laboratory
		ID|identification
		approx|approximately
		dept|department
		ext|extension
		incl|including
		excl|excluding
		hrs|hours
		kg|kilogram|kilogramme
		km|kilometre|kilometer
		cm|centimetre|centimeter
		mm|millimetre|millimeter
		ml|millilitre|milliliter
		kWh|kilowatt hour
		mph|miles per hour`,
	de: `USA|Vereinigte Staaten
		EU|Europäische Union
		UNO|Vereinte Nationen
		MwSt|Mehrwertsteuer
		USt|Umsatzsteuer
		AGB|Allgemeine Geschäftsbedingungen
		DSGVO|Datenschutz-Grundverordnung
		ÖPNV|öffentlicher Personennahverkehr
		PLZ|Postleitzahl
		Nr|Nummer
		Str|Straße
		Tel|Telefon
		Foto|Fotografie
		inkl|inklusive
		zzgl|zuzüglich
		Std|Stunde
		kg|Kilogramm
		km|Kilometer
		cm|Zentimeter
		mm|Millimeter
		kWh|Kilowattstunde`,
	fr: `USA|États-Unis
		UE|Union européenne
		ONU|Nations unies
		TVA|taxe sur la valeur ajoutée
		RGPD|règlement général sur la protection des données
		SAV|service après-vente
		CGV|conditions générales de vente
		RDV|rendez-vous
		tél|téléphone
		photo|photographie
		frigo|réfrigérateur
		kg|kilogramme
		km|kilomètre
		cm|centimètre
		mm|millimètre`,
	es: 'UE|Unión Europea\nIVA|impuesto sobre el valor añadido\nRGPD|Reglamento General de Protección de Datos\ntel|teléfono\nkg|kilogramo\nkm|kilómetro\ncm|centímetro',
	nl: 'EU|Europese Unie\nVS|Verenigde Staten\nVK|Verenigd Koninkrijk\nbtw|belasting over de toegevoegde waarde\nAVG|Algemene verordening gegevensbescherming\ntel|telefoon\nkg|kilogram\nkm|kilometer\ncm|centimeter',
	pt: 'UE|União Europeia\nEUA|Estados Unidos\nIVA|imposto sobre o valor acrescentado\nRGPD|Regulamento Geral sobre a Proteção de Dados\ntel|telefone\nkg|quilograma\nkm|quilómetro\ncm|centímetro',
	it: 'UE|Unione Europea\nIVA|imposta sul valore aggiunto\nGDPR|regolamento generale sulla protezione dei dati\ntel|telefono\nkg|chilogrammo\nkm|chilometro\ncm|centimetro',
};

/** Words with several spellings, as index terms of one language. */
export interface SpellingVariants {
	/** By the term of a short form or a word: the terms of each other form. */
	byTerm: ReadonlyMap<string, ReadonlyArray<readonly string[]>>;
	/** The long forms of several words, with the term of the short form. */
	phrases: ReadonlyArray<{ terms: readonly string[]; short: string }>;
}

const known = new Map<string, SpellingVariants>();
const NONE: SpellingVariants = { byTerm: new Map(), phrases: [] };

/**
 * The acronyms, abbreviations and clipped words that a language has in general, with months and weekdays.
 * @param language ISO 639-1; null is read as English without its endings
 */
export function generalVariants(language: string | null): SpellingVariants {
	const key = language ?? 'en';
	if (!Object.hasOwn(GENERAL, key)) return NONE;
	let variants = known.get(`${language}`);
	if (variants === undefined) {
		const pairs = (GENERAL[key] as string).split('\n').flatMap((line) => {
			const [short = '', ...long] = line.trim().split('|');
			return long.map((each) => ({ short, long: each }));
		});
		variants = variantsOf([...pairs, ...calendarNames(key)], language);
		known.set(`${language}`, variants);
	}
	return variants;
}

/** The forms of acronyms as index terms. Function words of a long form are left out. */
export function variantsOf(acronyms: Iterable<Acronym>, language: string | null): SpellingVariants {
	const stem = stemmerOf(language);
	const stop = stopWordsOf(language ?? 'en');
	const byTerm = new Map<string, string[][]>();
	const phrases: Array<{ terms: string[]; short: string }> = [];
	const add = (term: string, form: string[]) => {
		const forms = byTerm.get(term) ?? [];
		if (!forms.some((other) => other.join(' ') === form.join(' '))) byTerm.set(term, [...forms, form]);
	};
	for (const { short, long } of acronyms) {
		const [shortTerm, ...rest] = words(short).map(stem);
		const longTerms = words(long)
			.filter((word) => !stop.has(word))
			.map(stem);
		if (shortTerm === undefined || rest.length > 0 || longTerms.length === 0 || longTerms.includes(shortTerm)) continue;
		add(shortTerm, longTerms);
		if (longTerms.length === 1) add(longTerms[0] as string, [shortTerm]);
		else phrases.push({ terms: longTerms, short: shortTerm });
	}
	return { byTerm, phrases };
}

/** `Oct` and `October`, `Mon` and `Monday`, without names that are words, too: `Sun`, `so`. */
function calendarNames(language: string): Acronym[] {
	const pairs: Acronym[] = [];
	const add = (options: Intl.DateTimeFormatOptions, key: 'month' | 'weekday', times: readonly number[]) => {
		const nameOf = (style: 'long' | 'short', at: number) =>
			new Intl.DateTimeFormat(language, { ...options, [key]: style, timeZone: 'UTC' })
				.formatToParts(at)
				.find(({ type }) => type === key)
				?.value.replace(/\.$/, '') ?? '';
		for (const at of times) {
			const [short, long] = [nameOf('short', at), nameOf('long', at)];
			if (short.toLowerCase() !== long.toLowerCase() && !AMBIGUOUS.has(short.toLowerCase()))
				pairs.push({ short, long });
		}
	};
	add(
		{ day: 'numeric' },
		'month',
		Array.from({ length: 12 }, (_, month) => Date.UTC(2024, month, 15)),
	);
	add(
		{},
		'weekday',
		Array.from({ length: 7 }, (_, day) => Date.UTC(2024, 0, 1 + day)),
	);
	if (language === 'en') pairs.push({ short: 'Sept', long: 'September' });
	return pairs;
}

/** Short names of months and days that are words of their language. */
const AMBIGUOUS = new Set([
	'apr',
	'jeu',
	'vie',
	'seg',
	'qua',
	'qui',
	'sun',
	'sat',
	'wed',
	'mar',
	'so',
	'do',
	'mi',
	'di',
	'fr',
	'mer',
	'sam',
	'dim',
	'ven',
	'zo',
	'ma',
	'vr',
	'sex',
	'ter',
	'set',
	'dom',
	'sab',
	'gen',
	'ago',
	'out',
]);

/**
 * The words of a question with the spellings that the lists have for them. The first word of a long form gets the short one.
 */
export function withVariants(query: readonly QueryWord[], lists: readonly SpellingVariants[]): QueryWord[] {
	const asked = new Set(query.flatMap(({ stems }) => stems));
	const whole = lists.flatMap(({ phrases }) => phrases).filter(({ terms }) => terms.every((term) => asked.has(term)));
	return query.map((word) => {
		const { stems } = word;
		const forms = lists.flatMap(({ byTerm }) => stems.flatMap((stem) => byTerm.get(stem) ?? []));
		const short = whole.filter(({ terms }) => stems.includes(terms[0] as string)).map((phrase) => [phrase.short]);
		const variants = [...forms, ...short].filter((form) => !form.every((term) => stems.includes(term)));
		return variants.length === 0 ? word : { ...word, variants: [...(word.variants ?? []), ...variants] };
	});
}

/** `US` in capitals, which in small letters is a pronoun. */
const UNITED_STATES = /(?<![\p{L}\p{N}.])U\.?S\.?(?:A\.?)?(?![\p{L}\p{N}])/gu;

/** A text in which acronyms that are words of English in small letters have another spelling: `US` becomes `USA`. */
export function spellAcronyms(text: string): string {
	// `CONTACT US` is a heading.
	const isPlain = /\p{Ll}/u.test(text) || !/\p{L}\s+\p{L}/u.test(text);
	return isPlain ? text.replace(UNITED_STATES, 'USA') : text;
}

const SHORT = '\\p{Lu}[\\p{Lu}\\p{Nd}&]{1,7}s?';
/** `United Kingdom (UK)`. */
const LONG_FIRST = new RegExp(`\\s\\(["“„»]?(${SHORT})["”“«]?\\)`, 'gu');
/** The text before an acronym in which its long form is. */
const MAX_LONG_CHARACTERS = 160;
/** `UK (United Kingdom)`. */
const SHORT_FIRST = new RegExp(`(?<![\\p{L}\\p{N}])(${SHORT})\\s\\(([\\p{L}][\\p{L}\\p{Nd}'’ -]{3,79})\\)`, 'gu');
/** A text with more is a list of them. */
const MAX_ACRONYMS = 100;

/** The acronyms that a text defines, by the algorithm of Schwartz and Hearst (2003). */
export function definedAcronyms(text: string): Acronym[] {
	const found: Acronym[] = [];
	if (!text.includes('(')) return found;
	for (const match of text.matchAll(LONG_FIRST)) {
		const [, short = ''] = match;
		const line = text
			.slice(Math.max(0, match.index - MAX_LONG_CHARACTERS), match.index)
			.split(/[.;:!?()\n]/)
			.at(-1);
		const before = (line as string).trimStart();
		const long = longFormIn(before, short.replace(/s$/, ''));
		if (long !== null) found.push({ short: short.replace(/s$/, ''), long });
		if (found.length >= MAX_ACRONYMS) return found;
	}
	for (const [, short = '', inside = ''] of text.matchAll(SHORT_FIRST)) {
		const long = longFormIn(inside, short.replace(/s$/, ''));
		if (long === inside) found.push({ short: short.replace(/s$/, ''), long });
		if (found.length >= MAX_ACRONYMS) return found;
	}
	return found;
}

/** The end of a text whose letters, from the last one back, include those of the short form; its first one begins a word. */
function longFormIn(text: string, short: string): string | null {
	const [from, to] = [text.toLowerCase(), short.toLowerCase()];
	let at = from.length;
	for (let i = to.length - 1; i >= 0; i--) {
		const letter = to[i] as string;
		if (!/[\p{L}\p{N}]/u.test(letter)) continue;
		do at--;
		while (at >= 0 && (from[at] !== letter || (i === 0 && at > 0 && /[\p{L}\p{N}]/u.test(from[at - 1] as string))));
		if (at < 0) return null;
	}
	const long = text.slice(at);
	const count = long.split(/\s+/).length;
	const isLonger = long.length > short.length + 2 && count <= Math.min(short.length + 5, 2 * short.length);
	return isLonger && !words(long).includes(to) ? long : null;
}
