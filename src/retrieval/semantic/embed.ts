import { type Basis, INT8_MAX } from './basis.ts';
import { type ChunkTerms, countTerms, sublinear } from './features.ts';

/** The share of the mean length that is the pivot: the cosine of a short chunk overstates its match. */
const PIVOT_SLOPE = 0.5;

/** A list of terms, projected on the basis. */
export interface Projection {
	/** The unit vector; all zero if no term is known. */
	direction: Float32Array;
	/** The length of the weighted terms, unknown ones included. */
	length: number;
	/** The share of that length in the directions of the basis, 0..1. */
	reach: number;
	/** Occurrences of terms, and of those that the basis does not know. */
	terms: number;
	unknown_terms: number;
}

/** Weights counted terms and projects them to a direction. */
export function project(basis: Basis, counts: ReadonlyMap<string, number>): Projection {
	const { vocabulary, weights, unknown_weight, directions, scales, reaches } = basis;
	const width = basis.dimensions - 1;
	const sum = new Float64Array(width);
	let square = 0;
	let reached = 0;
	let terms = 0;
	let unknown_terms = 0;
	for (const [term, count] of counts) {
		terms += count;
		const row = vocabulary.get(term);
		const value = sublinear(count) * (row === undefined ? unknown_weight : (weights[row] as number));
		square += value * value;
		if (row === undefined) {
			unknown_terms += count;
			continue;
		}
		reached += (value * (reaches[row] as number)) ** 2;
		const scaled = value * (scales[row] as number);
		const from = row * width;
		for (let i = 0; i < width; i++) (sum[i] as number) += scaled * (directions[from + i] as number);
	}
	const length = Math.sqrt(square);
	let projectedLength = 0;
	for (let i = 0; i < width; i++) projectedLength += (sum[i] as number) ** 2;
	projectedLength = Math.sqrt(projectedLength);
	const reach = length === 0 ? 0 : Math.min(1, Math.sqrt(reached) / length);
	return { direction: unitVector(sum, projectedLength), length, reach, terms, unknown_terms };
}

/**
 * The stored vectors of chunks, one row of `dimensions` each: the direction, shorter for a chunk with few terms, and in the
 * last value the rest to unit length, so that a plain cosine normalises by length. Quantised to eight bits.
 */
export function embedChunks(
	basis: Basis,
	chunks: readonly ChunkTerms[],
): { vectors: Int8Array; terms: number; unknown_terms: number } {
	const { dimensions, mean_length } = basis;
	const vectors = new Int8Array(chunks.length * dimensions);
	const vector = new Float32Array(dimensions);
	const pivot = (PIVOT_SLOPE * mean_length) ** 2;
	let terms = 0;
	let unknown_terms = 0;
	chunks.forEach((chunk, index) => {
		const projection = project(basis, countTerms(chunk));
		terms += projection.terms;
		unknown_terms += projection.unknown_terms;
		const square = projection.length ** 2;
		// Without a direction the last value has the whole length: a zero vector would have no cosine.
		const factor = projection.reach === 0 ? 0 : Math.sqrt(square / (square + pivot));
		for (let i = 0; i < dimensions - 1; i++) vector[i] = factor * (projection.direction[i] as number);
		vector[dimensions - 1] = Math.sqrt(1 - factor * factor);
		writeInt8(vector, vectors, index * dimensions);
	});
	return { vectors, terms, unknown_terms };
}

/** Quantises a vector to eight bits, scaled by its largest value. The scale does not change cosines. */
export function writeInt8(vector: Float32Array, into: Int8Array, at: number): void {
	let largest = 0;
	for (let i = 0; i < vector.length; i++) largest = Math.max(largest, Math.abs(vector[i] as number));
	if (largest === 0) return;
	for (let i = 0; i < vector.length; i++) into[at + i] = Math.round(((vector[i] as number) * INT8_MAX) / largest);
}

/** Normalises to length 1; zero stays zero. */
function unitVector(vector: Float64Array, length: number): Float32Array {
	const result = new Float32Array(vector.length);
	if (length > 0) for (let i = 0; i < vector.length; i++) result[i] = (vector[i] as number) / length;
	return result;
}
