import { type Basis, quantiseRows } from './basis.ts';
import { type ChunkTerms, countTerms, damped, inverseFrequency } from './features.ts';
import { principalDirections } from './principal-directions.ts';
import type { SparseMatrix } from './sparse-matrix.ts';

/** With the value of the length, 256 values a vector: more directions gain little and cost a search more. */
const MOST_DIRECTIONS = 255;

/** Larger knowledge bases are trained on an even sample: a basis from a part of them serves the whole as well. */
const MOST_CHUNKS = 20_000;

/** From this many chunks on, a term of a single one says nothing about any other and is left out. */
const MANY_CHUNKS = 5000;

/** The most frequent terms are kept: 16 MB of directions. */
const MOST_TERMS = 64_000;

/**
 * Trains a basis on the chunks of a knowledge base: the strongest directions of its weighted chunk × term matrix.
 * Repeatable: the same chunks in the same order give the same bytes.
 */
export function trainBasis(chunks: readonly ChunkTerms[]): Basis {
	const step = Math.max(1, chunks.length / MOST_CHUNKS);
	const sample: Array<Map<string, number>> = [];
	for (let at = 0; at < chunks.length; at += step) sample.push(countTerms(chunks[Math.floor(at)] as ChunkTerms));

	const chunkCounts = new Map<string, number>();
	for (const counts of sample) {
		for (const term of counts.keys()) chunkCounts.set(term, (chunkCounts.get(term) ?? 0) + 1);
	}
	const vocabulary = chooseVocabulary(chunkCounts, sample.length);
	const weights = new Float32Array(vocabulary.size);
	for (const [term, row] of vocabulary) weights[row] = inverseFrequency(chunkCounts.get(term) as number, sample.length);
	const unknown_weight = inverseFrequency(0, sample.length);

	const { matrix, mean_length } = weigh(sample, vocabulary, weights, unknown_weight);
	const { width, values } = principalDirections(matrix, MOST_DIRECTIONS);
	const dimensions = Math.max(1, width) + 1;
	const rows = width === 0 ? new Float32Array(vocabulary.size) : values;
	const mean_reach = meanReach(matrix, rows, dimensions - 1);
	return {
		dimensions,
		vocabulary,
		weights,
		unknown_weight,
		mean_length,
		mean_reach,
		...quantiseRows(rows, dimensions - 1),
	};
}

/** The mean length of the directions, each counted as often as chunks have the term. */
function meanReach({ indices, starts }: SparseMatrix, rows: Float32Array, width: number): number {
	const lengths = new Float32Array(rows.length / width);
	for (let row = 0; row < lengths.length; row++) {
		let square = 0;
		for (let i = row * width; i < (row + 1) * width; i++) square += (rows[i] as number) ** 2;
		lengths[row] = Math.sqrt(square);
	}
	const entries = starts.at(-1) as number;
	let sum = 0;
	for (let at = 0; at < entries; at++) sum += lengths[indices[at] as number] as number;
	return entries === 0 ? 0 : sum / entries;
}

/** Terms by falling frequency, then by name, so that the order is the same at every training. */
function chooseVocabulary(chunkCounts: Map<string, number>, chunks: number): Map<string, number> {
	const least = chunks >= MANY_CHUNKS ? 2 : 1;
	const chosen = [...chunkCounts]
		.filter(([, count]) => count >= least)
		.sort(([a, inA], [b, inB]) => inB - inA || (a < b ? -1 : 1))
		.slice(0, MOST_TERMS);
	return new Map(chosen.map(([term], row) => [term, row]));
}

/** The matrix of unit rows, and the mean length that the rows had before. */
function weigh(
	sample: ReadonlyArray<Map<string, number>>,
	vocabulary: ReadonlyMap<string, number>,
	weights: Float32Array,
	unknownWeight: number,
): { matrix: SparseMatrix; mean_length: number } {
	const entries = sample.reduce((sum, counts) => sum + counts.size, 0);
	const starts = new Uint32Array(sample.length + 1);
	const indices = new Uint32Array(entries);
	const values = new Float32Array(entries);
	let at = 0;
	let lengths = 0;
	sample.forEach((counts, row) => {
		const from = at;
		let square = 0;
		for (const [term, count] of counts) {
			const index = vocabulary.get(term);
			const value = damped(count) * (index === undefined ? unknownWeight : (weights[index] as number));
			square += value * value;
			if (index === undefined) continue;
			indices[at] = index;
			values[at++] = value;
		}
		const length = Math.sqrt(square);
		for (let i = from; i < at; i++) (values[i] as number) /= length || 1;
		lengths += length;
		starts[row + 1] = at;
	});
	const matrix = { rows: sample.length, columns: vocabulary.size, starts, indices, values };
	return { matrix, mean_length: sample.length === 0 ? 0 : lengths / sample.length };
}
