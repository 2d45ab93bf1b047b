import type { IndexWrite } from '../../../src/store/index.ts';
import { analyse } from '../../../src/text/index.ts';
import { Random } from '../../support/random.ts';

export type AddDocument = Extract<IndexWrite, { op: 'index.add_document' }>;

const WORDS: Record<string, [string, ...string[]]> = {
	en: 'refund delivery order warranty parcel customer payment invoice address return broken colour size shipping account'.split(
		' ',
	) as [string, ...string[]],
	de: 'Lieferung Bestellung Garantie Paket Kunde Zahlung Rechnung Anschrift Rückgabe beschädigt Farbe Größe Versand Konto Gutschein'.split(
		' ',
	) as [string, ...string[]],
	fr: 'livraison commande garantie colis client paiement facture adresse retour cassé couleur taille expédition compte remboursement'.split(
		' ',
	) as [string, ...string[]],
	ja: '配送 注文 保証 荷物 顧客 支払い 請求書 住所 返品 破損 色 サイズ 発送 アカウント 返金'.split(' ') as [
		string,
		...string[],
	],
};
const LANGUAGES = Object.keys(WORDS) as [string, ...string[]];
const ACRONYMS: [string, ...string[]] = ['United Kingdom (UK)', 'Value Added Tax (VAT)', 'Terms of Service (TOS)'];
const SYLLABLES: [string, ...string[]] = ['ba', 'ro', 'ti', 'ske', 'lun', 'mar', 'pol', 'da', 'vin', 'gre'];

/** Documents in several languages. Frequent words are in most of them, and invented words in few. */
export class GeneratedDocuments {
	readonly #random: Random;

	constructor(seed: number) {
		this.#random = new Random(seed);
	}

	/** A document of one to eight chunks in a few sections. */
	document(generation: string, document_id: string): AddDocument {
		const random = this.#random;
		const language = random.chance(0.1) ? null : random.pick(LANGUAGES);
		const title = this.#text(language, random.between(1, 4));
		let heading = '';
		const chunks = Array.from({ length: random.between(1, 8) }, () => {
			if (random.chance(0.4)) heading = this.#text(language, 2);
			const text = this.#text(language, random.between(3, 80));
			const title_terms = analyse(`${title} ${heading}`, language).join(' ');
			const body_terms = random.chance(0.02) ? '' : analyse(text, language).join(' ');
			return { text, heading_path: heading === '' ? [] : [heading], page: null, title_terms, body_terms };
		});
		const document = { op: 'index.add_document', generation, document_id, title, url: null, language, chunks } as const;
		return { ...document, basis: null, vectors: null };
	}

	/** A question with words of one language, some misspelled. */
	question(): string {
		const random = this.#random;
		const words = this.#text(random.pick(LANGUAGES), random.between(1, 7)).split(' ');
		return words
			.map((word) => (random.chance(0.1) && word.length > 5 ? `${word.slice(0, 2)}${word.slice(3)}` : word))
			.join(' ');
	}

	#text(language: string | null, words: number): string {
		return Array.from({ length: words }, () => this.#word(language)).join(' ');
	}

	#word(language: string | null): string {
		const random = this.#random;
		if (random.chance(0.03)) return random.pick(ACRONYMS);
		if (random.chance(0.03)) return random.pick(['UK', 'VAT', 'TOS']);
		if (random.chance(0.25)) return random.pick(SYLLABLES) + random.pick(SYLLABLES) + random.pick(SYLLABLES);
		const words = WORDS[language ?? 'en'] as [string, ...string[]];
		// The first words are the most frequent.
		return words[Math.floor(words.length * random.next() ** 2)] as string;
	}
}
