import type { DocumentFormat } from '../contract/index.ts';

/** A heading; `level` counts from 1, the outermost. */
export interface HeadingBlock {
	kind: 'heading';
	level: number;
	text: string;
	/** The page it stands on, from 1; null where the format has no pages. */
	page: number | null;
}

/** What stands under headings. Line breaks in `text` are meant; a paragraph's own wrapping is gone. */
export interface BodyBlock {
	/** `row` is one row of a table, its cells separated by ` | `. */
	kind: 'paragraph' | 'item' | 'row' | 'code' | 'quote';
	text: string;
	/** The page on which it begins, from 1; null where the format has no pages. */
	page: number | null;
	/** On a row: it begins a table, and `header` tells whether it names the columns. */
	table?: { header: boolean };
}

/** The form between parsers and chunker: a document as a flat list in reading order. */
export type Block = HeadingBlock | BodyBlock;

/** What every parser makes of a file. */
export interface ExtractedDocument {
	format: DocumentFormat;
	/** The title that the file itself gives; null where it gives none. */
	title: string | null;
	/** The language that the file declares, ISO 639-1; null where it declares none. */
	declared_language: string | null;
	page_count: number | null;
	blocks: Block[];
}

/** What came with the bytes. */
export interface DocumentSource {
	/** What the uploader called the file. */
	file_name: string | null;
	/** Its Content-Type, parameters included. */
	content_type: string | null;
	/** The address that it came from. */
	url: string | null;
}

const INVISIBLE_CHARACTERS = /(?![\t\n])\p{Cc}|[\u00ad\ufeff\ufffe\uffff]/gu;

/** Text without what no reader sees: control characters, soft hyphens, byte order marks, halves of surrogate pairs. */
export function stripInvisible(text: string): string {
	return text.replace(INVISIBLE_CHARACTERS, '').replace(/\p{Cs}/gu, '\ufffd');
}

/** The same on one line, each run of white space a single space. */
export function toSingleLine(text: string): string {
	return stripInvisible(text.replace(/\s+/gu, ' ')).trim();
}

/** The first part of a language tag ("en-GB") where it is a two-letter code. */
export function languageOf(tag: string | null | undefined): string | null {
	const match = /^([a-z]{2})(?:[-_].*)?$/i.exec(tag?.trim() ?? '');
	return match?.[1]?.toLowerCase() ?? null;
}
