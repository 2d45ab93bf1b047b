import { BestChunks, type ScoredChunk } from './best-chunks.ts';
import type { DotProducts } from './dot-products.ts';

/** Vectors in memory, one row each. */
export interface VectorTable {
	/** How many rows are in use. */
	count: number;
	/** Bytes from one row to the next. */
	stride: number;
	rows: Int8Array;
	/** The row ids of the chunks. */
	ids: Float64Array;
	/** The length of each vector. */
	norms: Float64Array;
	/** Receives the dot products. */
	sums: Float64Array;
}

/**
 * The rows with the nearest vectors, best first, with their cosines.
 * @param query with the dimensions of the stored vectors
 */
export function nearestRows(
	products: DotProducts,
	{ count, stride, rows, ids, norms, sums }: VectorTable,
	query: Int8Array,
	limit: number,
): ScoredChunk[] {
	const values = new Int8Array(stride);
	values.set(query);
	products.multiplyEach(rows.subarray(0, count * stride), stride, values, sums);
	const queryNorm = normOf(query);
	const best = new BestChunks(limit);
	for (let at = 0; at < count; at++) {
		best.add(ids[at] as number, (sums[at] as number) / (queryNorm * (norms[at] as number) || 1));
	}
	return best.chunks;
}

export function normOf(values: Int8Array): number {
	let square = 0;
	for (let i = 0; i < values.length; i++) square += (values[i] as number) ** 2;
	return Math.sqrt(square);
}
