// Own process: no other upload may use the buffers.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { UploadCopies } from '../../src/http/upload-copies.ts';

const bytes = (size: number, value = 0) => Buffer.alloc(size, value);

test('a buffer is used again only when as many bytes of files are consumed as the body had until its end', () => {
	const body = new UploadCopies();
	const first = body.copy(bytes(100_000, 1));
	const second = body.copy(bytes(100_000, 2));
	body.consume(99_999);
	const other = new UploadCopies();
	assert.notEqual(other.copy(bytes(100_000, 3)).buffer, first.buffer);
	body.consume(1);
	const again = other.copy(bytes(90_000, 4));
	assert.equal(again.buffer, first.buffer);
	assert.deepEqual(again, bytes(90_000, 4));
	assert.deepEqual(second, bytes(100_000, 2));
	body.forget();
	other.forget();
});

test('a body that has failed gives no buffer back: a write may still be under way', () => {
	const body = new UploadCopies();
	const copy = body.copy(bytes(200_000));
	body.forget();
	body.consume(200_000);
	assert.notEqual(new UploadCopies().copy(bytes(200_000)).buffer, copy.buffer);
});

test('what arrives after the end of a body is not expected back', () => {
	const body = new UploadCopies();
	body.forget();
	for (let at = 0; at < 100; at++) body.copy(bytes(500_000));
	const other = new UploadCopies();
	const { buffer } = other.copy(bytes(500_000));
	other.consume(500_000);
	assert.equal(other.copy(bytes(500_000)).buffer, buffer);
	other.forget();
});

test('small pieces take no more memory than their bytes', () => {
	const body = new UploadCopies();
	for (let at = 0; at < 1_000; at++) assert.ok(body.copy(bytes(1)).buffer.byteLength <= Buffer.poolSize);
});

test('bodies without a reader hold a bounded number of buffers', () => {
	const stalled = Array.from({ length: 100 }, () => new UploadCopies());
	const held = stalled.map((body) => body.copy(bytes(500_000)).buffer);
	for (const body of stalled) body.consume(500_000);
	const body = new UploadCopies();
	const again = Array.from({ length: 100 }, () => body.copy(bytes(500_000)).buffer);
	// 8 of 512 KiB are kept, in any case no more than are expected back.
	assert.equal(again.filter((buffer) => held.includes(buffer)).length, 8);
	body.forget();
});
