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

/** The pieces of a section's blocks, in order. */
export function piecesOf(blocks: BodyBlock[], language: string | null): Piece[] {
	const pieces: Piece[] = [];
	let header: string | null = null;
	for (const [index, block] of blocks.entries()) {
		const previous = blocks[index - 1];
		const together = previous?.kind === block.kind && (block.kind === 'item' || block.kind === 'row');
		const before = together && block.table === undefined ? '\n' : '\n\n';
		if (block.kind !== 'row' || block.table !== undefined) header = null;
		if (block.kind === 'code') addLines(pieces, block, before);
		else if (block.kind === 'row') add(pieces, block, block.text, before, header);
		else addSentences(pieces, block, before, language);
		if (block.table?.header === true) header = block.text;
	}
	return pieces;
}

function addSentences(pieces: Piece[], block: BodyBlock, before: string, language: string | null): void {
	let last = 0;
	for (const { text, start, end } of sentences(block.text, language)) {
		const between = block.text.slice(last, start);
		add(pieces, block, text, last === 0 ? before : between.includes('\n') ? '\n' : between === '' ? '' : ' ', null);
		last = end;
	}
}

/** A short listing stays whole; a long one is cut between lines. */
function addLines(pieces: Piece[], block: BodyBlock, before: string): void {
	if (countWords(block.text) <= LONGEST_PIECE) {
		add(pieces, block, block.text, before, null);
		return;
	}
	let separator = before;
	for (const line of block.text.split('\n')) {
		if (line.trim() === '') separator += separator === before ? '' : '\n';
		else {
			add(pieces, block, line.trimEnd(), separator, null);
			separator = '\n';
		}
	}
}

/** Adds a piece, in parts where it is too long. */
function add(pieces: Piece[], block: BodyBlock, text: string, before: string, header: string | null): void {
	const { page } = block;
	const prose = block.kind !== 'row' && block.kind !== 'code';
	const words = countWords(text);
	if (words <= LONGEST_PIECE) {
		pieces.push({ text, words, page, before, prose, header });
		return;
	}
	const spaced = /\s/.test(text) ? ' ' : '';
	for (const [index, part] of splitWords(text, LONGEST_PIECE).entries()) {
		pieces.push({ text: part, words: countWords(part), page, before: index === 0 ? before : spaced, prose, header });
	}
}
