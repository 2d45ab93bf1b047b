import type { ScoredChunk } from './best-chunks.ts';
import { type DotProductKernel, SIMD_LANES } from './dot-product-kernel.ts';
import { nearestRows } from './nearest-rows.ts';

/** The vectors of a generation as they are stored: one row of `dimensions` values for each id. */
export interface VectorRows {
	dimensions: number;
	ids: Float64Array;
	values: Int8Array;
}

/** All vectors of a generation, contiguous in memory, so that a search for the nearest reads nothing from the database. */
export class InMemoryVectorIndex {
	readonly #kernel: DotProductKernel;
	readonly #ids: Float64Array;
	/** Bytes from one row to the next. */
	readonly #stride: number;
	readonly #rows: Int8Array;
	/** The length of each vector. */
	readonly #norms: Float64Array;
	/** The dot products of the last search; the next search overwrites them. */
	readonly #sums: Float64Array;

	/** @param kernel must support rows of `strideOf(dimensions)` bytes */
	constructor(kernel: DotProductKernel, { dimensions, ids, values }: VectorRows) {
		this.#kernel = kernel;
		this.#ids = ids;
		this.#stride = strideOf(dimensions);
		this.#rows = this.#stride === dimensions ? values : padRows(values, dimensions, this.#stride);
		this.#sums = new Float64Array(ids.length);
		this.#norms = new Float64Array(ids.length);
		kernel.squares(this.#rows, this.#stride, this.#norms);
		for (let at = 0; at < ids.length; at++) this.#norms[at] = Math.sqrt(this.#norms[at] as number);
	}

	/** The memory of `count` vectors in bytes. */
	static bytesOf(count: number, dimensions: number): number {
		return count * (strideOf(dimensions) + 3 * Float64Array.BYTES_PER_ELEMENT);
	}

	/**
	 * The nearest vectors, best first; vectors with equal scores in the order in which they were stored.
	 * @param query with the dimensions of the stored vectors
	 */
	nearest(query: Int8Array, limit: number): ScoredChunk[] {
		const table = { count: this.#ids.length, stride: this.#stride, rows: this.#rows, ids: this.#ids };
		return nearestRows(this.#kernel, { ...table, norms: this.#norms, sums: this.#sums }, query, limit);
	}
}

/** The bytes of a row, rounded up to whole lanes. */
export function strideOf(dimensions: number): number {
	return Math.ceil(dimensions / SIMD_LANES) * SIMD_LANES;
}

function padRows(values: Int8Array, dimensions: number, stride: number): Int8Array {
	const rows = new Int8Array((values.length / dimensions) * stride);
	for (let from = 0, to = 0; from < values.length; from += dimensions, to += stride) {
		rows.set(values.subarray(from, from + dimensions), to);
	}
	return rows;
}
