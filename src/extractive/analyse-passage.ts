import { LruCache } from '../base/index.ts';
import { analyse, sentences } from '../text/index.ts';
import { plainLines } from './markdown.ts';
import { type PassageBlock, parsePassageBlocks } from './passage-blocks.ts';
import type { QuotablePassage } from './request.ts';

/** The smallest part of a passage that is quoted. */
export interface Unit {
	kind: 'sentence' | 'item' | 'row' | 'code';
	/** The text of the document, on one line (code: on several). */
	text: string;
	/** Its number of words. */
	words: number;
	/** The analysed words. */
	terms: ReadonlySet<string>;
	/** The analysed words of its context: the headings, the lead-in of its list, the header of its table. */
	contextTerms: ReadonlySet<string>;
	/** The number of its block within the passage. */
	block: number;
	/** The number and the depth of a list item. */
	number: number | null;
	depth: number;
	/** The position of the unit that introduces its list (`You need:`); null without one. */
	leadIn: number | null;
	/** A heading-like line or a question in the text of the document: it announces what follows, but answers nothing. */
	isAnnouncement: boolean;
	/** Refers to the sentence before: `This takes two days.` */
	isDependent: boolean;
	/** The language of a code block; empty for any other unit. */
	syntax: string;
}

/** The units of a passage. */
export interface AnalysedPassage {
	/** ISO 639-1; null if it is unknown. */
	language: string | null;
	units: Unit[];
	/** The analysed words of the title, then of the innermost heading. Each is compared with the question separately. */
	headings: Array<ReadonlySet<string>>;
}

/** Visitors ask about the same things, so analysed passages are cached. About 20 kB per passage. */
const PASSAGE_CACHE_SIZE = 256;
const passageCache = new LruCache<string, AnalysedPassage>(PASSAGE_CACHE_SIZE);

/** Longer sentences (lists without marks, text without full stops) are split at clauses, so that a quotation stays short. */
const MAX_SENTENCE_WORDS = 50;
const MIN_CLAUSE_WORDS = 25;

const DEPENDENT_START =
	/^((?:after|before|for|with|from|until) (?:this|that|these|those|it|which)|this|that|these|those|it|its|they|them|their|he|she|his|her|such|however|therefore|then|also|otherwise|in this case|in that case|if so|if not|dies|diese[rsmn]?|das|sie|er|es|dafür|dabei|dazu|danach|dann|jedoch|außerdem|sonst|allerdings|deshalb|ceci|cela|ces?|cette|ils?|elles?|cependant|ensuite|sinon|est[oae]s?|es[oae]s?|ellos|sin embargo|además|dit|deze|die|zij|daarna|echter|iss?o|ess[ae]s?|est[ae]s?|eles|elas|porém|quest[oaei]|ess[oaei]|inoltre|tuttavia)(?![\p{L}\p{N}])|^(これ|それ|その|この|ただし|また|هذا|هذه|ذلك|لكن|ثم)/iu;
