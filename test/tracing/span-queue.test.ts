import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { type Deferred, deferred } from '../../src/base/index.ts';
import type { EndedSpan } from '../../src/tracing/span-message.ts';
import { SpanQueue } from '../../src/tracing/span-queue.ts';
import { until } from '../support/until.ts';

/** A queue whose requests are the names of their spans. */
function createQueue(limits: { scheduleDelayMs?: number; maxQueueSize?: number; maxBatchSize?: number }) {
	const sent: string[] = [];
	const waiting: Deferred<void>[] = [];
	let dropped = 0;
	const queue = new SpanQueue(
		{ scheduleDelayMs: 3_600_000, maxQueueSize: 100, maxBatchSize: 100, ...limits },
		(spans) => Buffer.from(spans.map(({ name }) => name).join()),
		(request) => {
			sent.push(String(request));
			waiting.push(deferred());
			return (waiting.at(-1) as Deferred<void>).promise;
		},
		() => dropped++,
	);
	const add = (...names: string[]) => {
		for (const name of names) queue.add({ name } as EndedSpan);
	};
	return { queue, add, sent, waiting, dropped: () => dropped };
}

suite('the queue of spans', () => {
	test('hands a full batch over at once, and one after the other', async () => {
		const { add, sent, waiting } = createQueue({ maxBatchSize: 2 });
		add('a', 'b', 'c', 'd', 'e');
		assert.deepEqual(sent, ['a,b']);
		waiting[0]?.resolve();
		await until('the second batch is sent', () => sent.length === 2);
		assert.deepEqual(sent, ['a,b', 'c,d']);
	});

	test('hands over what waits after the delay', async () => {
		const { add, sent } = createQueue({ scheduleDelayMs: 1 });
		add('a');
		assert.deepEqual(sent, []);
		await until('the span is sent', () => sent.length > 0);
		assert.deepEqual(sent, ['a']);
	});

	test('drops spans while too many wait, those that are being sent included', async () => {
		const { queue, add, sent, waiting, dropped } = createQueue({ maxQueueSize: 3, maxBatchSize: 2 });
		add('a', 'b', 'c', 'd', 'e');
		assert.equal(dropped(), 2);
		waiting[0]?.resolve();
		await until('there is room', () => {
			const before = dropped();
			add('f');
			return dropped() === before;
		});
		waiting[1]?.resolve();
		const flushed = queue.flush();
		for (const each of waiting) each.resolve();
		await flushed;
		assert.deepEqual(sent, ['a,b', 'c,f']);
	});

	test('sends a batch that is closed in any step after the end of the one before', async () => {
		for (let steps = 0; steps < 8; steps++) {
			const { queue, add, sent, waiting } = createQueue({ maxBatchSize: 1 });
			add('a');
			waiting[0]?.resolve();
			for (let step = 0; step < steps; step++) await null;
			add('b');
			for (const each of waiting) each.resolve();
			await until('the second batch is sent', () => sent.length === 2);
			waiting[1]?.resolve();
			await queue.flush();
			assert.deepEqual(sent, ['a', 'b']);
		}
	});

	test('sends everything when it is flushed', async () => {
		const { queue, add, sent, waiting } = createQueue({});
		add('a', 'b');
		const flushed = queue.flush();
		assert.deepEqual(sent, ['a,b']);
		waiting[0]?.resolve();
		await flushed;
		await queue.flush();
		assert.equal(sent.length, 1);
	});
});
