import { type Basis, quantiseRows } from '../semantic/basis.ts';
import { type ChunkTerms, inverseFrequency, sublinear } from '../semantic/features.ts';
import { chooseSemanticWeight } from './choose-weight.ts';
import { fineTune } from './fine-tune.ts';
import { principalDirections } from './principal-directions.ts';
import { holdOutPieces } from './pseudo-queries.ts';
import type { SparseMatrix } from './sparse-matrix.ts';
import { countTermsOfChunks, type TermCounts } from './term-counts.ts';

/** With the value for the length, 256 values for each vector. More directions improve little and make a search slower. */
const MAX_DIRECTIONS = 255;

/** Larger knowledge bases are trained on an even sample, which gives an equally good basis. */
const MAX_SAMPLE_CHUNKS = 20_000;

/** From this many chunks on, a term of a single chunk is left out, because it relates no two chunks. */
const RARE_TERM_CUTOFF_CHUNKS = 5000;

/** The maximum number of terms, the most frequent ones: 16 MB of directions. */
const MAX_TERMS = 64_000;

/** A basis, and the weight of the semantic half that it deserves in a search; null with too little text to measure it. */
export interface TunedBasis {
	basis: Basis;
	semanticWeight: number | null;
}

/**
 * Trains a basis on the chunks of a knowledge base: the strongest directions of its weighted chunk × term matrix.
 * Deterministic: the same chunks in the same order give the same bytes.
 */
export function trainBasis(chunks: readonly ChunkTerms[]): Basis {
	return train(chunks, false);
}

/**
 * Trains a basis as `trainBasis` does, then tunes its directions on pairs of texts, which takes several times as long.
 * Deterministic.
 */
export function trainTunedBasis(all: readonly ChunkTerms[]): TunedBasis {
	const sample = all.length > MAX_SAMPLE_CHUNKS ? sampleOf(all, MAX_SAMPLE_CHUNKS) : all;
	const { chunks, pieces } = holdOutPieces(sample);
	const basis = train(chunks, true);
	return { basis, semanticWeight: chooseSemanticWeight(basis, chunks, pieces) };
}

function train(chunks: readonly ChunkTerms[], tune: boolean): Basis {
	const sample = countTermsOfChunks(chunks, Math.max(1, chunks.length / MAX_SAMPLE_CHUNKS));
	const { vocabulary, rowOf, chunkCounts } = chooseVocabulary(sample);
	const weights = Float32Array.from(chunkCounts, (count) => inverseFrequency(count, sample.chunks));
	const unknown_weight = inverseFrequency(0, sample.chunks);

	const { matrix, mean_length } = weightedMatrix(sample, rowOf, weights, unknown_weight);
	const { width, values } = principalDirections(matrix, MAX_DIRECTIONS);
	const dimensions = Math.max(1, width) + 1;
	const rows = width === 0 ? new Float32Array(vocabulary.size) : values;
	// Tuning makes rows longer, so their reach is measured before.
	const reaches = rowLengths(rows, dimensions - 1);
	if (tune && width > 0) fineTune(rows, width, chunks, { vocabulary, weights });
	return {
		dimensions,
		vocabulary,
		weights,
		unknown_weight,
		mean_length,
		mean_reach: meanReach(matrix, reaches),
		reaches,
		...quantiseRows(rows, dimensions - 1),
	};
}

/** An even sample. */
function sampleOf(chunks: readonly ChunkTerms[], size: number): ChunkTerms[] {
	return Array.from({ length: size }, (_, i) => chunks[Math.floor((i * chunks.length) / size)] as ChunkTerms);
}

/** The length of each row. */
function rowLengths(rows: Float32Array, width: number): Float32Array {
	const lengths = new Float32Array(rows.length / width);
	for (let row = 0; row < lengths.length; row++) {
		let square = 0;
		for (let i = row * width; i < (row + 1) * width; i++) square += (rows[i] as number) ** 2;
		lengths[row] = Math.sqrt(square);
	}
	return lengths;
}

/** The mean reach of the terms, each weighted by the number of chunks that have it. */
function meanReach({ indices, starts }: SparseMatrix, reaches: Float32Array): number {
	const entries = starts.at(-1) as number;
	let sum = 0;
	for (let at = 0; at < entries; at++) sum += reaches[indices[at] as number] as number;
	return entries === 0 ? 0 : sum / entries;
}

/** The terms of the basis, each with its row. */
interface TrainedVocabulary {
	vocabulary: Map<string, number>;
	/** The row of each counted term; -1 if the basis does not have it. */
	rowOf: Int32Array;
	/** The number of chunks that have the term of each row. */
	chunkCounts: number[];
}

/** Terms by descending frequency, then by name, so that the order is deterministic. */
function chooseVocabulary({ chunks, terms, termIndexes }: TermCounts): TrainedVocabulary {
	const chunksWith = new Uint32Array(terms.length);
	for (const index of termIndexes) (chunksWith[index] as number)++;
	const minChunks = chunks >= RARE_TERM_CUTOFF_CHUNKS ? 2 : 1;
	const chosen = terms
		.map((term, index) => ({ term, place: index, count: chunksWith[index] as number }))
		.filter(({ count }) => count >= minChunks)
		.sort((a, b) => b.count - a.count || (a.term < b.term ? -1 : 1))
		.slice(0, MAX_TERMS);
	const rowOf = new Int32Array(terms.length).fill(-1);
	for (const [row, { place: index }] of chosen.entries()) rowOf[index] = row;
	return {
		vocabulary: new Map(chosen.map(({ term }, row) => [term, row])),
		rowOf,
		chunkCounts: chosen.map(({ count }) => count),
	};
}

/** The matrix of unit rows, and the mean length that the rows had before. */
function weightedMatrix(
	sample: TermCounts,
	rowOf: Int32Array,
	weights: Float32Array,
	unknownWeight: number,
): { matrix: SparseMatrix; mean_length: number } {
	const { chunks, termIndexes, counts } = sample;
	const starts = new Uint32Array(chunks + 1);
	const indices = new Uint32Array(termIndexes.length);
	const values = new Float32Array(termIndexes.length);
	let at = 0;
	let lengths = 0;
	for (let row = 0; row < chunks; row++) {
		const from = at;
		let square = 0;
		for (let entry = sample.starts[row] as number; entry < (sample.starts[row + 1] as number); entry++) {
			const index = rowOf[termIndexes[entry] as number] as number;
			const value = sublinear(counts[entry] as number) * (index === -1 ? unknownWeight : (weights[index] as number));
			square += value * value;
			if (index === -1) continue;
			indices[at] = index;
			values[at++] = value;
		}
		const length = Math.sqrt(square);
		for (let i = from; i < at; i++) (values[i] as number) /= length || 1;
		lengths += length;
		starts[row + 1] = at;
	}
	const matrix = { rows: chunks, columns: weights.length, starts, indices, values };
	return { matrix, mean_length: chunks === 0 ? 0 : lengths / chunks };
}
