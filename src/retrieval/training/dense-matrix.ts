/** A column counts as dependent if its rest, after subtraction of the columns before it, is smaller than this share. */
const DEPENDENCE_TOLERANCE = 1e-9;

/** Rows of one block: each pass over the result adds four of them. */
const BLOCK_ROWS = 4;

/** The inner products of all columns with each other: `width` × `width`. */
export function gram(dense: Float32Array, width: number): Float64Array {
	const products = new Float64Array(width * width);
	const rows = new Float64Array(BLOCK_ROWS * width);
	for (let from = 0; from < dense.length; from += BLOCK_ROWS * width) {
		const present = Math.min(dense.length - from, BLOCK_ROWS * width);
		rows.fill(0, present);
		for (let i = 0; i < present; i++) rows[i] = dense[from + i] as number;
		for (let i = 0; i < width; i++) {
			const a = rows[i] as number;
			const b = rows[width + i] as number;
			const c = rows[2 * width + i] as number;
			const d = rows[3 * width + i] as number;
			const to = i * width;
			for (let j = i; j < width; j++) {
				(products[to + j] as number) +=
					a * (rows[j] as number) +
					b * (rows[width + j] as number) +
					c * (rows[2 * width + j] as number) +
					d * (rows[3 * width + j] as number);
			}
		}
	}
	for (let i = 0; i < width; i++) {
		for (let j = 0; j < i; j++) products[i * width + j] = products[j * width + i] as number;
	}
	return products;
}

/**
 * The product with a square matrix, row by row. It overwrites the dense matrix, which may have many megabytes.
 * @param square `width` × `width`
 * @param keptColumns the number of columns of the product to compute
 */
export function multiplyDense(
	dense: Float32Array,
	square: Float64Array,
	width: number,
	keptColumns: number,
): Float32Array {
	const rows = width === 0 ? 0 : dense.length / width;
	const sum = new Float64Array(keptColumns);
	for (let row = 0; row < rows; row++) {
		const from = row * width;
		sum.fill(0);
		for (let i = 0; i < width; i += BLOCK_ROWS) {
			const a = dense[from + i] as number;
			const b = i + 1 < width ? (dense[from + i + 1] as number) : 0;
			const c = i + 2 < width ? (dense[from + i + 2] as number) : 0;
			const d = i + 3 < width ? (dense[from + i + 3] as number) : 0;
			const at = i * width;
			const inB = b === 0 ? at : at + width;
			const inC = c === 0 ? at : at + 2 * width;
			const inD = d === 0 ? at : at + 3 * width;
			for (let j = 0; j < keptColumns; j++) {
				(sum[j] as number) +=
					a * (square[at + j] as number) +
					b * (square[inB + j] as number) +
					c * (square[inC + j] as number) +
					d * (square[inD + j] as number);
			}
		}
		// This row and all rows before it have been read.
		dense.set(sum, row * keptColumns);
	}
	return dense.subarray(0, rows * keptColumns);
}

/** The same columns made orthonormal (by the Cholesky factor of their inner products), in place; a dependent one becomes zero. */
export function orthonormalise(dense: Float32Array, width: number): Float32Array {
	return multiplyDense(dense, inverse(cholesky(gram(dense, width), width), width), width, width);
}

/** The upper triangle R with RᵀR = the given matrix; a row with a pivot of zero marks a dependent column. */
function cholesky(products: Float64Array, width: number): Float64Array {
	const rest = Float64Array.from(products);
	const upper = new Float64Array(width * width);
	for (let i = 0; i < width; i++) {
		const at = i * width;
		const square = rest[at + i] as number;
		if (!(square > DEPENDENCE_TOLERANCE * (products[at + i] as number))) continue;
		const pivot = Math.sqrt(square);
		for (let j = i; j < width; j++) upper[at + j] = (rest[at + j] as number) / pivot;
		for (let r = i + 1; r < width; r++) {
			const factor = upper[at + r] as number;
			if (factor === 0) continue;
			const to = r * width;
			for (let j = r; j < width; j++) (rest[to + j] as number) -= factor * (upper[at + j] as number);
		}
	}
	return upper;
}

/** The inverse of an upper triangle; rows and columns of a zero pivot are zero. */
function inverse(upper: Float64Array, width: number): Float64Array {
	const result = new Float64Array(width * width);
	for (let i = width - 1; i >= 0; i--) {
		const at = i * width;
		const pivot = upper[at + i] as number;
		if (pivot === 0) continue;
		result[at + i] = 1 / pivot;
		for (let k = i + 1; k < width; k++) {
			const factor = (upper[at + k] as number) / pivot;
			if (factor === 0) continue;
			for (let j = k; j < width; j++) (result[at + j] as number) -= factor * (result[k * width + j] as number);
		}
	}
	return result;
}
