import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { encodeServerSentEvent } from '../../src/base/index.ts';
import { readEvents } from '../../src/widget/transport/event-stream.ts';

function bodyOf(chunks: Uint8Array[]): ReadableStream<Uint8Array> {
	return new ReadableStream({
		start(controller) {
			for (const chunk of chunks) controller.enqueue(chunk);
			controller.close();
		},
	});
}

async function all<T>(items: AsyncIterable<T>): Promise<T[]> {
	const found: T[] = [];
	for await (const item of items) found.push(item);
	return found;
}

test('reads Unicode line and paragraph separators as ordinary characters', async () => {
	const data = JSON.stringify({ delta: 'one\u2028two\u2029three\u0085four' });
	const sent = { id: '1.0', event: 'message.delta', data };
	assert.deepEqual(await all(readEvents(bodyOf([Buffer.from(encodeServerSentEvent(sent))]), 5_000)), [sent]);
});

test('reads the same events at any chunk boundary', async () => {
	const event = fc.record(
		{
			id: fc.stringMatching(/^[0-9]{1,9}\.[0-9]{1,9}$/),
			event: fc.constantFrom('message.created', 'message.delta'),
			data: fc.string({ unit: 'grapheme' }).map((text) => JSON.stringify({ text })),
		},
		{ noNullPrototype: true },
	);
	await fc.assert(
		fc.asyncProperty(
			fc.array(event),
			fc.array(fc.integer({ min: 1, max: 40 }), { minLength: 1 }),
			async (events, cuts) => {
				const bytes = Buffer.from(`:\n\n${events.map(encodeServerSentEvent).join(':\n\n')}`);
				const chunks: Uint8Array[] = [];
				for (let at = 0, turn = 0; at < bytes.length; turn++) {
					const size = cuts[turn % cuts.length] as number;
					chunks.push(bytes.subarray(at, at + size));
					at += size;
				}
				assert.deepEqual(await all(readEvents(bodyOf(chunks), 1000)), events);
			},
		),
	);
});

test('ignores an unfinished event and reads all three line endings', async () => {
	const text = 'id: 1.0\r\nevent: a\r\ndata: x\r\ndata: y\r\n\r\nid: 2.0\nevent: b\ndata:z\n\ndata: lost';
	assert.deepEqual(await all(readEvents(bodyOf([Buffer.from(text)]), 1000)), [
		{ id: '1.0', event: 'a', data: 'x\ny' },
		{ id: '2.0', event: 'b', data: 'z' },
	]);
});

test('gives up a silent connection', async () => {
	let left = false;
	const silent = new ReadableStream<Uint8Array>({
		cancel() {
			left = true;
		},
	});
	await assert.rejects(all(readEvents(silent, 20)), /silent/);
	assert.equal(left, true);
});
