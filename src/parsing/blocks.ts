import type { DocumentFormat } from '../contract/index.ts';

/** A heading; `level` counts from 1, the outermost. */
export interface HeadingBlock {
	kind: 'heading';
	level: number;
	text: string;
	/** The page it stands on, from 1; null where the format has no pages. */
	page: number | null;
}

/** Content under headings. Line breaks in `text` are intentional; the wrapping of paragraphs is removed. */
export interface BodyBlock {
	/** `row` is one row of a table, its cells separated by ` | `. A row that begins or ends with a bar has an empty cell there. */
	kind: 'paragraph' | 'item' | 'row' | 'code' | 'quote';
	text: string;
	/** The page on which it begins, from 1; null where the format has no pages. */
	page: number | null;
	/**
	 * Only on the first row of a table: `header` is true if the row names the columns. `caption` is the text of the block before
	 * it, if that one names the table or a group of its rows.
	 */
	table?: { header: boolean; caption?: string };
}

/** A block of a document. Parsers return a flat list of blocks in reading order, and the chunker reads it. */
export type Block = HeadingBlock | BodyBlock;

/** The result of every parser. */
export interface ExtractedDocument {
	format: DocumentFormat;
	/** The title in the file; null if there is none. */
	title: string | null;
	/** The language that the file declares, ISO 639-1; null if it declares none. */
	declared_language: string | null;
	page_count: number | null;
	/** Whether it has, or may have, scanned pages whose text was not read. */
	has_scans?: boolean;
	/** A sentence about text of the file that is not in the blocks. */
	missing_text?: string;
	blocks: Block[];
}

/** Data beside the bytes of the document. */
export interface DocumentSource {
	/** The file name that the uploader gave. */
	file_name: string | null;
	/** Its Content-Type, parameters included. */
	content_type: string | null;
	/** The URL that the document came from. */
	url: string | null;
}

const INVISIBLE_CHARACTERS = /(?![\t\n])\p{Cc}|[\u00ad\ufeff\ufffe\uffff]/gu;

/** Text without invisible characters: control characters, soft hyphens, byte order marks, halves of surrogate pairs. */
export function stripInvisible(text: string): string {
	return text.replace(INVISIBLE_CHARACTERS, '').replace(/\p{Cs}/gu, '\ufffd');
}

/** Visible text on one line, each run of white space as one space. */
export function toSingleLine(text: string): string {
	return stripInvisible(text.replace(/\s+/gu, ' ')).trim();
}

/** The first part of a language tag ("en-GB") if it is a two-letter code. */
export function languageOf(tag: string | null | undefined): string | null {
	const match = /^([a-z]{2})(?:[-_].*)?$/i.exec(tag?.trim() ?? '');
	return match?.[1]?.toLowerCase() ?? null;
}
