/** Rows of (column, value) pairs, one behind the other. */
export interface SparseMatrix {
	rows: number;
	columns: number;
	/** Row r holds the entries from `starts[r]` to `starts[r + 1]`. */
	starts: Uint32Array;
	indices: Uint32Array;
	values: Float32Array;
}

/**
 * The product with a dense matrix of `width` values a row.
 * @param dense `columns` × `width`, row by row
 * @returns `rows` × `width`
 */
export function multiply(matrix: SparseMatrix, dense: Float32Array, width: number): Float32Array {
	const { rows, starts, indices, values } = matrix;
	const product = new Float32Array(rows * width);
	const sum = new Float64Array(width);
	for (let row = 0; row < rows; row++) {
		sum.fill(0);
		for (let at = starts[row] as number; at < (starts[row + 1] as number); at++) {
			const value = values[at] as number;
			const from = (indices[at] as number) * width;
			for (let i = 0; i < width; i++) (sum[i] as number) += value * (dense[from + i] as number);
		}
		product.set(sum, row * width);
	}
	return product;
}

/** The product of the transposed matrix with a dense one of `rows` × `width`; the result is `columns` × `width`. */
export function multiplyTransposed(matrix: SparseMatrix, dense: Float32Array, width: number): Float32Array {
	const { rows, columns, starts, indices, values } = matrix;
	const product = new Float32Array(columns * width);
	for (let row = 0; row < rows; row++) {
		const from = row * width;
		for (let at = starts[row] as number; at < (starts[row + 1] as number); at++) {
			const value = values[at] as number;
			const to = (indices[at] as number) * width;
			for (let i = 0; i < width; i++) (product[to + i] as number) += value * (dense[from + i] as number);
		}
	}
	return product;
}
