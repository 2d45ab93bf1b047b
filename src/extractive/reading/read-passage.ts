import { LruCache } from '../../base/index.ts';
import { type Acronym, analyse, definedAcronyms, sentences, spellAcronyms } from '../../text/index.ts';
import { readCalendar } from '../calendar/calendar-terms.ts';
import { plainLines } from '../composing/markdown.ts';
import type { QuotablePassage } from '../request.ts';
import { type PassageBlock, parsePassageBlocks, splitJoinedKeyLines, splitKeyLine } from './passage-blocks.ts';
import {
	type Cell,
	type PassageReading,
	QUESTION_ENDING,
	SHORT_REPLY,
	type Surroundings,
	type Table,
	type Terms,
	type Unit,
} from './passage-reading.ts';
import { rangesIn } from './ranges.ts';

/** Visitors ask about the same things, so readings are cached. About 30 kB per passage. */
const PASSAGE_CACHE_SIZE = 256;
const passageCache = new LruCache<string, PassageReading>(PASSAGE_CACHE_SIZE);

/** Longer sentences (lists without marks, text without full stops) are split at clauses, so that a quotation stays short. */
const MAX_SENTENCE_WORDS = 50;
const MIN_CLAUSE_WORDS = 25;

/** A longer line is a sentence, not a name. */
const MAX_NAME_CHARACTERS = 80;
/** A name above a paragraph is shorter. */
const MIN_LINE_CHARACTERS = 45;
/** A value of more than one sentence is read as sentences under its key. */
const MAX_VALUE_CHARACTERS = 240;

const DEPENDENT_START =
	/^((?:after|before|for|with|from|until) (?:this|that|these|those|it|which)|this|that|these|those|it|its|they|them|their|he|she|his|her|such|however|therefore|then|also|otherwise|in this case|in that case|if so|if not|dies|diese[rsmn]?|das|sie|er|es|dafür|dabei|dazu|danach|dann|jedoch|außerdem|sonst|allerdings|deshalb|ceci|cela|ces?|cette|ils?|elles?|cependant|ensuite|sinon|est[oae]s?|es[oae]s?|ellos|sin embargo|además|dit|deze|die|zij|daarna|echter|iss?o|ess[ae]s?|est[ae]s?|eles|elas|porém|quest[oaei]|ess[oaei]|inoltre|tuttavia)(?![\p{L}\p{N}])|^(これ|それ|その|この|ただし|また|هذا|هذه|ذلك|لكن|ثم)/iu;
