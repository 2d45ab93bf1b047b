import assert from 'node:assert/strict';
import { test } from 'node:test';
import { percentile, slopeOf } from './slope.ts';

test('the slope of points on a line is that of the line, whatever surrounds it evenly', () => {
	assert.equal(
		slopeOf([
			[0, 5],
			[1, 7],
			[2, 9],
		]),
		2,
	);
	const noise = Array.from({ length: 100 }, (_, at) => [at, 40 - 0.5 * at + (at % 2 === 0 ? 3 : -3)] as const);
	assert.ok(Math.abs(slopeOf(noise) + 0.5) < 0.01);
	assert.equal(slopeOf([[1, 9]]), 0);
});

test('a percentile is a value below which that part of the values is', () => {
	const values = Array.from({ length: 100 }, (_, at) => 99 - at);
	assert.deepEqual([percentile(values, 0.5), percentile(values, 0.95), percentile([7], 0.95)], [50, 95, 7]);
});