const SENTENCE_ENDING = /[.!?:;。！？：؟…]["'”’»)\]」』]*$/u;
const QUESTION_ENDING = /[?？؟]["'”’»)\]」』]*$/u;

/** A longer clause is split at any position. */
const MAX_CLAUSE_CHARS = 300;
const CLAUSE_END = /(?<=[;,:])\s+|(?<=[、；，：])\s*|(?<=\s[–—])\s+/u;

/**
 * Splits a passage into the units that can be quoted.
 * @param language ISO 639-1; null if it is unknown
 */
export function analysePassage(passage: QuotablePassage, language: string | null): AnalysedPassage {
	const key = [language, passage.title, ...passage.heading_path, passage.text].join('\u0000');
	let read = passageCache.get(key);
	if (!read) {
		const termsOf = (text: string) => new Set(analyse(text, language));
		const reader = new PassageReader(language, termsOf([passage.title, ...passage.heading_path].join('\n')));
		for (const block of parsePassageBlocks(plainLines(passage.text))) reader.read(block);
		const headings = [passage.title, passage.heading_path.at(-1) ?? ''].map(termsOf);
		read = { language, units: reader.units, headings };
		passageCache.set(key, read);
	}
	return read;
}

/** Splits text without full stops, at spaces where possible. */
function splitAtSpaces(clause: string): string[] {
	if (clause.length <= MAX_CLAUSE_CHARS) return [clause];
	return clause.match(/\S[\s\S]{1,299}(?=\s|$)|[\s\S]{1,300}/gu) ?? [];
}

class PassageReader {
	readonly units: Unit[] = [];
	readonly #language: string | null;
	/** The words of title and headings so far. */
	#contextTerms: ReadonlySet<string>;
	readonly #title: ReadonlySet<string>;
	#block = 0;

	constructor(language: string | null, title: ReadonlySet<string>) {
		this.#language = language;
		this.#title = title;
		this.#contextTerms = title;
	}

	read(block: PassageBlock): void {
		this.#block++;
		switch (block.kind) {
			case 'heading':
				this.#contextTerms = new Set([...this.#title, ...this.#terms(block.text)]);
				return;
			case 'prose':
				this.#prose(block.text);
				return;
			case 'list':
				this.#list(block);
				return;
			case 'table':
				this.#table(block);
				return;
			case 'code': {
				const text = block.lines.join('\n');
				if (text.trim() !== '') this.#add('code', text, { leadIn: this.#leadIn(), syntax: block.language });
			}
		}
	}

	#prose(text: string): void {
		const found = sentences(text, this.#language);
		for (const { text: sentence } of found) {
			for (const part of this.#clauses(sentence.trim())) {
				const isAnnouncement =
					QUESTION_ENDING.test(part) || (found.length === 1 && !SENTENCE_ENDING.test(part) && part.length < 80);
				this.#add('sentence', part, { isAnnouncement, isDependent: DEPENDENT_START.test(part) });
			}
		}
	}

	#list(block: Extract<PassageBlock, { kind: 'list' }>): void {
		const leadIn = this.#leadIn();
		const contextTerms =
			leadIn === null ? this.#contextTerms : new Set([...this.#contextTerms, ...(this.units[leadIn] as Unit).terms]);
		for (const { text, number, depth } of block.items) this.#add('item', text, { number, depth, leadIn, contextTerms });
	}

	#table({ header, rows }: Extract<PassageBlock, { kind: 'table' }>): void {
		// A line before the table is its caption, or the name of a group of its rows.
		const before = this.units.at(-1);
		const caption = before?.isAnnouncement && before.block === this.#block - 1 ? before.terms : [];
		const contextTerms = new Set([...this.#contextTerms, ...caption, ...this.#terms(header?.join(' ') ?? '')]);
		const leadIn = this.#leadIn();
		for (const row of rows) {
			const cells = row.map((cell, i) => (cell !== '' && header?.[i] ? `${header[i]}: ${cell}` : cell));
			const shown = cells.filter((cell) => cell !== '');
			const isProperty = header === null && row.length === 2 && shown.length === 2;
			this.#add('row', shown.join(isProperty ? ': ' : '; '), { leadIn, contextTerms });
		}
	}

	/** The sentence before, if its end introduces what follows. */
	#leadIn(): number | null {
		const last = this.units.at(-1);
		return last?.kind === 'sentence' && /[:：]["'”’»)\]」』]*$/u.test(last.text) ? this.units.length - 1 : null;
	}

	#clauses(sentence: string): string[] {
		if (sentence.length < MAX_SENTENCE_WORDS * 2 || this.#terms(sentence).length <= MAX_SENTENCE_WORDS)
			return [sentence];
		const parts: string[] = [];
		let part = '';
		for (const clause of sentence.split(CLAUSE_END).flatMap(splitAtSpaces)) {
			part = part === '' ? clause : `${part}${/[、；]$/u.test(part) ? '' : ' '}${clause}`;
			if (this.#terms(part).length >= MIN_CLAUSE_WORDS) {
				parts.push(part);
				part = '';
			}
		}
		if (part !== '') parts.push(part);
		return parts.map((text, i) => `${i > 0 ? '… ' : ''}${text}${i < parts.length - 1 ? ' …' : ''}`);
	}

	#terms(text: string): string[] {
		return analyse(text, this.#language);
	}

	#add(kind: Unit['kind'], text: string, more: Partial<Unit>): void {
		const terms = this.#terms(text);
		if (terms.length === 0) return;
		this.units.push({
			kind,
			text,
			words: terms.length,
			terms: new Set(terms),
			contextTerms: this.#contextTerms,
			block: this.#block,
			number: null,
			depth: 0,
			leadIn: null,
			isAnnouncement: false,
			isDependent: false,
			syntax: '',
			...more,
		});
	}
}
