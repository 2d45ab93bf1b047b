import { gram, multiplyDense, orthonormalise } from './dense-matrix.ts';
import { seededNoise } from './random.ts';
import { multiplySparse, type SparseMatrix, transpose } from './sparse-matrix.ts';
import { symmetricEigen } from './symmetric-eigen.ts';

const OVERSAMPLING = 10;
const POWER_ITERATIONS = 2;
const SEED = 20_261_120;

/** Directions with less than this share of the strongest are rounding errors. */
const MIN_SHARE = 1e-6;

/** The right singular vectors of a matrix. */
export interface Directions {
	/** Their number; fewer than requested if the matrix has a lower rank. */
	width: number;
	/** `columns` × `width`, row by row, strongest direction first. */
	values: Float32Array;
}

/**
 * The strongest right singular vectors: a randomised range finder with power iterations (Halko, Martinsson, Tropp 2011)
 * on the shorter side of the matrix, then the exact decomposition within that range. The result is
 * deterministic.
 */
export function principalDirections(matrix: SparseMatrix, maxWidth: number): Directions {
	const width = Math.min(maxWidth + OVERSAMPLING, matrix.rows, matrix.columns);
	const byRows = matrix.rows <= matrix.columns;
	const transposed = transpose(matrix);
	const towardsShort = byRows ? transposed : matrix;
	const towardsLong = byRows ? matrix : transposed;
	// The noise has no name, so that its memory is free for the next steps.
	let range = multiplySparse(towardsLong, noiseOf(towardsLong.columns * width), width);
	for (let iteration = 0; iteration < POWER_ITERATIONS; iteration++) {
		range = orthonormalise(multiplySparse(towardsLong, multiplySparse(towardsShort, range, width), width), width);
	}
	const image = multiplySparse(towardsShort, range, width);
	const { values, vectors } = symmetricEigen(gram(image, width), width);
	const minValue = MIN_SHARE * (values[0] ?? 0);
	let keptWidth = 0;
	while (keptWidth < Math.min(maxWidth, width) && (values[keptWidth] as number) > minValue) keptWidth++;
	// On the side of the columns the range is rotated; on the side of the rows its image is rotated and normalised.
	for (let i = 0; i < keptWidth; i++) {
		const scale = byRows ? 1 / Math.sqrt(values[i] as number) : 1;
		for (let j = 0; j < width; j++) (vectors[j * width + i] as number) *= scale;
	}
	return { width: keptWidth, values: multiplyDense(byRows ? image : range, vectors, width, keptWidth) };
}

function noiseOf(length: number): Float32Array {
	const noise = seededNoise(SEED);
	const values = new Float32Array(length);
	for (let i = 0; i < length; i++) values[i] = noise();
	return values;
}
