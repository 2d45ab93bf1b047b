import type { SpokenLanguage } from '../spoken-language.ts';

/** Things of one kind, of which documents give closed lists: countries, languages, means of payment. */
export interface NamedKind {
	/** The members that a text names, each once, in its order. @param languages those of the text and of the question */
	membersIn(text: string, languages: readonly SpokenLanguage[]): string[];
	/** Whether a text may name a member: also in small letters, or by a code alone. */
	mayName(text: string, member: string, languages: readonly SpokenLanguage[]): boolean;
	/** The name of a member in a language. */
	nameOf(member: string, language: SpokenLanguage): string;
	/** Whether a text has words for several members at once or for examples: its list is not closed. */
	isOpen(text: string): boolean;
	/** Whether a text with its headings is about members of the kind as such: `We speak English.`, not `Our menu has Italian dishes.` */
	isAbout(text: string): boolean;
}

/** Spellings that the platform's data lack. Codes of two letters are read in capital letters only. */
const COUNTRY_ALIASES: Record<string, string> = {
	uk: 'GB',
	'u.k': 'GB',
	'great britain': 'GB',
	britain: 'GB',
	großbritannien: 'GB',
	'grande-bretagne': 'GB',
	england: 'GB',
	angleterre: 'GB',
	inglaterra: 'GB',
	inghilterra: 'GB',
	engeland: 'GB',
	イギリス: 'GB',
	英国: 'GB',
	بريطانيا: 'GB',
	usa: 'US',
	'u.s': 'US',
	'u.s.a': 'US',
	america: 'US',
	amerika: 'US',
	'états-unis': 'US',
	'estados unidos': 'US',
	アメリカ: 'US',
	أمريكا: 'US',
	holland: 'NL',
	hollande: 'NL',
	holanda: 'NL',
	olanda: 'NL',
	uae: 'AE',
	tschechien: 'CZ',
	'czech republic': 'CZ',
	tsjechië: 'CZ',
	turkey: 'TR',
};
/** ISO 3166-1, with Kosovo, without uninhabited islands. */
const COUNTRY_CODES = [
	'AD AE AF AG AI AL AM AO AR AS AT AU AW AX AZ BA BB BD BE BF BG BH BI BJ BL BM BN BO BQ BR BS BT BW BY BZ CA CC CD CF CG',
	'CH CI CK CL CM CN CO CR CU CV CW CX CY CZ DE DJ DK DM DO DZ EC EE EG EH ER ES ET FI FJ FK FM FO FR GA GB GD GE GF GG GH',
	'GI GL GM GN GP GQ GR GT GU GW GY HK HN HR HT HU ID IE IL IM IN IQ IR IS IT JE JM JO JP KE KG KH KI KM KN KP KR KW KY KZ',
	'LA LB LC LI LK LR LS LT LU LV LY MA MC MD ME MF MG MH MK ML MM MN MO MP MQ MR MS MT MU MV MW MX MY MZ NA NC NE NF NG NI',
	'NL NO NP NR NU NZ OM PA PE PF PG PH PK PL PM PN PR PS PT PW PY QA RE RO RS RU RW SA SB SC SD SE SG SH SI SJ SK SL SM SN',
	'SO SR SS ST SV SX SY SZ TC TD TG TH TJ TK TL TM TN TO TR TT TV TW TZ UA UG US UY UZ VA VC VE VG VI VN VU WF WS XK YE YT',
	'ZA ZM ZW',
].flatMap((line) => line.split(' '));
const LANGUAGE_CODES =
	'ar bg bn ca cs cy da de el en es et eu fa fi fr ga gl he hi hr hu id is it ja ko lt lv mt nl no pl pt ro ru sk sl sq sr sv th tr uk ur vi zh'.split(
		' ',
	);
const PAYMENTS =
	'Visa|Mastercard|American Express|Amex|PayPal|Apple Pay|Google Pay|Samsung Pay|Klarna|iDEAL|Maestro|Bancontact|TWINT|SEPA|Bitcoin|Giropay|Girocard|Diners Club|Alipay|WeChat Pay|V Pay|Multibanco|Bizum|Satispay|MobilePay|Vipps|Przelewy24|Carte Bleue|JCB|UnionPay'.split(
		'|',
	);
