import assert from 'node:assert/strict';
import { test } from 'node:test';
import { UnsavedVectors } from '../../src/knowledge/embedding/index.ts';

const vector = (value: number) => Int8Array.of(value, 0, 0, 0);

test('what was paid for is given away once, to the embedder and the text that it is of', () => {
	const paid = new UnsavedVectors();
	paid.keep('one', 'tea', vector(1));
	paid.keep('one', 'tea', vector(2));
	paid.keep('other', 'tea', vector(3));
	assert.equal(paid.take('one', 'ink'), undefined);
	assert.deepEqual(paid.take('one', 'tea'), vector(2));
	assert.equal(paid.take('one', 'tea'), undefined);
	assert.deepEqual(paid.take('other', 'tea'), vector(3));
});

test('drops the oldest vectors when the cache is full', () => {
	const paid = new UnsavedVectors(12);
	for (const at of [1, 2, 3, 4]) paid.keep('one', `text ${at}`, vector(at));
	assert.equal(paid.take('one', 'text 1'), undefined);
	assert.deepEqual(paid.take('one', 'text 2'), vector(2));
	paid.keep('one', 'text 5', vector(5));
	for (const at of [3, 4, 5]) assert.deepEqual(paid.take('one', `text ${at}`), vector(at));
});
