import type { Piece } from './pieces.ts';

/** The maximum and the target number of words of a chunk, without repeated ones. */
const MAX_WORDS = 300;
const TARGET_WORDS = 250;
/** The maximum overlap of a chunk with the previous one. */
const MAX_OVERLAP_WORDS = 40;
const MAX_OVERLAP_SENTENCES = 2;
/** The maximum that moves to the next chunk because it introduces it. */
const MAX_INTRODUCTION_WORDS = 120;
const MAX_INTRODUCTION_PIECES = 3;
/** From this share of its target on, a chunk ends at the end of a paragraph. */
const PARAGRAPH_BREAK_FILL = 0.8;

/** Words that are read ahead, to divide the rest of a section into equal parts. Longer rests are divided as if they had this many. */
const LOOKAHEAD_WORDS = 100 * TARGET_WORDS;

/**
 * Packs the pieces of one section into chunks of about the same size that end at paragraphs if possible. It holds only one
 * chunk and the pieces that were read ahead.
 */
export function* pack(pieces: Iterable<Piece>): Generator<Piece[]> {
	const lookahead = new PieceLookahead(pieces);
	let chunk: Piece[] = [];
	let words = 0;
	let targetWords = targetWordsOf(lookahead.fill());
	for (let piece = lookahead.next(); piece !== undefined; piece = lookahead.next()) {
		const remainingWords = lookahead.words + piece.words;
		const isFull = words >= targetWords || (words >= PARAGRAPH_BREAK_FILL * targetWords && piece.separator === '\n\n');
		if (chunk.length > 0 && (words + piece.words > MAX_WORDS || (isFull && remainingWords > targetWords * 0.2))) {
			const introduction = takeIntroduction(chunk);
			yield chunk;
			chunk = introduction.length > 0 ? introduction : overlapOf(chunk, piece);
			words = introduction.reduce((sum, { words }) => sum + words, 0);
			targetWords = targetWordsOf(lookahead.fill() + piece.words);
		}
		chunk.push(piece);
		words += piece.words;
	}
	if (chunk.length > 0) yield chunk;
}

/** The next pieces and their number of words. */
class PieceLookahead {
	words = 0;
	readonly #source: Iterator<Piece>;
	readonly #pieces: Piece[] = [];
	#index = 0;
	#done = false;

	constructor(pieces: Iterable<Piece>) {
		this.#source = pieces[Symbol.iterator]();
	}

	/** Reads ahead until there are enough words; returns their number. */
	fill(): number {
		if (this.#index > this.#pieces.length / 2) {
			this.#pieces.splice(0, this.#index);
			this.#index = 0;
		}
		while (!this.#done && this.words < LOOKAHEAD_WORDS) {
			const { done, value } = this.#source.next();
			if (done) this.#done = true;
			else {
				this.#pieces.push(value);
				this.words += value.words;
			}
		}
		return this.words;
	}

	next(): Piece | undefined {
		if (this.#index === this.#pieces.length) this.fill();
		const piece = this.#pieces[this.#index++];
		if (piece !== undefined) this.words -= piece.words;
		return piece;
	}
}

/** The text of a chunk. */
export function textOf(chunk: Piece[]): string {
	let text = '';
	for (const [index, piece] of chunk.entries()) text += (index === 0 ? '' : piece.separator) + piece.text;
	return text;
}

/** The size of equal parts of the rest, at most the maximum of a chunk. */
function targetWordsOf(words: number): number {
	return words <= MAX_WORDS ? MAX_WORDS : words / Math.ceil(words / TARGET_WORDS);
}

/** Takes the pieces off the end of a chunk that introduce the next piece. Some piece stays. */
function takeIntroduction(chunk: Piece[]): Piece[] {
	const taken: Piece[] = [];
	let words = 0;
	while (chunk.length > 1 && taken.length < MAX_INTRODUCTION_PIECES) {
		const last = chunk.at(-1) as Piece;
		words += last.words;
		if (!last.introduces || words > MAX_INTRODUCTION_WORDS) break;
		taken.unshift(last);
		chunk.pop();
	}
	return taken;
}

/** The overlap with the previous chunk: the end of running text, or the header row of a table. */
function overlapOf(previous: Piece[], next: Piece): Piece[] {
	if (next.header !== null) {
		return [{ ...next, text: next.header, header: null, words: 0, introduces: false }];
	}
	const repeated: Piece[] = [];
	let words = 0;
	for (const piece of previous.toReversed()) {
		words += piece.words;
		if (!next.isProse || !piece.isProse || words > MAX_OVERLAP_WORDS || repeated.length === MAX_OVERLAP_SENTENCES)
			break;
		repeated.unshift(piece);
	}
	return repeated.length < previous.length ? repeated : [];
}
