import type { SpokenLanguage } from '../spoken-language.ts';

/** Things of one kind, of which documents give closed lists: countries, languages, means of payment. */
export interface NamedKind {
	/** The members that a text names, each once, in its order. @param languages those of the text and of the question */
	membersIn(text: string, languages: readonly SpokenLanguage[]): string[];
	/** The name of a member in a language. */
	nameOf(member: string, language: SpokenLanguage): string;
	/** Words for several members at once: after them a list is not closed. */
	collective: RegExp;
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
const NOTHING = /(?!)/u;

class Names {
	/** The member by its name in lower case. */
	readonly #members: ReadonlyMap<string, string>;
	readonly #pattern: RegExp;

	constructor(names: ReadonlyArray<readonly [name: string, member: string]>) {
		this.#members = new Map(names.map(([name, member]) => [name.toLowerCase(), member]));
		const all = [...this.#members.keys()].sort((a, b) => b.length - a.length);
		const escaped = all.map((name) => name.replace(/[.*+?^${}()|[\]\\]/g, '\\$&'));
		// Scripts without spaces have names inside of words.
		this.#pattern = new RegExp(
			`(?<![\\p{Script=Latin}\\p{N}])(?:${escaped.join('|')})(?![\\p{Script=Latin}\\p{N}])`,
			'giu',
		);
	}

	/** The members with the positions of their names. */
	in(text: string): Array<[at: number, member: string]> {
		return [...text.matchAll(this.#pattern)].map(({ index, 0: name }) => [
			index,
			this.#members.get(name.toLowerCase()) as string,
		]);
	}
}

/** The members of a kind, with their names from the platform's data. */
class PlatformNames implements NamedKind {
	readonly collective: RegExp;
	readonly #type: 'region' | 'language';
	readonly #codes: readonly string[];
	readonly #aliases: Record<string, string>;
	readonly #names = new Map<SpokenLanguage, Names>();

	constructor(
		type: 'region' | 'language',
		codes: readonly string[],
		{ aliases = {}, collective = NOTHING }: { aliases?: Record<string, string>; collective?: RegExp } = {},
	) {
		this.#type = type;
		this.#codes = codes;
		this.#aliases = aliases;
		this.collective = collective;
	}

	membersIn(text: string, languages: readonly SpokenLanguage[]): string[] {
		const found = [...new Set(languages)].flatMap((language) => this.#namesIn(language).in(text));
		if (this.#type === 'region' && /\p{Ll}/u.test(text)) {
			const known = new Set(this.#codes);
			for (const { index, 0: code } of text.matchAll(/(?<![\p{L}\p{N}])\p{Lu}{2}(?![\p{L}\p{N}])/gu))
				if (known.has(code)) found.push([index, code]);
		}
		return [...new Set(found.sort(([a], [b]) => a - b).map(([, member]) => member))];
	}

	nameOf(member: string, language: SpokenLanguage): string {
		return new Intl.DisplayNames(language, { type: this.#type }).of(member) ?? member;
	}

	#namesIn(language: SpokenLanguage): Names {
		let names = this.#names.get(language);
		if (names === undefined) {
			const display = new Intl.DisplayNames(language, { type: this.#type, fallback: 'none' });
			const own = this.#codes.flatMap((code) => {
				const name = display.of(code);
				// German and Dutch names have another ending after a preposition: `in den Niederlanden`.
				return name === undefined ? [] : [[name, code] as const, [`${name}n`, code] as const];
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
	new PlatformNames('region', COUNTRY_CODES, { aliases: COUNTRY_ALIASES, collective: EVERYWHERE }),
	new PlatformNames('language', LANGUAGE_CODES),
	{
		collective: NOTHING,
		membersIn: (text) => [...new Set(paymentNames.in(text).map(([, member]) => member))],
		nameOf: (member) => member,
	},
];
