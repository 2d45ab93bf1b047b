/** A trained embedding (latent semantic indexing): the weight and the direction of each term. */
export interface Basis {
	/** Values of a stored vector: its direction, and one value for its length. */
	dimensions: number;
	/** The row of each known term. */
	vocabulary: ReadonlyMap<string, number>;
	/** The inverse document frequency of each row. */
	weights: Float32Array;
	/** The inverse document frequency of a term that no chunk had. */
	unknown_weight: number;
	/** `dimensions - 1` values a row. */
	directions: Int8Array;
	/** The factor of each row of `directions`. */
	scales: Float32Array;
	/** The reach of each row: the share of the term's length that lay in the directions before they were tuned, 0..1. */
	reaches: Float32Array;
	/** The mean length of a chunk's weighted terms, the reference of all lengths. */
	mean_length: number;
	/** The mean reach of the chunks' terms. Reach is the share of a term's length that its direction has, 0..1. */
	mean_reach: number;
}

/** The largest value of a vector in eight bits. */
export const INT8_MAX = 127;

/** Quantises rows of real numbers to eight-bit values with a scale for each row. */
export function quantiseRows(rows: Float32Array, width: number): Pick<Basis, 'directions' | 'scales'> {
	const count = width === 0 ? 0 : rows.length / width;
	const directions = new Int8Array(rows.length);
	const scales = new Float32Array(count);
	for (let row = 0; row < count; row++) {
		const from = row * width;
		let largest = 0;
		for (let i = 0; i < width; i++) largest = Math.max(largest, Math.abs(rows[from + i] as number));
		if (largest === 0) continue;
		scales[row] = largest / INT8_MAX;
		for (let i = 0; i < width; i++)
			directions[from + i] = Math.round(((rows[from + i] as number) * INT8_MAX) / largest);
	}
	return { directions, scales };
}
