import { type ChunkTerms, countTerms } from '../semantic/features.ts';
import { seededNoise } from './random.ts';

/** Pieces held out of the chunks. More would make the choice no better. */
const MAX_PIECES = 300;
/** With fewer pieces the difference of the halves is noise, and nothing is held out. */
const MIN_PIECES = 10;
/** The share of the chunks that lose a piece, at most: all others train with all their words. */
const MAX_SHARE = 0.25;
/** The number of words of a piece. */
const MIN_PIECE_WORDS = 6;
const MAX_PIECE_WORDS = 13;
/** A piece is at most this share of its chunk. */
const MAX_PIECE_SHARE = 1 / 3;
/** Chunks tried for one piece. */
const MAX_TRIES = 4;
const SEED = 20_261_124;

/** A piece of a chunk that stands for a question, which the rest of the chunk answers. */
export interface Piece {
	/** The position of its chunk. */
	chunk: number;
	terms: string[];
}

/** Draws random numbers below a limit, repeatably. */
export function seededBelow(seed: number): (limit: number) => number {
	const noise = seededNoise(seed);
	return (limit) => Math.min(limit - 1, Math.floor(((noise() + 1) / 2) * limit));
}

/** A random piece of at least `MIN_PIECE_WORDS` words, and the words around it; null if there are too few. */
export function splitAtPiece(
	words: readonly string[],
	below: (limit: number) => number,
): { piece: string[]; rest: string[] } | null {
	const longest = Math.min(MAX_PIECE_WORDS, Math.floor(words.length * MAX_PIECE_SHARE));
	if (longest < MIN_PIECE_WORDS) return null;
	const length = MIN_PIECE_WORDS + below(longest - MIN_PIECE_WORDS + 1);
	const from = below(words.length - length + 1);
	return {
		piece: words.slice(from, from + length),
		rest: [...words.slice(0, from), ...words.slice(from + length)],
	};
}

/**
 * The chunks without the pieces that were taken out of some of them, to measure on text that was not trained on. A word that
 * no other chunk has stays in its chunk and is left out of the piece, because neither half could find the chunk by it, and the
 * basis would not have the word.
 */
export function holdOutPieces(all: readonly ChunkTerms[]): { chunks: ChunkTerms[]; pieces: Piece[] } {
	const most = Math.min(MAX_PIECES, Math.floor(all.length * MAX_SHARE));
	const none = { chunks: [...all], pieces: [] };
	if (most < MIN_PIECES) return none;
	const below = seededBelow(SEED);
	const chunks = [...all];
	const pieces: Piece[] = [];
	const chunksWith = countChunksWithTerms(all);
	const tried = new Set<number>();
	for (let tries = 0; pieces.length < most && tries < most * MAX_TRIES; tries++) {
		const chunk = below(chunks.length);
		if (tried.has(chunk)) continue;
		tried.add(chunk);
		const { title_terms, body_terms } = chunks[chunk] as ChunkTerms;
		const split = splitAtPiece(body_terms.split(' '), below);
		if (split === null) continue;
		const terms = split.piece.filter((term) => (chunksWith.get(term) as number) > 1);
		const unique = split.piece.filter((term) => (chunksWith.get(term) as number) <= 1);
		for (const term of new Set(terms)) chunksWith.set(term, (chunksWith.get(term) as number) - 1);
		chunks[chunk] = { title_terms, body_terms: [...split.rest, ...unique].join(' ') };
		pieces.push({ chunk, terms });
	}
	return pieces.length < MIN_PIECES ? none : { chunks, pieces };
}

/** The number of chunks that have each term. */
function countChunksWithTerms(chunks: readonly ChunkTerms[]): Map<string, number> {
	const counts = new Map<string, number>();
	for (const chunk of chunks) {
		for (const term of countTerms(chunk).keys()) counts.set(term, (counts.get(term) ?? 0) + 1);
	}
	return counts;
}
