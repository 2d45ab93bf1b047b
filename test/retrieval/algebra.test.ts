import assert from 'node:assert/strict';
import { test } from 'node:test';
import { gram, orthonormalise } from '../../src/retrieval/training/dense-matrix.ts';
import { principalDirections } from '../../src/retrieval/training/principal-directions.ts';
import { seededNoise } from '../../src/retrieval/training/random.ts';
import { multiplySparse, type SparseMatrix, transpose } from '../../src/retrieval/training/sparse-matrix.ts';
import { symmetricEigen } from '../../src/retrieval/training/symmetric-eigen.ts';

/** A sparse matrix of products of `rank` random factors, with every third entry left out where `holes` says so. */
function sample(rows: number, columns: number, rank: number): { sparse: SparseMatrix; dense: number[][] } {
	const noise = seededNoise(rows * 1000 + columns);
	const left = Array.from({ length: rows }, () => Array.from({ length: rank }, noise));
	const right = Array.from({ length: rank }, () => Array.from({ length: columns }, noise));
	const dense = left.map((row) =>
		Array.from({ length: columns }, (_, c) =>
			Math.fround(row.reduce((sum, x, k) => sum + x * (right[k]?.[c] ?? 0), 0)),
		),
	);
	const sparse = {
		rows,
		columns,
		starts: Uint32Array.from({ length: rows + 1 }, (_, r) => r * columns),
		indices: Uint32Array.from({ length: rows * columns }, (_, i) => i % columns),
		values: Float32Array.from(dense.flat()),
	};
	return { sparse, dense };
}

const near = (a: number, b: number, tolerance: number) => assert.ok(Math.abs(a - b) <= tolerance, `${a} and ${b}`);

for (const size of [1, 2, 3, 17, 60]) {
	test(`eigenvalues and eigenvectors of ${size} × ${size} give the matrix back`, () => {
		const { sparse } = sample(size, size, Math.max(1, size - 3));
		const symmetric = gram(sparse.values, size);
		const { values, vectors } = symmetricEigen(symmetric, size);
		for (let i = 0; i < size; i++) {
			if (i > 0) assert.ok((values[i] as number) <= (values[i - 1] as number));
			for (let j = 0; j < size; j++) {
				let back = 0;
				let inner = 0;
				for (let k = 0; k < size; k++) {
					back += (vectors[i * size + k] ?? 0) * (values[k] ?? 0) * (vectors[j * size + k] ?? 0);
					inner += (vectors[k * size + i] ?? 0) * (vectors[k * size + j] ?? 0);
				}
				near(back, symmetric[i * size + j] as number, 1e-9);
				near(inner, i === j ? 1 : 0, 1e-9);
			}
		}
	});
}

test('columns become orthonormal, and a dependent one becomes zero', () => {
	const { sparse } = sample(50, 6, 4);
	const inner = gram(orthonormalise(sparse.values, 6), 6);
	const diagonal = Array.from({ length: 6 }, (_, i) => Math.round(inner[i * 7] as number));
	assert.deepEqual(diagonal, [1, 1, 1, 1, 0, 0]);
	for (let i = 0; i < 6; i++) for (let j = 0; j < i; j++) near(inner[i * 6 + j] as number, 0, 1e-4);
});

test('a transposed matrix multiplies as its columns did', () => {
	const { sparse, dense } = sample(7, 5, 3);
	const vector = Float32Array.from({ length: 7 }, (_, i) => i + 1);
	const product = multiplySparse(transpose(sparse), vector, 1);
	for (let c = 0; c < 5; c++) {
		near(
			product[c] as number,
			dense.reduce((sum, row, r) => sum + (row[c] ?? 0) * (r + 1), 0),
			1e-4,
		);
	}
});

for (const [rows, columns] of [
	[40, 120],
	[120, 40],
] as const) {
	test(`the strongest directions of ${rows} × ${columns} keep all of a matrix of that rank`, () => {
		const rank = 5;
		const { sparse, dense } = sample(rows, columns, rank);
		const { width, values } = principalDirections(sparse, 20);
		assert.equal(width, rank);
		for (const row of dense) {
			const coordinates = Array.from({ length: width }, (_, k) =>
				row.reduce((sum, x, c) => sum + x * (values[c * width + k] ?? 0), 0),
			);
			near(Math.hypot(...coordinates), Math.hypot(...row), 1e-3);
		}
	});
}
