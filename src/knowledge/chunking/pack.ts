import type { Piece } from './pieces.ts';

/** Words a chunk has at most, repeated ones aside, and about how many it should have. */
const MOST = 300;
const TARGET = 250;
/** How much of the end of a chunk the next one repeats at most. */
const OVERLAP = 40;
const OVERLAP_SENTENCES = 2;
/** From this share of its goal on, a chunk ends where a paragraph does. */
const NEARLY_FULL = 0.8;

/** Words that are read ahead, to divide what is left into equal parts. Longer sections are divided as if they had this many. */
const AHEAD = 100 * TARGET;

/**
 * Packs the pieces of one section into chunks of about the same size, ending at paragraphs where that is near. Holds no more
 * than one chunk and what is read ahead.
 */
export function* pack(pieces: Iterable<Piece>): Generator<Piece[]> {
	const ahead = new ReadAhead(pieces);
	let chunk: Piece[] = [];
	let words = 0;
	let goal = goalOf(ahead.fill());
	for (let piece = ahead.next(); piece !== undefined; piece = ahead.next()) {
		const left = ahead.words + piece.words;
		const full = words >= goal || (words >= NEARLY_FULL * goal && piece.before === '\n\n');
		if (chunk.length > 0 && (words + piece.words > MOST || (full && left > goal * 0.2))) {
			yield chunk;
			chunk = opening(chunk, piece);
			words = 0;
			goal = goalOf(ahead.fill() + piece.words);
		}
		chunk.push(piece);
		words += piece.words;
	}
	if (chunk.length > 0) yield chunk;
}

/** The next pieces, and how many words they have. */
class ReadAhead {
	words = 0;
	readonly #source: Iterator<Piece>;
	readonly #pieces: Piece[] = [];
	#at = 0;
	#done = false;

	constructor(pieces: Iterable<Piece>) {
		this.#source = pieces[Symbol.iterator]();
	}

	/** Reads until there are words enough; returns how many there are. */
	fill(): number {
		if (this.#at > this.#pieces.length / 2) {
			this.#pieces.splice(0, this.#at);
			this.#at = 0;
		}
		while (!this.#done && this.words < AHEAD) {
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
		if (this.#at === this.#pieces.length) this.fill();
		const piece = this.#pieces[this.#at++];
		if (piece !== undefined) this.words -= piece.words;
		return piece;
	}
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
