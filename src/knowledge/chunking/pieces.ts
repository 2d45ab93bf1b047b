import { sentences } from '../../text/index.ts';
import type { BodyBlock } from '../parsing/index.ts';
import { countWords, splitWords } from './words.ts';

/** The smallest part of a section that a chunk holds whole: a sentence, a row, a line. */
export interface Piece {
	text: string;
	words: number;
	page: number | null;
	/** What separates it from the piece before it in the same chunk. */
	before: string;
	/** Running text, which may be repeated where the next chunk begins. */
	prose: boolean;
	/** The row that names the columns, on the other rows of its table. */
	header: string | null;
}

/** A sentence longer than this is no sentence that could be quoted; it is cut between words. */
const LONGEST_PIECE = 120;

/** A row that names columns is repeated with each part of its table, unless it is longer than this. */
const LONGEST_HEADER = 120;

/** The pieces of a section's blocks, in order. They are made as they are taken: a section may be a whole document. */
export function* piecesOf(blocks: BodyBlock[], language: string | null): Generator<Piece> {
	let header: string | null = null;
	for (const [index, block] of blocks.entries()) {
		const previous = blocks[index - 1];
		const together = previous?.kind === block.kind && (block.kind === 'item' || block.kind === 'row');
		const before = together && block.table === undefined ? '\n' : '\n\n';
		if (block.kind !== 'row' || block.table !== undefined) header = null;
		if (block.kind === 'code') yield* lineParts(block, before);
		else if (block.kind === 'row') yield* parts(block, block.text, before, header);
		else yield* sentenceParts(block, before, language);
		if (block.table?.header === true) header = countWords(block.text) <= LONGEST_HEADER ? block.text : null;
	}
}

function* sentenceParts(block: BodyBlock, before: string, language: string | null): Generator<Piece> {
	let last = 0;
	for (const { text, start, end } of sentences(block.text, language)) {
		const between = block.text.slice(last, start);
		yield* parts(block, text, last === 0 ? before : between.includes('\n') ? '\n' : between === '' ? '' : ' ', null);
		last = end;
	}
}

/** A short listing stays whole; a long one is cut between lines. */
function* lineParts(block: BodyBlock, before: string): Generator<Piece> {
	if (countWords(block.text) <= LONGEST_PIECE) {
		yield* parts(block, block.text, before, null);
		return;
	}
	let separator = before;
	for (const line of block.text.split('\n')) {
		if (line.trim() === '') separator = separator === before ? before : '\n\n';
		else {
			yield* parts(block, line.trimEnd(), separator, null);
			separator = '\n';
		}
	}
}

/** A piece, in parts where it is too long. */
function* parts(block: BodyBlock, text: string, before: string, header: string | null): Generator<Piece> {
	const { page } = block;
	const prose = block.kind !== 'row' && block.kind !== 'code';
	const words = countWords(text);
	if (words <= LONGEST_PIECE) {
		yield { text, words, page, before, prose, header };
		return;
	}
	const spaced = /\s/.test(text) ? ' ' : '';
	let separator = before;
	for (const part of splitWords(text, LONGEST_PIECE)) {
		yield { text: part, words: countWords(part), page, before: separator, prose, header };
		separator = spaced;
	}
}
