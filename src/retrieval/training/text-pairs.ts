import { type ChunkTerms, countTerms, sublinear } from '../semantic/features.ts';
import type { TextPair, WeightedTerms } from './contrastive-step.ts';
import { seededBelow, splitAtPiece } from './pseudo-queries.ts';

/** Chunks tried for one pair. */
const MAX_TRIES = 8;
const SEED = 20_261_123;

/** The trained terms: the row of each, and its weight. */
export interface TermRows {
	vocabulary: ReadonlyMap<string, number>;
	weights: Float32Array;
}

/** Draws pairs from the chunks, half of them titles, half of them pieces. */
export class PairSource {
	readonly #chunks: readonly ChunkTerms[];
	readonly #terms: TermRows;
	readonly #below = seededBelow(SEED);

	constructor(chunks: readonly ChunkTerms[], terms: TermRows) {
		this.#chunks = chunks;
		this.#terms = terms;
	}

	batch(size: number): TextPair[] {
		const pairs: TextPair[] = [];
		const used = new Set<number>();
		for (let tries = 0; pairs.length < size && tries < size * MAX_TRIES; tries++) {
			const index = this.#below(this.#chunks.length);
			if (used.has(index)) continue;
			const pair = this.#pairOf(this.#chunks[index] as ChunkTerms, pairs.length % 2 === 0, index);
			if (pair === null) continue;
			used.add(index);
			pairs.push(pair);
		}
		return pairs;
	}

	#pairOf(chunk: ChunkTerms, fromTitle: boolean, index: number): TextPair | null {
		if (fromTitle && chunk.title_terms !== '') {
			return this.#pair(
				{ title_terms: '', body_terms: chunk.title_terms },
				{ title_terms: '', body_terms: chunk.body_terms },
				chunk.title_terms,
			);
		}
		const split = splitAtPiece(chunk.body_terms.split(' '), this.#below);
		if (split === null) return null;
		return this.#pair(
			{ title_terms: '', body_terms: split.piece.join(' ') },
			{ title_terms: chunk.title_terms, body_terms: split.rest.join(' ') },
			`#${index}`,
		);
	}

	#pair(question: ChunkTerms, text: ChunkTerms, key: string): TextPair | null {
		const pair = { question: this.#weighted(question), text: this.#weighted(text), key };
		return pair.question.rows.length > 0 && pair.text.rows.length > 0 ? pair : null;
	}

	#weighted(text: ChunkTerms): WeightedTerms {
		const { vocabulary, weights } = this.#terms;
		const rows: number[] = [];
		const values: number[] = [];
		for (const [term, count] of countTerms(text)) {
			const row = vocabulary.get(term);
			if (row === undefined) continue;
			rows.push(row);
			values.push(sublinear(count) * (weights[row] as number));
		}
		return { rows: Uint32Array.from(rows), values: Float32Array.from(values) };
	}
}
