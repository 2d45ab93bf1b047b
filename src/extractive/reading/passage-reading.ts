import type { Acronym } from '../../text/index.ts';
import type { NumberRange } from './ranges.ts';

/** `Yes.`, `Nein, …`: a sentence that repeats nothing of its question. */
export const SHORT_REPLY = /^(yes|no|ja|nein|oui|non|sí|si|nee|sim|não|sì|はい|いいえ|نعم|لا)(?![\p{L}\p{N}])/iu;
/** The end of a question, in any script. */
export const QUESTION_ENDING = /[?？؟]["'”’»)\]」』]*$/u;

/** Analysed words. */
export type Terms = ReadonlySet<string>;

/** What a unit or table stands under. Words near it count more than those of the title. */
export interface Surroundings {
	/** The name above it in the text: a line, a question of a list of questions, a heading. Empty without one. */
	topic: string;
	topicTerms: Terms;
	/** The topic is a question, so what follows is its answer. */
	isQuestion: boolean;
	/** The words of the topic, of the lead-in, and of the innermost heading. */
	nearTerms: Terms;
	/** The words of the title and of the outer headings. */
	farTerms: Terms;
}

/** A sentence, an item of a list, a key with its value, or a listing: the smallest part of a text that can answer. */
export interface Unit extends Surroundings {
	kind: 'sentence' | 'item' | 'pair' | 'code';
	/** The key of a pair, the term of a definition; empty without one. */
	label: string;
	labelTerms: Terms;
	labelRanges: readonly NumberRange[];
	/** The text of the document, on one line (code: on several), without the label. */
	text: string;
	terms: Terms;
	words: number;
	/** The number of its block within the passage. */
	block: number;
	/** How many units stand between it and its topic. */
	topicDistance: number;
	/** Whether it is an item of a list; its number (null with a bullet) and depth. */
	isListed: boolean;
	number: number | null;
	depth: number;
	/** The position of the unit that introduces its list (`You need:`); null without one. */
	leadIn: number | null;
	/** A heading-like line or a question: it announces what follows, but answers nothing. */
	isAnnouncement: boolean;
	/** Refers to the sentence before: `This takes two days.` */
	isDependent: boolean;
	/** The language of a code block; empty for any other unit. */
	syntax: string;
}

/** A cell of a table. */
export interface Cell {
	text: string;
	terms: Terms;
	ranges: readonly NumberRange[];
}

/** A table, whose cells are read by the names of their row and column. */
export interface Table extends Surroundings {
	/** The names of the columns; null without a header. */
	header: Cell[] | null;
	rows: Cell[][];
	/** The first columns, which name the rows. */
	labelColumns: number;
}

/** A passage as typed parts. */
export interface PassageReading {
	/** ISO 639-1; null if it is unknown. */
	language: string | null;
	units: Unit[];
	tables: Table[];
	/** The acronyms that it defines. */
	acronyms: readonly Acronym[];
	/** The analysed words of the title, then of the innermost heading. */
	headings: Terms[];
}
