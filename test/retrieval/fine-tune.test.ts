import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ContrastiveStep, type TextPair } from '../../src/retrieval/training/contrastive-step.ts';
import { FloatRows } from '../../src/retrieval/training/float-rows.ts';
import { seededNoise } from '../../src/retrieval/training/random.ts';

const WIDTH = 4;
const TERMS = 6;
/** The rate of the first step: AdaGrad divides the gradient of a term by its length. */
const RATE = 0.03;

const terms = (weights: Record<number, number>) => ({
	rows: Uint32Array.from(Object.keys(weights), Number),
	values: Float32Array.from(Object.values(weights)),
});

const BATCH: TextPair[] = [
	{ question: terms({ 0: 1 }), text: terms({ 1: 2, 4: 0.5 }), key: 'a' },
	{ question: terms({ 2: 1.5, 4: 1 }), text: terms({ 3: 1 }), key: 'b' },
	{ question: terms({ 1: 0.5 }), text: terms({ 5: 1, 0: 0.3 }), key: 'c' },
];

function randomDirections(): Float32Array {
	return Float32Array.from({ length: TERMS * WIDTH }, seededNoise(7));
}

/** The loss of a batch. */
function lossOf(directions: Float32Array, batch = BATCH): number {
	return new ContrastiveStep(directions, WIDTH, batch.length).run(batch);
}

test('a step moves each term against the gradient of the loss, as finite differences give it', () => {
	const before = randomDirections();
	const after = Float32Array.from(before);
	const step = new ContrastiveStep(before, WIDTH, BATCH.length);
	step.run(BATCH);
	step.copyTo(after);
	const epsilon = 1e-3;
	for (let row = 0; row < TERMS; row++) {
		const gradient = Array.from({ length: WIDTH }, (_, i) => {
			const at = row * WIDTH + i;
			const shifted = (by: number) => {
				const moved = Float32Array.from(before);
				(moved[at] as number) += by;
				return lossOf(moved);
			};
			return (shifted(epsilon) - shifted(-epsilon)) / (2 * epsilon);
		});
		const length = Math.hypot(...gradient);
		assert.ok(length > 0.01, `term ${row} has a gradient`);
		for (const [i, slope] of gradient.entries()) {
			const at = row * WIDTH + i;
			const moved = (after[at] as number) - (before[at] as number);
			assert.ok(Math.abs(moved + (RATE * slope) / length) < 0.02 * RATE, `term ${row}, value ${i}: ${moved}`);
		}
	}
});

test('steps lower the loss until each question is nearest to its own text', () => {
	const directions = randomDirections();
	const step = new ContrastiveStep(directions, WIDTH, BATCH.length);
	const losses = Array.from({ length: 200 }, () => step.run(BATCH));
	assert.ok((losses[1] as number) < (losses[0] as number));
	assert.ok((losses.at(-1) as number) < 0.05, `${losses.at(-1)}`);
});

test('pairs with the same key are no negatives of each other', () => {
	const same = BATCH.map((pair) => ({ ...pair, key: 'one title' }));
	assert.equal(lossOf(randomDirections(), same), 0);
});

test('a text without a direction changes nothing', () => {
	const directions = new Float32Array(TERMS * WIDTH);
	const step = new ContrastiveStep(directions, WIDTH, BATCH.length);
	assert.ok(Math.abs(step.run(BATCH) - Math.log(BATCH.length)) < 1e-6);
	step.copyTo(directions);
	assert.deepEqual(directions, new Float32Array(TERMS * WIDTH));
});

test('rows have the same sums with and without the instructions for four values', () => {
	const [fast, slow] = [new FloatRows(10, true), new FloatRows(10, false)];
	const noise = seededNoise(3);
	for (const rows of [fast, slow]) rows.append(20_000);
	for (const row of [0, 1, 19_999]) {
		const values = Float32Array.from({ length: 10 }, noise);
		for (const rows of [fast, slow]) rows.row(row).set(values);
	}
	for (const rows of [fast, slow]) {
		rows.addScaled(0, 1 / 3, 19_999);
		rows.addScaled(1, rows.dot(0, 19_999), 0);
	}
	for (const row of [0, 1]) assert.deepEqual(fast.row(row), slow.row(row));
	assert.notEqual(fast.dot(0, 1), 0);
	assert.equal(fast.dot(0, 1), slow.dot(0, 1));
	fast.clear(1, 1);
	assert.equal(fast.dot(1, 19_999), 0);
});
