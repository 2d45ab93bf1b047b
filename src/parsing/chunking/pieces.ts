import { sentences } from '../../text/index.ts';
import type { BodyBlock } from '../blocks.ts';
import { countWords, splitWords } from './words.ts';

/** The smallest part of a section that is not divided: a sentence, a row, a line. */
export interface Piece {
	text: string;
	words: number;
	page: number | null;
	/** The separator from the previous piece in the same chunk. */
	separator: string;
	/** Running text, which the next chunk may repeat. */
	isProse: boolean;
	/** On the other rows of a table: its caption and its header row. */
	header: string | null;
	/** It introduces the next piece: a caption, a header row, a question, a line that ends with a colon. It does not end a chunk. */
	introduces: boolean;
}

/** A longer sentence cannot be quoted; it is cut between words. */
const MAX_PIECE_WORDS = 120;

/** A longer header row is not repeated with each part of its table. */
const MAX_HEADER_WORDS = 120;
const MAX_CAPTION_WORDS = 30;

/** The pieces of a section's blocks, in order. A generator, because a section may be a whole document. */
export function* piecesOf(blocks: BodyBlock[], language: string | null): Generator<Piece> {
	let header: string | null = null;
	for (const [index, block] of blocks.entries()) {
		const previous = blocks[index - 1];
		const isSameRun = previous?.kind === block.kind && (block.kind === 'item' || block.kind === 'row');
		const separator = isSameRun && block.table === undefined ? '\n' : '\n\n';
		if (block.kind !== 'row' || block.table !== undefined) header = null;
		const isCaption = block.kind === 'paragraph' && blocks[index + 1]?.table?.caption === block.text;
		if (block.kind === 'code') yield* linePieces(block, separator);
		else if (block.kind === 'row') yield* splitPiece(block, block.text, separator, header);
		else yield* sentencePieces(block, separator, language, isCaption);
		if (block.table !== undefined) header = repeatedHeader(block);
	}
}

/** The text that each further chunk of a table begins with. */
function repeatedHeader({ text, table }: BodyBlock): string | null {
	const header = table?.header === true && countWords(text) <= MAX_HEADER_WORDS ? text : null;
	const caption = table?.caption;
	if (caption === undefined || countWords(caption) > MAX_CAPTION_WORDS) return header;
	return header === null ? caption : `${caption}\n\n${header}`;
}

const INTRODUCTION = /[:?：？؟]["'”’»)]?$/u;

function* sentencePieces(
	block: BodyBlock,
	separator: string,
	language: string | null,
	isCaption: boolean,
): Generator<Piece> {
	let last = 0;
	for (const { text, start, end } of sentences(block.text, language)) {
		const between = block.text.slice(last, start);
		yield* splitPiece(
			block,
			text,
			last === 0 ? separator : between.includes('\n') ? '\n' : between === '' ? '' : ' ',
			null,
			isCaption || INTRODUCTION.test(text),
		);
		last = end;
	}
}

/** A short listing stays whole; a long one is cut between lines. */
function* linePieces(block: BodyBlock, firstSeparator: string): Generator<Piece> {
	if (countWords(block.text) <= MAX_PIECE_WORDS) {
		yield* splitPiece(block, block.text, firstSeparator, null);
		return;
	}
	let separator = firstSeparator;
	for (const line of block.text.split('\n')) {
		if (line.trim() === '') separator = separator === firstSeparator ? firstSeparator : '\n\n';
		else {
			yield* splitPiece(block, line.trimEnd(), separator, null);
			separator = '\n';
		}
	}
}

/** A piece, in parts if it is too long. */
function* splitPiece(
	block: BodyBlock,
	text: string,
	firstSeparator: string,
	header: string | null,
	introduces = block.table?.header === true,
): Generator<Piece> {
	const { page } = block;
	const isProse = block.kind !== 'row' && block.kind !== 'code';
	const words = countWords(text);
	if (words <= MAX_PIECE_WORDS) {
		yield { text, words, page, separator: firstSeparator, isProse, header, introduces };
		return;
	}
	const spaced = /\s/.test(text) ? ' ' : '';
	let separator = firstSeparator;
	for (const part of splitWords(text, MAX_PIECE_WORDS)) {
		yield { text: part, words: countWords(part), page, separator, isProse, header, introduces };
		separator = spaced;
	}
}
