import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { test } from 'node:test';
import { GrowingBuffer } from '../../src/http/growing-buffer.ts';

test('pieces of all sizes become the bytes that arrived', () => {
	const bytes = randomBytes(300_000);
	const buffer = new GrowingBuffer();
	for (let at = 0, size = 0; at < bytes.length; at += size, size = (size * 2 + 1) % 10_000)
		buffer.append(bytes.subarray(at, at + size));
	assert.equal(buffer.length, bytes.length);
	assert.deepEqual(buffer.bytes(), bytes);
	buffer.clear();
	assert.equal(buffer.length, 0);
	buffer.append(bytes.subarray(0, 3));
	assert.deepEqual(buffer.bytes(), bytes.subarray(0, 3));
});

test('pieces of one byte need at most twice their memory', () => {
	const buffer = new GrowingBuffer();
	for (let at = 0; at < 100_000; at++) buffer.append(Buffer.from([at]));
	assert.ok(buffer.bytes().buffer.byteLength <= 200_000);
});
