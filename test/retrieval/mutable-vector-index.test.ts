import assert from 'node:assert/strict';
import { test } from 'node:test';
import { dotProductsFor, plainDotProducts } from '../../src/retrieval/in-memory/dot-products.ts';
import { MutableVectorIndex } from '../../src/retrieval/in-memory/index.ts';
import { Random } from '../support/random.ts';

/** Not a multiple of the lanes, so rows are padded. */
const DIMENSIONS = 20;

function cosine(a: Int8Array, b: Int8Array): number {
	const product = (left: Int8Array, right: Int8Array) =>
		left.reduce((sum, value, at) => sum + value * (right[at] as number), 0);
	return product(a, b) / Math.sqrt(product(a, a) * product(b, b));
}

test('finds the same as a list of the vectors does, while vectors are added, replaced and removed', () => {
	const random = new Random(5);
	const vector = () => Int8Array.from({ length: DIMENSIONS }, () => random.between(-127, 127));
	const index = new MutableVectorIndex(DIMENSIONS, 3);
	const model = new Map<number, Int8Array>();
	for (let step = 0; step < 600; step++) {
		const id = random.between(1, 80);
		if (random.chance(0.6)) {
			const added = vector();
			index.set(id, added);
			model.set(id, added);
		} else {
			index.delete(id);
			model.delete(id);
		}
		assert.deepEqual(index.get(id), model.get(id));
		if (step % 10 > 0) continue;
		const query = vector();
		const expected = [...model]
			.map(([other, values]) => ({ id: other, score: cosine(query, values) }))
			.sort((a, b) => b.score - a.score)
			.slice(0, 10);
		assert.deepEqual(
			index.nearest(query, 10).map(({ id: found, score }) => [found, score.toFixed(9)]),
			expected.map(({ id: found, score }) => [found, score.toFixed(9)]),
		);
	}
});

test('multiplies alike with and without the instructions of the processor', () => {
	const random = new Random(6);
	const stride = 32;
	const rows = Int8Array.from({ length: 50 * stride }, () => random.between(-128, 127));
	const values = Int8Array.from({ length: stride }, () => random.between(-128, 127));
	const [fast, plain] = [new Float64Array(50), new Float64Array(50)];
	const products = dotProductsFor(stride);
	assert.notEqual(products, plainDotProducts, 'this processor has the instructions');
	products.multiplyEach(rows, stride, values, fast);
	plainDotProducts.multiplyEach(rows, stride, values, plain);
	assert.deepEqual(fast, plain);
	assert.equal(dotProductsFor(20), plainDotProducts, 'rows of other lengths');
});
