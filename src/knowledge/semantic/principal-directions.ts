import { gram, orthonormal, times } from './dense-matrix.ts';
import { symmetricEigen } from './eigen.ts';
import { seededNoise } from './random.ts';
import { multiply, type SparseMatrix, transpose } from './sparse-matrix.ts';

const EXTRA_COLUMNS = 10;
const POWER_ITERATIONS = 2;
const SEED = 20_261_120;

/** Directions that carry less than this share of the strongest are rounding, not meaning. */
const LEAST_SHARE = 1e-6;

/** The right singular vectors of a matrix. */
export interface Directions {
	/** How many there are; fewer than asked for where the matrix has no more. */
	width: number;
	/** `columns` × `width`, row by row, strongest direction first. */
	values: Float32Array;
}

/**
 * The strongest right singular vectors: a randomised range finder with power iterations (Halko, Martinsson, Tropp 2011)
 * on the shorter side of the matrix, then the exact decomposition inside the range found. The same matrix gives the
 * same answer.
 */
export function principalDirections(matrix: SparseMatrix, wanted: number): Directions {
	const width = Math.min(wanted + EXTRA_COLUMNS, matrix.rows, matrix.columns);
	const byRows = matrix.rows <= matrix.columns;
	const turned = transpose(matrix);
	const there = byRows ? turned : matrix;
	const back = byRows ? matrix : turned;
	// Unnamed, so that its memory is free for what follows.
	let range = multiply(back, noiseOf(back.columns * width), width);
	for (let iteration = 0; iteration < POWER_ITERATIONS; iteration++) {
		range = orthonormal(multiply(back, multiply(there, range, width), width), width);
	}
	const image = multiply(there, range, width);
	const { values, vectors } = symmetricEigen(gram(image, width), width);
	const least = LEAST_SHARE * (values[0] ?? 0);
	let kept = 0;
	while (kept < Math.min(wanted, width) && (values[kept] as number) > least) kept++;
	// On the columns' side the range itself is turned; on the rows' side its image is, and brought to unit length.
	for (let i = 0; i < kept; i++) {
		const scale = byRows ? 1 / Math.sqrt(values[i] as number) : 1;
		for (let j = 0; j < width; j++) (vectors[j * width + i] as number) *= scale;
	}
	return { width: kept, values: times(byRows ? image : range, vectors, width, kept) };
}

function noiseOf(length: number): Float32Array {
	const noise = seededNoise(SEED);
	const values = new Float32Array(length);
	for (let i = 0; i < length; i++) values[i] = noise();
	return values;
}
