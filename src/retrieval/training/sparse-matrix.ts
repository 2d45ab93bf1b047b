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
 * The product with a dense matrix of `width` values a row. Four entries are taken at a time, so that each pass
 * over the sums adds four of them.
 * @param dense `columns` × `width`, row by row
 * @returns `rows` × `width`
 */
export function multiplySparse(matrix: SparseMatrix, dense: Float32Array, width: number): Float32Array {
	const { rows, starts, indices, values } = matrix;
	const product = new Float32Array(rows * width);
	const sum = new Float64Array(width);
	for (let row = 0; row < rows; row++) {
		const end = starts[row + 1] as number;
		let at = starts[row] as number;
		sum.fill(0);
		for (; at + 3 < end; at += 4) {
			const a = values[at] as number;
			const b = values[at + 1] as number;
			const c = values[at + 2] as number;
			const d = values[at + 3] as number;
			const fromA = (indices[at] as number) * width;
			const fromB = (indices[at + 1] as number) * width;
			const fromC = (indices[at + 2] as number) * width;
			const fromD = (indices[at + 3] as number) * width;
			for (let i = 0; i < width; i++) {
				(sum[i] as number) +=
					a * (dense[fromA + i] as number) +
					b * (dense[fromB + i] as number) +
					c * (dense[fromC + i] as number) +
					d * (dense[fromD + i] as number);
			}
		}
		for (; at < end; at++) {
			const value = values[at] as number;
			const from = (indices[at] as number) * width;
			for (let i = 0; i < width; i++) (sum[i] as number) += value * (dense[from + i] as number);
		}
		product.set(sum, row * width);
	}
	return product;
}

/** The same entries with rows and columns exchanged. */
export function transpose({ rows, columns, starts, indices, values }: SparseMatrix): SparseMatrix {
	const entries = starts[rows] as number;
	const nextOf = new Uint32Array(columns + 1);
	for (let at = 0; at < entries; at++)
		nextOf[(indices[at] as number) + 1] = (nextOf[(indices[at] as number) + 1] ?? 0) + 1;
	for (let column = 0; column < columns; column++) {
		nextOf[column + 1] = (nextOf[column + 1] as number) + (nextOf[column] as number);
	}
	const transposed = {
		rows: columns,
		columns: rows,
		starts: nextOf.slice(),
		indices: new Uint32Array(entries),
		values: new Float32Array(entries),
	};
	for (let row = 0; row < rows; row++) {
		for (let at = starts[row] as number; at < (starts[row + 1] as number); at++) {
			const column = indices[at] as number;
			const to = nextOf[column] as number;
			nextOf[column] = to + 1;
			transposed.indices[to] = row;
			transposed.values[to] = values[at] as number;
		}
	}
	return transposed;
}