const SENTENCE_ENDING = /[.!?:;。！？：؟…]["'”’»)\]」』]*$/u;
const COLON_ENDING = /[:：]["'”’»)\]」』]*$/u;

/** A longer clause is split at any position. */
const MAX_CLAUSE_CHARS = 300;
const CLAUSE_END = /(?<=[;,:])\s+|(?<=[、；，：])\s*|(?<=\s[–—])\s+/u;

/** More columns than these are values. */
const MAX_LABEL_COLUMNS = 3;

/** Rows of a long table that are read in one step. */
const ROWS_PER_STEP = 10;

const NO_TERMS: Terms = new Set();

/**
 * Splits a passage into the parts that can answer. Yields between its blocks, so that other work can run.
 * @param language ISO 639-1; null if it is unknown
 */
export function* readPassage(passage: QuotablePassage, language: string | null): Generator<void, PassageReading> {
	const key = [language, passage.title, ...passage.heading_path, passage.text].join('\u0000');
	let reading = passageCache.get(key);
	if (!reading) {
		const reader = new PassageReader(language, passage);
		for (const block of parsePassageBlocks(plainLines(passage.text))) {
			yield* reader.read(block);
			yield;
		}
		reading = reader.reading();
		passageCache.set(key, reading);
	}
	return reading;
}

class PassageReader {
	readonly #units: Unit[] = [];
	readonly #tables: Table[] = [];
	readonly #language: string | null;
	readonly #acronyms: readonly Acronym[];
	readonly #headings: Terms[];
	readonly #farTerms: Terms;
	#headingTerms: Terms;
	#topic = '';
	#topicTerms: Terms = NO_TERMS;
	#isQuestion = false;
	#topicDistance = 0;
	#block = 0;

	constructor(language: string | null, { title, heading_path, text }: QuotablePassage) {
		this.#language = language;
		this.#acronyms = definedAcronyms([title, ...heading_path, text].join('\n'));
		const innermost = heading_path.at(-1) ?? '';
		this.#headings = [title, innermost].map((name) => this.#terms(name));
		this.#farTerms = this.#terms([title, ...heading_path.slice(0, -1)].join('\n'));
		this.#headingTerms = this.#terms(innermost);
		if (innermost !== '') this.#startTopic(innermost);
	}

	reading(): PassageReading {
		return {
			language: this.#language,
			units: this.#units,
			tables: this.#tables,
			acronyms: this.#acronyms,
			headings: this.#headings,
		};
	}

	/** Yields within a long table. */
	*read(block: PassageBlock): Generator<void> {
		this.#block++;
		switch (block.kind) {
			case 'heading':
				this.#headingTerms = this.#terms(block.text);
				this.#startTopic(block.text);
				return;
			case 'prose':
				this.#prose(block.lines);
				return;
			case 'list':
				this.#list(block);
				return;
			case 'table':
				yield* this.#table(block);
				return;
			case 'code': {
				const text = block.lines.join('\n');
				if (text.trim() !== '') this.#add('code', text, { leadIn: this.#leadIn(), syntax: block.language });
			}
		}
	}

	#startTopic(text: string): void {
		this.#topic = text;
		this.#topicTerms = this.#terms(text);
		this.#isQuestion = QUESTION_ENDING.test(text);
		this.#topicDistance = 0;
	}

	#prose(joined: string[]): void {
		const lines = joined.flatMap(splitJoinedKeyLines);
		for (const [at, line] of lines.entries()) {
			const isName = at === 0 && isNameLine(line) && (lines.length === 1 || isAbove(line, lines[1] as string));
			if (isName || (QUESTION_ENDING.test(line) && sentences(line, this.#language).length === 1)) {
				this.#add('sentence', line, { isAnnouncement: true });
				this.#startTopic(line);
				continue;
			}
			const pair = splitKeyLine(line);
			if (pair && this.#isValue(pair.value)) this.#addPair(pair, {});
			else this.#sentences(line);
		}
	}

	#isValue(text: string): boolean {
		return text.length <= MAX_VALUE_CHARACTERS || sentences(text, this.#language).length === 1;
	}

	#sentences(line: string): void {
		for (const { text } of sentences(line, this.#language)) {
			for (const part of this.#clauses(text.trim())) {
				const isDependent = DEPENDENT_START.test(part) || SHORT_REPLY.test(part);
				this.#add('sentence', part, { isAnnouncement: QUESTION_ENDING.test(part), isDependent });
			}
		}
	}

	#list(block: Extract<PassageBlock, { kind: 'list' }>): void {
		const leadIn = this.#leadIn();
		for (const { text, number, depth } of block.items) {
			const more = { number, depth, leadIn, isListed: true };
			const pair = number === null ? splitKeyLine(text) : null;
			if (pair) this.#addPair(pair, more);
			else this.#add('item', text, more);
		}
	}

	#addPair({ key, value }: { key: string; value: string }, more: Partial<Unit>): void {
		this.#add('pair', value, {
			label: key,
			labelTerms: this.#terms(key),
			labelRanges: rangesIn(key, this.#language),
			...more,
		});
	}

	*#table({ header, rows }: Extract<PassageBlock, { kind: 'table' }>): Generator<void> {
		const width = Math.max(...rows.map((row) => row.length));
		// A table of names and values without a header.
		if (header === null && width === 2) {
			for (const [key = '', value = ''] of rows) {
				if (key !== '' && value !== '') this.#addPair({ key, value }, {});
				else this.#add('item', key + value, {});
			}
			return;
		}
		const cell = (text: string): Cell => ({ text, terms: this.#terms(text), ranges: rangesIn(text, this.#language) });
		const read: Cell[][] = [];
		for (const row of rows) {
			if (row.some((text) => text !== '')) read.push(row.map(cell));
			if (read.length % ROWS_PER_STEP === 0) yield;
		}
		const corner = header?.findIndex((name) => name !== '') ?? 0;
		this.#tables.push({
			...this.#surroundings(this.#leadIn()),
			header: header?.map(cell) ?? null,
			rows: read,
			labelColumns: labelColumnsOf(header, rows, Math.max(1, corner)),
		});
	}

	/** The sentence before, if its end introduces what follows. */
	#leadIn(): number | null {
		const last = this.#units.at(-1);
		return last?.kind === 'sentence' && COLON_ENDING.test(last.text) ? this.#units.length - 1 : null;
	}

	#clauses(sentence: string): string[] {
		if (sentence.length < MAX_SENTENCE_WORDS * 2 || analyse(sentence, this.#language).length <= MAX_SENTENCE_WORDS)
			return [sentence];
		const parts: string[] = [];
		let part = '';
		for (const clause of sentence.split(CLAUSE_END).flatMap(splitAtSpaces)) {
			part = part === '' ? clause : `${part}${/[、；]$/u.test(part) ? '' : ' '}${clause}`;
			if (analyse(part, this.#language).length >= MIN_CLAUSE_WORDS) {
				parts.push(part);
				part = '';
			}
		}
		if (part !== '') parts.push(part);
		return parts.map((text, i) => `${i > 0 ? '… ' : ''}${text}${i < parts.length - 1 ? ' …' : ''}`);
	}

	#terms(text: string): Terms {
		const calendar = readCalendar(spellAcronyms(text), this.#language);
		return new Set([...analyse(calendar.text, this.#language), ...calendar.terms]);
	}

	#surroundings(leadIn: number | null): Surroundings {
		const leadTerms = leadIn === null ? NO_TERMS : (this.#units[leadIn] as Unit).terms;
		return {
			topic: this.#topic,
			topicTerms: this.#topicTerms,
			isQuestion: this.#isQuestion,
			nearTerms: new Set([...this.#headingTerms, ...this.#topicTerms, ...leadTerms]),
			farTerms: this.#farTerms,
		};
	}

	#add(kind: Unit['kind'], text: string, more: Partial<Unit>): void {
		const terms = this.#terms(text);
		if (terms.size === 0 && !more.labelTerms?.size) return;
		this.#units.push({
			kind,
			label: '',
			labelTerms: NO_TERMS,
			labelRanges: [],
			text,
			terms,
			words: analyse(text, this.#language).length,
			...this.#surroundings(more.leadIn ?? null),
			block: this.#block,
			topicDistance: this.#topicDistance,
			isListed: false,
			number: null,
			depth: 0,
			leadIn: null,
			isAnnouncement: false,
			isDependent: false,
			syntax: '',
			...more,
		});
		this.#topicDistance++;
	}
}

/** A code or number stands before the name of the row. */
const NAME_HEADER =
	/^(?:name|item|product|article|title|part|bezeichnung|artikel|produkt|titel|nom|produit|désignation|nombre|producto|artículo|naam|nome|produto|prodotto|articolo|品名|商品名|الاسم)$/iu;

/** The number of first columns that name a row: as many as it takes to tell the rows apart, and at least `least`. */
function labelColumnsOf(header: readonly string[] | null, rows: readonly string[][], least: number): number {
	const width = Math.max(...rows.map((row) => row.length));
	const isUnique = (columns: number) =>
		new Set(rows.map((row) => row.slice(0, columns).join('\u0000'))).size === rows.length;
	let columns = least;
	while (columns < width - 1 && columns < MAX_LABEL_COLUMNS && !isUnique(columns)) columns++;
	if (!isUnique(columns)) columns = least;
	return columns < width - 1 && NAME_HEADER.test(header?.[columns] ?? '') ? columns + 1 : columns;
}

function isNameLine(line: string): boolean {
	return line.length < MAX_NAME_CHARACTERS && !SENTENCE_ENDING.test(line) && splitKeyLine(line) === null;
}

/** Whether a name stands above other lines: a key follows, or a longer line. */
function isAbove(name: string, next: string): boolean {
	return splitKeyLine(next) !== null || (name.length < MIN_LINE_CHARACTERS && name.length < next.length);
}

/** Splits text without full stops, at spaces where possible. */
function splitAtSpaces(clause: string): string[] {
	if (clause.length <= MAX_CLAUSE_CHARS) return [clause];
	return clause.match(/\S[\s\S]{1,299}(?=\s|$)|[\s\S]{1,300}/gu) ?? [];
}
