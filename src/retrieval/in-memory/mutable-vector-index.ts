import type { ScoredChunk } from './best-chunks.ts';
import { type DotProducts, dotProductsFor } from './dot-products.ts';
import { grown } from './grown.ts';
import { strideOf } from './in-memory-vector-index.ts';
import { nearestRows, normOf } from './nearest-rows.ts';

/** The memory of an id in the map of rows (bytes), about. */
const ENTRY_BYTES = 40;

/** The vectors of a generation in memory, which follow its changes. Rows are in no order. */
export class MutableVectorIndex {
	readonly dimensions: number;
	readonly #products: DotProducts;
	readonly #stride: number;
	readonly #rowOf = new Map<number, number>();
	#rows: Int8Array;
	#ids: Float64Array;
	#norms: Float64Array;
	#sums: Float64Array;

	/** @param capacity the number of vectors for which memory is reserved; more are possible */
	constructor(dimensions: number, capacity: number) {
		this.dimensions = dimensions;
		this.#stride = strideOf(dimensions);
		this.#products = dotProductsFor(this.#stride);
		this.#rows = new Int8Array(capacity * this.#stride);
		this.#ids = new Float64Array(capacity);
		this.#norms = new Float64Array(capacity);
		this.#sums = new Float64Array(capacity);
	}

	/** The memory in bytes, about. */
	get bytes(): number {
		const arrays = [this.#rows, this.#ids, this.#norms, this.#sums];
		return arrays.reduce((sum, array) => sum + array.byteLength, ENTRY_BYTES * this.#rowOf.size);
	}

	/** Adds the vector of a chunk, or replaces it. */
	set(id: number, vector: Int8Array): void {
		let row = this.#rowOf.get(id);
		if (row === undefined) {
			row = this.#rowOf.size;
			if (row === this.#ids.length) this.#grow(row + 1);
			this.#rowOf.set(id, row);
			this.#ids[row] = id;
		}
		this.#rows.set(vector, row * this.#stride);
		this.#norms[row] = normOf(vector);
	}

	/** Removes the vector of a chunk, if there is one. */
	delete(id: number): void {
		const row = this.#rowOf.get(id);
		if (row === undefined) return;
		this.#rowOf.delete(id);
		const last = this.#rowOf.size;
		if (row === last) return;
		const moved = this.#ids[last] as number;
		this.#rows.copyWithin(row * this.#stride, last * this.#stride, (last + 1) * this.#stride);
		this.#ids[row] = moved;
		this.#norms[row] = this.#norms[last] as number;
		this.#rowOf.set(moved, row);
	}

	/** The vector of a chunk, until the next change. */
	get(id: number): Int8Array | undefined {
		const row = this.#rowOf.get(id);
		if (row === undefined) return undefined;
		return this.#rows.subarray(row * this.#stride, row * this.#stride + this.dimensions);
	}

	/** The nearest vectors, best first; vectors with equal scores in the order in which their chunks were stored. */
	nearest(query: Int8Array, limit: number): ScoredChunk[] {
		const table = { count: this.#rowOf.size, stride: this.#stride, rows: this.#rows, ids: this.#ids };
		return nearestRows(this.#products, { ...table, norms: this.#norms, sums: this.#sums }, query, limit);
	}

	#grow(count: number): void {
		this.#ids = grown(this.#ids, count);
		const capacity = this.#ids.length;
		this.#norms = grown(this.#norms, capacity);
		this.#sums = grown(this.#sums, capacity);
		this.#rows = grown(this.#rows, capacity * this.#stride);
	}
}
