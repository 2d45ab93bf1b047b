import { LruCache } from '../../base/index.ts';
import { analyse, sentences } from '../../text/index.ts';
import type { Passage } from '../chat-model.ts';
import { type Block, blocksOf } from './blocks.ts';
import { plainLines } from './markdown.ts';

/** The smallest thing that is quoted. */
export interface Unit {
	kind: 'sentence' | 'item' | 'row' | 'code';
	/** As the document has it, on one line (code: on several). */
	text: string;
	/** Words, by which lengths are judged. */
	words: number;
	/** The analysed words. */
	terms: ReadonlySet<string>;
	/** The analysed words of what stands over it: the headings, the lead-in of its list, the header of its table. */
	over: ReadonlySet<string>;
	/** Its block's number within the passage. */
	block: number;
	/** A list item's number and depth. */
	number: number | null;
	depth: number;
	/** The unit that leads into its list (`You need:`), by position; null where there is none. */
	lead: number | null;
	/** A heading-like line or a question in the document's text: says what follows, but answers nothing. */
	announces: boolean;
	/** Leans on the sentence before: `This takes two days.` */
	leans: boolean;
	/** The language of a code block, empty else. */
	syntax: string;
}

/** A passage, read. */
export interface ReadPassage {
	/** ISO 639-1, null where it could not be told. */
	language: string | null;
	units: Unit[];
	/** The analysed words of the title and of the innermost heading, each for itself: either may be the very question. */
	headings: Array<ReadonlySet<string>>;
}

/** Visitors ask about the same things: their passages are read once. About 20 kB a passage. */
const REMEMBERED = 256;
const remembered = new LruCache<string, ReadPassage>(REMEMBERED);

/** Longer sentences (lists without marks, text without stops) are cut at clauses, so that a quotation stays short. */
const LONGEST_SENTENCE = 50;
const CLAUSE = 25;

const LEANS =
	/^((?:after|before|for|with|from|until) (?:this|that|these|those|it|which)|this|that|these|those|it|its|they|them|their|he|she|his|her|such|however|therefore|then|also|otherwise|in this case|in that case|if so|if not|dies|diese[rsmn]?|das|sie|er|es|dafür|dabei|dazu|danach|dann|jedoch|außerdem|sonst|allerdings|deshalb|ceci|cela|ces?|cette|ils?|elles?|cependant|ensuite|sinon|est[oae]s?|es[oae]s?|ellos|sin embargo|además|dit|deze|die|zij|daarna|echter|iss?o|ess[ae]s?|est[ae]s?|eles|elas|porém|quest[oaei]|ess[oaei]|inoltre|tuttavia)(?![\p{L}\p{N}])|^(これ|それ|その|この|ただし|また|هذا|هذه|ذلك|لكن|ثم)/iu;
const ENDS = /[.!?:;。！？：؟…]["'”’»)\]」』]*$/u;
const ASKS = /[?？؟]["'”’»)\]」』]*$/u;

/** A clause that runs on for longer is cut wherever it is. */
const LONGEST_CLAUSE = 300;
const CLAUSE_END = /(?<=[;,:])\s+|(?<=[、；，：])\s*|(?<=\s[–—])\s+/u;

/**
 * Reads a passage into what can be quoted from it.
 * @param language ISO 639-1; null where it could not be told
 */
export function readPassage(passage: Passage, language: string | null): ReadPassage {
	const key = [language, passage.title, ...passage.heading_path, passage.text].join('\u0000');
	let read = remembered.get(key);
	if (!read) {
		const termsOf = (text: string) => new Set(analyse(text, language));
		const reader = new Reader(language, termsOf([passage.title, ...passage.heading_path].join('\n')));
		for (const block of blocksOf(plainLines(passage.text))) reader.read(block);
		const headings = [passage.title, passage.heading_path.at(-1) ?? ''].map(termsOf);
		read = { language, units: reader.units, headings };
		remembered.set(key, read);
	}
	return read;
}

/** Runs of text without any stop, cut at spaces where there are some. */
function bounded(clause: string): string[] {
	if (clause.length <= LONGEST_CLAUSE) return [clause];
	return clause.match(/\S[\s\S]{1,299}(?=\s|$)|[\s\S]{1,300}/gu) ?? [];
}

class Reader {
	readonly units: Unit[] = [];
	readonly #language: string | null;
	/** The words of title and headings so far. */
	#over: ReadonlySet<string>;
	readonly #title: ReadonlySet<string>;
	#block = 0;

	constructor(language: string | null, title: ReadonlySet<string>) {
		this.#language = language;
		this.#title = title;
		this.#over = title;
	}

	read(block: Block): void {
		this.#block++;
		switch (block.kind) {
			case 'heading':
				this.#over = new Set([...this.#title, ...this.#terms(block.text)]);
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
				if (text.trim() !== '') this.#add('code', text, { lead: this.#leadIn(), syntax: block.language });
			}
		}
	}

	#prose(text: string): void {
		const found = sentences(text, this.#language);
		for (const { text: sentence } of found) {
			for (const part of this.#clauses(sentence.trim())) {
				const announces = ASKS.test(part) || (found.length === 1 && !ENDS.test(part) && part.length < 80);
				this.#add('sentence', part, { announces, leans: LEANS.test(part) });
			}
		}
	}

	#list(block: Extract<Block, { kind: 'list' }>): void {
		const lead = this.#leadIn();
		const over = lead === null ? this.#over : new Set([...this.#over, ...(this.units[lead] as Unit).terms]);
		for (const { text, number, depth } of block.items) this.#add('item', text, { number, depth, lead, over });
	}

	#table({ header, rows }: Extract<Block, { kind: 'table' }>): void {
		const over = header === null ? this.#over : new Set([...this.#over, ...this.#terms(header.join(' '))]);
		const lead = this.#leadIn();
		for (const row of rows) {
			const cells = row.map((cell, i) => (cell !== '' && header?.[i] ? `${header[i]}: ${cell}` : cell));
			const shown = cells.filter((cell) => cell !== '');
			const isProperty = header === null && row.length === 2 && shown.length === 2;
			this.#add('row', shown.join(isProperty ? ': ' : '; '), { lead, over });
		}
	}

	/** The sentence before, where it ends as one that introduces what follows. */
	#leadIn(): number | null {
		const last = this.units.at(-1);
		return last?.kind === 'sentence' && /[:：]["'”’»)\]」』]*$/u.test(last.text) ? this.units.length - 1 : null;
	}

	#clauses(sentence: string): string[] {
		if (sentence.length < LONGEST_SENTENCE * 2 || this.#terms(sentence).length <= LONGEST_SENTENCE) return [sentence];
		const parts: string[] = [];
		let part = '';
		for (const clause of sentence.split(CLAUSE_END).flatMap(bounded)) {
			part = part === '' ? clause : `${part}${/[、；]$/u.test(part) ? '' : ' '}${clause}`;
			if (this.#terms(part).length >= CLAUSE) {
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
			over: this.#over,
			block: this.#block,
			number: null,
			depth: 0,
			lead: null,
			announces: false,
			leans: false,
			syntax: '',
			...more,
		});
	}
}
