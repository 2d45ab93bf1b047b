import type { Piece } from './pieces.ts';

/** Words a chunk has at most, repeated ones aside, and about how many it should have. */
const MOST = 300;
const TARGET = 250;
/** How much of the end of a chunk the next one repeats at most. */
const OVERLAP = 40;
const OVERLAP_SENTENCES = 2;
/** From this share of its goal on, a chunk ends where a paragraph does. */
const NEARLY_FULL = 0.8;

/** Packs the pieces of one section into chunks of about the same size, ending at paragraphs where that is near. */
export function pack(pieces: Piece[]): Piece[][] {
	const chunks: Piece[][] = [];
	let left = pieces.reduce((sum, piece) => sum + piece.words, 0);
	let chunk: Piece[] = [];
	let words = 0;
	let goal = goalOf(left);
	for (const piece of pieces) {
		const full = words >= goal || (words >= NEARLY_FULL * goal && piece.before === '\n\n');
		if (chunk.length > 0 && (words + piece.words > MOST || (full && left > goal * 0.2))) {
			chunks.push(chunk);
			chunk = opening(chunk, piece);
			words = 0;
			goal = goalOf(left);
		}
		chunk.push(piece);
		words += piece.words;
		left -= piece.words;
	}
	if (chunk.length > 0) chunks.push(chunk);
	return chunks;
}

/** The text of a chunk. */
export function textOf(chunk: Piece[]): string {
	let text = '';
	for (const [index, piece] of chunk.entries()) text += (index === 0 ? '' : piece.before) + piece.text;
	return text;
}

/** What is left in equal parts, none larger than a chunk may be. */
function goalOf(words: number): number {
	return words <= MOST ? MOST : words / Math.ceil(words / TARGET);
}

/** What a chunk repeats of the one before it: the end of running text, or the names of a table's columns. */
function opening(before: Piece[], next: Piece): Piece[] {
	if (next.header !== null) {
		return [{ ...next, text: next.header, header: null, words: 0 }];
	}
	const repeated: Piece[] = [];
	let words = 0;
	for (const piece of before.toReversed()) {
		words += piece.words;
		if (!next.prose || !piece.prose || words > OVERLAP || repeated.length === OVERLAP_SENTENCES) break;
		repeated.unshift(piece);
	}
	return repeated.length < before.length ? repeated : [];
}
