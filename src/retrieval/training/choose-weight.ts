import { STRONG_SEMANTIC_WEIGHT, WEAK_SEMANTIC_WEIGHT } from '../chosen-weights.ts';
import type { Basis } from '../semantic/basis.ts';
import { embedChunks, project } from '../semantic/embed.ts';
import { type ChunkTerms, countTerms, inverseFrequency } from '../semantic/features.ts';
import type { Piece } from './pseudo-queries.ts';

/**
 * The share of the keyword half's gain from which on the semantic half counts as better. It is below 1 because a piece
 * has the very words of its text, while the questions of people use others.
 */
const MIN_SEMANTIC_SHARE = 0.95;

/** The parameters of BM25, those of the full-text index. */
const K1 = 1.2;
const B = 0.75;

const CUTOFF = 10;

/**
 * The weight of the semantic half that suits a knowledge base: each held-out piece is searched in full text and by vectors, and
 * the half that finds more of the pieces' own chunks gets the greater weight.
 * @param chunks without the pieces, as the basis was trained on them
 * @returns null without pieces
 */
export function chooseSemanticWeight(
	basis: Basis,
	chunks: readonly ChunkTerms[],
	pieces: readonly Piece[],
): number | null {
	if (pieces.length === 0) return null;
	const keywords = new KeywordScores(
		chunks,
		pieces.flatMap(({ terms }) => terms),
	);
	const vectors = embedChunks(basis, chunks).vectors;
	let keyword = 0;
	let semantic = 0;
	for (const { chunk, terms } of pieces) {
		keyword += gainOf(keywords.of(terms), chunk);
		semantic += gainOf(cosinesOf(basis, vectors, terms), chunk);
	}
	return semantic >= MIN_SEMANTIC_SHARE * keyword ? STRONG_SEMANTIC_WEIGHT : WEAK_SEMANTIC_WEIGHT;
}

/** BM25 over chunks in memory, for the terms of some questions. */
class KeywordScores {
	readonly #chunks: number;
	readonly #lengths: Float64Array;
	readonly #meanLength: number;
	/** For each asked term its chunks, each followed by the count in it: an object for each would take many times the memory. */
	readonly #postings: ReadonlyMap<string, number[]>;

	constructor(chunks: readonly ChunkTerms[], asked: Iterable<string>) {
		this.#chunks = chunks.length;
		this.#lengths = new Float64Array(chunks.length);
		this.#postings = new Map(Array.from(asked, (term) => [term, []]));
		let sum = 0;
		for (const [chunk, text] of chunks.entries()) {
			for (const [term, count] of countTerms(text)) {
				(this.#lengths[chunk] as number) += count;
				this.#postings.get(term)?.push(chunk, count);
			}
			sum += this.#lengths[chunk] as number;
		}
		this.#meanLength = sum / (chunks.length || 1) || 1;
	}

	of(terms: readonly string[]): Float64Array {
		const scores = new Float64Array(this.#chunks);
		for (const term of terms) {
			const postings = this.#postings.get(term) ?? [];
			const weight = inverseFrequency(postings.length / 2, this.#chunks);
			for (let at = 0; at < postings.length; at += 2) {
				const chunk = postings[at] as number;
				const count = postings[at + 1] as number;
				const length = (this.#lengths[chunk] as number) / this.#meanLength;
				(scores[chunk] as number) += (weight * count * (K1 + 1)) / (count + K1 * (1 - B + B * length));
			}
		}
		return scores;
	}
}

/** The cosine of each stored vector with a piece. All vectors have about the same length in eight bits, but not exactly. */
function cosinesOf(basis: Basis, vectors: Int8Array, terms: readonly string[]): Float64Array {
	const width = basis.dimensions;
	const { direction } = project(basis, countTerms({ title_terms: '', body_terms: terms.join(' ') }));
	const cosines = new Float64Array(vectors.length / width);
	for (let chunk = 0; chunk < cosines.length; chunk++) {
		const from = chunk * width;
		let sum = 0;
		let square = (vectors[from + width - 1] as number) ** 2;
		for (let i = 0; i < width - 1; i++) {
			const value = vectors[from + i] as number;
			sum += value * (direction[i] as number);
			square += value * value;
		}
		cosines[chunk] = sum / Math.sqrt(square || 1);
	}
	return cosines;
}

/** nDCG@10 of a ranking in which only one chunk is relevant. Of equal chunks, half come first. */
function gainOf(scores: Float64Array, relevant: number): number {
	const score = scores[relevant] as number;
	if (score <= 0) return 0;
	let first = -0.5;
	for (const other of scores) {
		if (other > score) first++;
		else if (other === score) first += 0.5;
	}
	return first < CUTOFF ? 1 / Math.log2(first + 2) : 0;
}