const EVERYWHERE =
	/(?<!\p{L})(?:worldwide|international\p{L}*|abroad|europe\p{L}*|eu|e\.u|everywhere|all countries|weltweit|europa\p{L}*|europäisch\p{L}*|ausland|überall|monde|étranger|europ\p{L}*|ue|mundo|mondo|extranjero|wereldwijd|buitenland|exterior|estero)(?!\p{L})|世界|海外|欧州|العالم|أوروبا/iu;
/** Words before or after examples. */
const EXAMPLES =
	/(?<!\p{L})(?:such as|for example|for instance|e\.g|including|among others|amongst others|etc|all major|and more|zum beispiel|z\.\s?b|unter anderem|u\.\s?a\.|usw|beispielsweise|wie etwa|par exemple|notamment|entre autres|tels? que|telles? que|por ejemplo|entre otros|como|bijvoorbeeld|zoals|onder andere|enz|por exemplo|entre outros|ad esempio|tra cui|come|ecc)(?!\p{L})|など|例えば|مثل|وغيرها/iu;
const ABOUT_LANGUAGES =
	/speak|spoke|language|sprech|spricht|sprache|parl|langue|habl|idioma|lengua|spreek|gesproken|taal|talen|fala|língua|lingu|話|言語|対応|تتحدث|يتحدث|نتحدث|لغات|لغة/iu;
/** Names that are other words in small letters. */
const HOMONYMS = new Set([
	'turkey',
	'jersey',
	'chad',
	'china',
	'jordan',
	'guinea',
	'polish',
	'visa',
	'maestro',
	'ideal',
	'sepa',
]);
/** Codes of countries that are also other words in capital letters. */
const AMBIGUOUS_CODES = new Set([
	'AM',
	'AS',
	'AT',
	'HR',
	'ID',
	'IN',
	'IS',
	'IT',
	'LA',
	'ME',
	'NO',
	'PM',
	'PR',
	'SO',
	'TO',
	'TV',
]);
const CODE = '\\p{Lu}{2}';
/** At least two codes in a row: `NL, BE and DE`. */
const CODE_LIST = new RegExp(
	`(?<![\\p{L}\\p{N}])${CODE}(?:(?:\\s?[,/&+]\\s?|\\s(?:and|or|und|oder|et|ou|y|e|o|en|of)\\s)(?:(?:and|or|und|oder|et|ou|y|e|en)\\s)?${CODE})+(?![\\p{L}\\p{N}])`,
	'gu',
);
/** A code after a word that a place follows: `to NL`. */
const PLACED_CODE = new RegExp(
	`(?<![\\p{L}\\p{N}])(?:[Tt]o|[Ff]rom|[Nn]ach|[Aa]us|[Nn]aar|[Uu]it|[Vv]ers|[Pp]ara|[Dd]esde|[Pp]er|[Vv]erso)\\s(?:the\\s)?(${CODE})(?![\\p{L}\\p{N}])`,
	'gu',
);

class Names {
	/** The member by its name in lower case. */
	readonly #members: ReadonlyMap<string, string>;
	readonly #pattern: RegExp;

