import assert from 'node:assert/strict';
import { test } from 'node:test';
import { UploadCopies } from '../../src/http/upload-copies.ts';

test('memory is used again only when as many bytes of files are consumed as the body had until then', () => {
	const body = new UploadCopies();
	const first = body.copy(Buffer.alloc(100_000, 1));
	const second = body.copy(Buffer.alloc(100_000, 2));
	body.consume(99_999);
	const other = new UploadCopies();
	assert.notEqual(other.copy(Buffer.alloc(100_000, 3)).buffer, first.buffer);
	body.consume(1);
	const again = other.copy(Buffer.alloc(90_000, 4));
	assert.equal(again.buffer, first.buffer);
	assert.deepEqual(again, Buffer.alloc(90_000, 4));
	assert.deepEqual(second, Buffer.alloc(100_000, 2));
});

test('a body without a reader keeps few of its copies', () => {
	const body = new UploadCopies();
	for (let at = 0; at < 200; at++) body.copy(Buffer.alloc(16_000));
	const last = body.copy(Buffer.alloc(16_000));
	// Only the last copies are taken back, all at once.
	body.consume(201 * 16_000);
	const buffers = new Set(Array.from({ length: 200 }, () => new UploadCopies().copy(Buffer.alloc(16_000)).buffer));
	assert.ok(buffers.has(last.buffer));
});
