import { type DotProducts, LANES } from './dot-products.ts';

/** The vectors of a generation as they are stored: one row of `dimensions` values for each id. */
export interface VectorRows {
	dimensions: number;
	ids: Float64Array;
	values: Int8Array;
}

/** A chunk's row id and the cosine of its vector. */
export interface Near {
	id: number;
	score: number;
}

/** All vectors of a generation, one behind the other in memory, where the nearest are found without reading any. */
export class KeptVectors {
	readonly #products: DotProducts;
	readonly #ids: Float64Array;
	/** Bytes from one row to the next. */
	readonly #step: number;
	readonly #rows: Int8Array;
	/** The length of each vector. */
	readonly #lengths: Float64Array;
	/** What the last search has computed; the next one writes over it. */
	readonly #sums: Float64Array;

	/** @param products must fit rows of `stepOf(dimensions)` */
	constructor(products: DotProducts, { dimensions, ids, values }: VectorRows) {
		this.#products = products;
		this.#ids = ids;
		this.#step = stepOf(dimensions);
		this.#rows = this.#step === dimensions ? values : padded(values, dimensions, this.#step);
		this.#sums = new Float64Array(ids.length);
		this.#lengths = new Float64Array(ids.length);
		products.squares(this.#rows, this.#step, this.#lengths);
		for (let at = 0; at < ids.length; at++) this.#lengths[at] = Math.sqrt(this.#lengths[at] as number);
	}

	/** Memory that so many vectors take, in bytes. */
	static bytesOf(count: number, dimensions: number): number {
		return count * (stepOf(dimensions) + 3 * Float64Array.BYTES_PER_ELEMENT);
	}

	/**
	 * The nearest vectors, best first, of equally near ones those that were stored first.
	 * @param asked of as many values as the stored vectors have
	 */
	nearest(asked: Int8Array, limit: number): Near[] {
		const values = new Int8Array(this.#step);
		values.set(asked);
		this.#products.withEach(this.#rows, this.#step, values, this.#sums);
		const length = lengthOf(asked);
		const best: Near[] = [];
		let least = Number.NEGATIVE_INFINITY;
		for (let at = 0; at < this.#sums.length; at++) {
			const score = (this.#sums[at] as number) / (length * (this.#lengths[at] as number) || 1);
			if (best.length === limit && score < least) continue;
			insert(best, { id: this.#ids[at] as number, score }, limit);
			least = best.at(-1)?.score ?? least;
		}
		return best;
	}
}

/** Bytes that a row takes: whole lanes. */
export function stepOf(dimensions: number): number {
	return Math.ceil(dimensions / LANES) * LANES;
}

function padded(values: Int8Array, dimensions: number, step: number): Int8Array {
	const rows = new Int8Array((values.length / dimensions) * step);
	for (let from = 0, to = 0; from < values.length; from += dimensions, to += step) {
		rows.set(values.subarray(from, from + dimensions), to);
	}
	return rows;
}

/** Puts one into its place of a sorted list, by halves; who is one too many falls out at the end. */
function insert(best: Near[], near: Near, limit: number): void {
	let from = 0;
	let to = best.length;
	while (from < to) {
		const middle = (from + to) >> 1;
		const other = best[middle] as Near;
		if (other.score > near.score || (other.score === near.score && other.id < near.id)) from = middle + 1;
		else to = middle;
	}
	if (from >= limit) return;
	best.splice(from, 0, near);
	if (best.length > limit) best.pop();
}

function lengthOf(values: Int8Array): number {
	let square = 0;
	for (let i = 0; i < values.length; i++) square += (values[i] as number) ** 2;
	return Math.sqrt(square);
}