	constructor(names: ReadonlyArray<readonly [name: string, member: string]>) {
		this.#members = new Map(names.map(([name, member]) => [name.toLowerCase(), member]));
		const all = [...this.#members.keys()].sort((a, b) => b.length - a.length);
		this.#pattern = new RegExp(anyOf(all), 'giu');
	}

	/** The members with the positions of their names. @param needsCapital whether names in small letters are other words */
	in(text: string, needsCapital = false): Array<[at: number, member: string]> {
		return [...text.matchAll(this.#pattern)]
			.filter(({ 0: name }) => !/^\p{Ll}/u.test(name) || !(needsCapital || HOMONYMS.has(name)))
			.map(({ index, 0: name }) => [index, this.#members.get(name.toLowerCase()) as string]);
	}
}

/** German and Dutch names have another ending after a preposition: `in den Niederlanden`. */
function spellings(name: string): string[] {
	return [name, `${name}n`];
}

/** The source of a pattern that finds names. Scripts without spaces have names inside of words. */
function anyOf(names: readonly string[]): string {
	const escaped = names.map((name) => name.replace(/[.*+?^${}()|[\]\\]/g, '\\$&'));
	return `(?<![\\p{Script=Latin}\\p{N}])(?:${escaped.join('|')})(?![\\p{Script=Latin}\\p{N}])`;
}

/** Whether a text has one of the names, except as another word in small letters. */
function isNamed(text: string, names: readonly string[]): boolean {
	return [...text.matchAll(new RegExp(anyOf(names), 'giu'))].some(([name]) => !HOMONYMS.has(name));
}

/** The members of a kind, with their names from the platform's data. */
class PlatformNames implements NamedKind {
	readonly #type: 'region' | 'language';
	readonly #codes: readonly string[];
	readonly #aliases: Record<string, string>;
	readonly #names = new Map<SpokenLanguage, Names>();

	constructor(type: 'region' | 'language', codes: readonly string[], aliases: Record<string, string> = {}) {
		this.#type = type;
		this.#codes = codes;
		this.#aliases = aliases;
	}

	isOpen(text: string): boolean {
		return EXAMPLES.test(text) || (this.#type === 'region' && EVERYWHERE.test(text));
	}

	isAbout(text: string): boolean {
		return this.#type === 'region' || ABOUT_LANGUAGES.test(text);
	}

	membersIn(text: string, languages: readonly SpokenLanguage[]): string[] {
		// Countries have a capital in every language. People write whole questions in small letters, but not documents.
		const needsCapital = this.#type === 'region' && /.\p{Lu}/su.test(text);
		const found = [...new Set(languages)].flatMap((language) => this.#namesIn(language).in(text, needsCapital));
		if (this.#type === 'region' && /\p{Ll}/u.test(text)) found.push(...this.#codesIn(text));
		return [...new Set(found.sort(([a], [b]) => a - b).map(([, member]) => member))];
	}

	mayName(text: string, member: string, languages: readonly SpokenLanguage[]): boolean {
		const aliases = Object.keys(this.#aliases).filter((alias) => this.#aliases[alias] === member);
		const names = [...languages.flatMap((language) => spellings(this.nameOf(member, language))), ...aliases];
		if (isNamed(text, names)) return true;
		return this.#type === 'region' && new RegExp(anyOf([member]), 'u').test(text);
	}

	nameOf(member: string, language: SpokenLanguage): string {
		return new Intl.DisplayNames(language, { type: this.#type }).of(member) ?? member;
	}

	#codesIn(text: string): Array<[at: number, member: string]> {
		const known = (code: string) => this.#codes.includes(code);
		const listed = [...text.matchAll(CODE_LIST)].flatMap(({ index, 0: list }) =>
			[...list.matchAll(/(?<!\p{Lu})\p{Lu}{2}(?!\p{Lu})/gu)].map((code): [number, string] => [
				index + code.index,
				code[0],
			]),
		);
		const placed = [...text.matchAll(PLACED_CODE)].map(({ index, 1: code = '' }): [number, string] => [index, code]);
		return [...listed, ...placed.filter(([, code]) => !AMBIGUOUS_CODES.has(code))].filter(([, code]) => known(code));
	}

	#namesIn(language: SpokenLanguage): Names {
		let names = this.#names.get(language);
		if (names === undefined) {
			const display = new Intl.DisplayNames(language, { type: this.#type, fallback: 'none' });
			const own = this.#codes.flatMap((code) => {
				const name = display.of(code);
				return name === undefined ? [] : spellings(name).map((spelling) => [spelling, code] as const);
			});
			names = new Names([...own, ...Object.entries(this.#aliases)]);
			this.#names.set(language, names);
		}
		return names;
	}
}

const paymentNames = new Names(PAYMENTS.map((name) => [name, name]));

/** The kinds whose members are known by name. */
export const NAMED_KINDS: readonly NamedKind[] = [
	new PlatformNames('region', COUNTRY_CODES, COUNTRY_ALIASES),
	new PlatformNames('language', LANGUAGE_CODES),
	{
		isOpen: (text) => EXAMPLES.test(text),
		isAbout: () => true,
		membersIn: (text) => [...new Set(paymentNames.in(text).map(([, member]) => member))],
		mayName: (text, member) => isNamed(text, [member]),
		nameOf: (member) => member,
	},
];
