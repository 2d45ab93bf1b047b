/** Eigenvalues, largest first, and their unit vectors as the columns of a square matrix. */
export interface Eigen {
	values: Float64Array;
	vectors: Float64Array;
}

/** The QL iteration settles a value within a few rounds; this many mean that the input was not finite. */
const MAX_ITERATIONS = 60;

/** Eigenvalues and eigenvectors of a symmetric matrix: Householder's tridiagonal form, then implicit QL. */
export function symmetricEigen(matrix: Float64Array, size: number): Eigen {
	const { diagonal, subdiagonal, rows } = tridiagonalise(matrix, size);
	implicitQl(diagonal, subdiagonal, rows, size);
	const order = Array.from(diagonal.keys()).sort((i, j) => (diagonal[j] as number) - (diagonal[i] as number));
	const vectors = new Float64Array(size * size);
	order.forEach((from, to) => {
		for (let i = 0; i < size; i++) vectors[i * size + to] = rows[from * size + i] as number;
	});
	return { values: Float64Array.from(order, (i) => diagonal[i] as number), vectors };
}

interface Tridiagonal {
	diagonal: Float64Array;
	/** `beside[i]` joins i and i + 1; the last is zero. */
	subdiagonal: Float64Array;
	/** The orthogonal change of basis, transposed: row i is what will become eigenvector i. */
	rows: Float64Array;
}

/** Reflections take away, column by column, all that stands below the subdiagonal. */
function tridiagonalise(matrix: Float64Array, size: number): Tridiagonal {
	const a = Float64Array.from(matrix);
	const rows = new Float64Array(size * size);
	for (let i = 0; i < size; i++) rows[i * size + i] = 1;
	const reflector = new Float64Array(size);
	const product = new Float64Array(size);
	for (let column = 0; column < size - 2; column++) {
		let square = 0;
		for (let i = column + 1; i < size; i++) square += (a[column * size + i] as number) ** 2;
		const head = a[column * size + column + 1] as number;
		const target = head > 0 ? -Math.sqrt(square) : Math.sqrt(square);
		const norm = 2 * (square - head * target);
		if (!(norm > 0) || square === head * head) continue;
		reflector.fill(0);
		for (let i = column + 1; i < size; i++) reflector[i] = a[column * size + i] as number;
		reflector[column + 1] = head - target;
		reflectBothSides(a, reflector, product, norm, column, size);
		reflectRows(rows, reflector, product, norm, column, size);
	}
	const diagonal = Float64Array.from({ length: size }, (_, i) => a[i * size + i] as number);
	const subdiagonal = Float64Array.from({ length: size }, (_, i) =>
		i + 1 < size ? (a[i * size + i + 1] as number) : 0,
	);
	return { diagonal, subdiagonal, rows };
}

/** a ← H a H with H = 1 − 2 v vᵀ / vᵀv, as a symmetric change of rank two. */
function reflectBothSides(
	a: Float64Array,
	v: Float64Array,
	product: Float64Array,
	norm: number,
	column: number,
	size: number,
): void {
	const factor = 2 / norm;
	let along = 0;
	for (let i = column; i < size; i++) {
		let sum = 0;
		for (let j = column + 1; j < size; j++) sum += (a[i * size + j] as number) * (v[j] as number);
		product[i] = factor * sum;
		along += factor * sum * (v[i] as number);
	}
	const half = (factor * along) / 2;
	for (let i = column; i < size; i++) product[i] = (product[i] as number) - half * (v[i] as number);
	for (let i = column; i < size; i++) {
		const vi = v[i] as number;
		const pi = product[i] as number;
		for (let j = column; j < size; j++) {
			(a[i * size + j] as number) -= vi * (product[j] as number) + pi * (v[j] as number);
		}
	}
}

/** rows ← H rows. */
function reflectRows(
	rows: Float64Array,
	v: Float64Array,
	sum: Float64Array,
	norm: number,
	column: number,
	size: number,
): void {
	sum.fill(0);
	for (let i = column + 1; i < size; i++) {
		const vi = v[i] as number;
		for (let j = 0; j < size; j++) (sum[j] as number) += vi * (rows[i * size + j] as number);
	}
	for (let i = column + 1; i < size; i++) {
		const scaled = (2 / norm) * (v[i] as number);
		for (let j = 0; j < size; j++) (rows[i * size + j] as number) -= scaled * (sum[j] as number);
	}
}

/** Implicit QL with Wilkinson's shift: turns neighbouring rows until nothing stands beside the diagonal. */
function implicitQl(diagonal: Float64Array, subdiagonal: Float64Array, rows: Float64Array, size: number): void {
	for (let low = 0; low < size; low++) {
		for (let iteration = 0; ; iteration++) {
			let high = low;
			while (high < size - 1 && !isNegligible(diagonal, subdiagonal, high)) high++;
			if (high === low) break;
			if (iteration === MAX_ITERATIONS) throw new Error('The eigenvalues of the matrix could not be found.');
			chaseBulge(diagonal, subdiagonal, rows, size, low, high);
		}
	}
}

function isNegligible(diagonal: Float64Array, subdiagonal: Float64Array, i: number): boolean {
	const scale = Math.abs(diagonal[i] as number) + Math.abs(diagonal[i + 1] as number);
	return Math.abs(subdiagonal[i] as number) <= Number.EPSILON * scale;
}

function chaseBulge(
	d: Float64Array,
	e: Float64Array,
	rows: Float64Array,
	size: number,
	low: number,
	high: number,
): void {
	const slope = ((d[low + 1] as number) - (d[low] as number)) / (2 * (e[low] as number));
	const root = Math.hypot(slope, 1);
	let g = (d[high] as number) - (d[low] as number) + (e[low] as number) / (slope + (slope < 0 ? -root : root));
	let s = 1;
	let c = 1;
	let shift = 0;
	for (let i = high - 1; i >= low; i--) {
		const f = s * (e[i] as number);
		const b = c * (e[i] as number);
		const r = Math.hypot(f, g);
		e[i + 1] = r;
		if (r === 0) {
			d[i + 1] = (d[i + 1] as number) - shift;
			e[high] = 0;
			return;
		}
		s = f / r;
		c = g / r;
		g = (d[i + 1] as number) - shift;
		const rotation = ((d[i] as number) - g) * s + 2 * c * b;
		shift = s * rotation;
		d[i + 1] = g + shift;
		g = c * rotation - b;
		const upper = (i + 1) * size;
		const lower = i * size;
		for (let k = 0; k < size; k++) {
			const x = rows[upper + k] as number;
			const y = rows[lower + k] as number;
			rows[upper + k] = s * y + c * x;
			rows[lower + k] = c * y - s * x;
		}
	}
	d[low] = (d[low] as number) - shift;
	e[low] = g;
	e[high] = 0;
}
