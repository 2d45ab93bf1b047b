import assert from 'node:assert/strict';
import { PassThrough, Readable } from 'node:stream';
import { finished } from 'node:stream/promises';
import { test } from 'node:test';
import { singleChunks } from '../../src/http/single-chunks.ts';

const large = (value: number) => Buffer.alloc(20_000, value);

test('large chunks come one by one, and small ones are joined with those that wait', async () => {
	const stream = new PassThrough({ highWaterMark: 1_000_000 });
	for (const chunk of [large(1), large(2)]) stream.write(chunk);
	for (let at = 0; at < 100; at++) stream.write(Buffer.from([at]));
	stream.end();
	const sizes: number[] = [];
	const all: Buffer[] = [];
	for await (const chunk of singleChunks(stream)) {
		sizes.push(chunk.length);
		all.push(chunk);
	}
	assert.deepEqual(sizes, [20_000, 20_000, 100]);
	assert.deepEqual(
		Buffer.concat(all),
		Buffer.concat([large(1), large(2), Buffer.from(Array.from({ length: 100 }, (_, at) => at))]),
	);
});

test('an empty stream has no chunks', async () => {
	for await (const chunk of singleChunks(Readable.from([]))) assert.fail(String(chunk));
});

test('the error of a stream comes after the chunk that waits, or at once if it came before the reading', async () => {
	const stream = new Readable({ read() {} });
	stream.push(large(1));
	const chunks = singleChunks(stream);
	assert.equal((await chunks.next()).value?.length, 20_000);
	stream.destroy(new Error('The client has left.'));
	await assert.rejects(chunks.next(), { message: 'The client has left.' });
	await assert.rejects(singleChunks(stream).next(), { message: 'The client has left.' });
});

test('what a caller leaves can be discarded', async () => {
	const stream = new PassThrough({ highWaterMark: 1_000_000 });
	for (const chunk of [large(1), large(2), large(3)]) stream.write(chunk);
	stream.end();
	for await (const _ of singleChunks(stream)) break;
	let left = 0;
	stream.on('data', (chunk: Buffer) => {
		left += chunk.length;
	});
	stream.resume();
	await finished(stream);
	assert.equal(left, 40_000);
});
