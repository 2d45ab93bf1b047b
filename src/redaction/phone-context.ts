/** Characters before a number in which words tell what it is. */
const CONTEXT_CHARS = 40;

/** Beginnings of words, by language. */
const PHONE_WORDS = [
	...[
		'phone',
		'telephone',
		'mobile',
		'call',
		'ring',
		'dial',
		'text me',
		'sms',
		'fax',
		'cell',
		'whatsapp',
		'signal',
		'tel',
		'my number is',
		'reach me',
		'hotline',
		'contact',
	],
	...[
		'telefon',
		'handy',
		'mobil',
		'festnetz',
		'rückruf',
		'anruf',
		'rufen',
		'rufnummer',
		'meine nummer',
		'die nummer',
		'erreich',
		'kontakt',
	],
	...['téléphone', 'tél', 'portable', 'appel', 'rappel', 'mon numéro', 'fixe', 'joindre', 'contact'],
	...['teléfono', 'móvil', 'celular', 'llam', 'mi número', 'contáct', 'fono'],
	...['cellulare', 'chiam', 'il mio numero', 'contatta'],
	...['telefoon', 'mobiel', 'bel', 'bellen', 'mijn nummer', 'telefone', 'telemóvel', 'ligue', 'ligar', 'meu número'],
	...['komórk', 'dzwoń', 'dzwonić', 'zadzwoń', 'mój numer', 'volej', 'zavolej', 'moje číslo'],
	...['mitt nummer', 'mit nummer', 'mitt telefonnummer', 'puhelin', 'numeroni', 'soita', 'numaram', 'beni ara'],
	...['телефон', 'тел', 'мобильн', 'позвон', 'звонит', 'мой номер', 'дзвон', 'номер телефону', 'мобільн'],
	...['τηλ', 'κινητό', 'هاتف', 'الهاتف', 'هاتفي', 'جوال', 'اتصل', 'फ़ोन', 'फोन', 'मोबाइल', 'טלפון', 'נייד'],
];
/** In languages without spaces between words, words are found anywhere. */
const PHONE_WORDS_WITHOUT_SPACES = [
	'電話',
	'電话',
	'电话',
	'携帯',
	'連絡先',
	'手机',
	'手機',
	'拨打',
	'撥打',
	'致电',
	'전화',
	'휴대폰',
	'연락처',
	'联系',
	'聯絡',
];

const OTHER_WORDS = [
	...[
		'order',
		'invoice',
		'ticket',
		'case',
		'customer',
		'account',
		'tracking',
		'parcel',
		'shipment',
		'serial',
		'part',
		'article',
		'item',
		'reference',
		'ref',
		'sku',
		'ean',
		'upc',
		'isbn',
		'iban',
		'vat',
		'tax',
		'ssn',
		'version',
		'error',
		'code',
		'price',
		'zip',
		'contract',
		'policy',
		'id',
		'sold',
		'timestamp',
		'pages',
		'pin',
	],
	...[
		'bestell',
		'auftrag',
		'rechnung',
		'vorgang',
		'kunden',
		'konto',
		'sendung',
		'paket',
		'serien',
		'artikel',
		'teile',
		'zähler',
		'ust',
		'steuer',
		'vertrag',
		'preis',
		'plz',
		'matrikel',
		'aktenzeichen',
	],
	...['commande', 'facture', 'siret', 'siren', 'colis', 'référence', 'compte', 'contrat', 'prix'],
	...[
		'pedido',
		'factura',
		'cuenta',
		'envío',
		'precio',
		'nif',
		'cuesta',
		'ordine',
		'fattura',
		'p\\.iva',
		'partita',
		'conto',
		'prezzo',
		'codice',
	],
	...[
		'bestelnummer',
		'factuur',
		'klant',
		'rekening',
		'encomenda',
		'fatura',
		'conta',
		'cnpj',
		'cpf',
		'zamówieni',
		'faktur',
		'nip',
		'regon',
		'objednáv',
	],
	...[
		'ordre',
		'beställning',
		'tilaus',
		'lasku',
		'sipariş',
		'заказ',
		'счет',
		'счёт',
		'инн',
		'замовлен',
		'طلب',
		'ऑर्डर',
		'הזמנה',
	],
];
const OTHER_WORDS_WITHOUT_SPACES = ['注文', '订单', '訂單', '주문', '伝票', '发票', '请求書', '請求書'];

const PHONE_CONTEXT = contextOf(PHONE_WORDS, PHONE_WORDS_WITHOUT_SPACES);
const OTHER_CONTEXT = contextOf(
	// German, Dutch and Scandinavian words are compounds: Gerätenummer, ordrenummer, Mandatsreferenz.
	[...OTHER_WORDS, '\\p{L}+(?:nummer|numero|referenz)'],
	OTHER_WORDS_WITHOUT_SPACES,
);
/** A number between a word and this number is what the word names. */
const NUMBER_BETWEEN = /\d{4}/;

/** What the words before a number say that it is: the nearest one counts. */
export type NumberContext = 'phone' | 'other' | 'none';

/** The words before the numbers of a text. Numbers are asked about in order, so that each part of the text is read once. */
export class NumberContexts {
	readonly #text: string;
	/** The part of the text that was read. */
	#end = 0;
	#lastPhoneWord = -1;
	#lastOtherWord = -1;

	constructor(text: string) {
		this.#text = text;
	}

	/** What the number that starts here is. */
	before(start: number): NumberContext {
		this.#readTo(start);
		const from = Math.max(0, start - CONTEXT_CHARS);
		const line = Math.max(from, this.#text.slice(from, start).lastIndexOf('\n') + from + 1);
		const [phone, other] = [this.#lastPhoneWord, this.#lastOtherWord];
		if (phone >= line && phone >= other) return 'phone';
		return other < line || NUMBER_BETWEEN.test(this.#text.slice(other, start)) ? 'none' : 'other';
	}

	/** No word goes on behind a start, because a number is there. */
	#readTo(start: number): void {
		const from = Math.max(this.#end, start - CONTEXT_CHARS);
		if (from >= start) return;
		const part = lowerCase(this.#text.slice(from, start));
		this.#lastPhoneWord = lastMatch(part, PHONE_CONTEXT, from, this.#lastPhoneWord);
		this.#lastOtherWord = lastMatch(part, OTHER_CONTEXT, from, this.#lastOtherWord);
		this.#end = start;
	}
}

/** Every code unit keeps its position. */
function lowerCase(text: string): string {
	const lower = text.toLowerCase();
	return lower.length === text.length ? lower : text;
}

/** The position of the last word in a part of a text; the one before if it has none. */
function lastMatch(part: string, words: RegExp, offset: number, before: number): number {
	let last = before;
	for (const { index } of part.matchAll(words)) last = offset + index;
	return last;
}

/** @param words beginnings of words, as patterns */
function contextOf(words: readonly string[], withoutSpaces: readonly string[]): RegExp {
	return new RegExp(`(?<![\\p{L}\\p{M}])(?:${words.join('|')})|${withoutSpaces.join('|')}`, 'gu');
}
