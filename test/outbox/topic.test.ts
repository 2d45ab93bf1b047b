import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type StreamUpdate, SubscriberBuffer } from '../../src/outbox/topic.ts';

const delta = (index: number, text: string): StreamUpdate => ({
	kind: 'delta',
	delta: { seq: 1, message_id: 'm', index, text },
});
const event = (seq: number): StreamUpdate => ({
	kind: 'event',
	event: { id: `e${seq}`, stream: 's', seq, type: 'any', data: { message_id: 'm' }, created_at: 0 },
	replayed: false,
});

const bufferOf = () => new SubscriberBuffer({ onReadable() {} });

test('bounds the buffer of a follower that never reads in characters and items, and frees it at the bound', () => {
	const floods: Array<[bound: number, push: (backlog: SubscriberBuffer, n: number) => void]> = [
		[100, (backlog, n) => backlog.add(delta(n * 10_000, 'x'.repeat(10_000)))],
		[5000, (backlog, n) => backlog.add(event(n))],
		[2500, (backlog, n) => [event(2 * n), delta(n, 'x')].map((item) => backlog.add(item))],
	];
	for (const [bound, push] of floods) {
		const backlog = bufferOf();
		for (let n = 0; n < bound; n++) push(backlog, n);
		assert.equal(backlog.hasOverflowed, false);
		push(backlog, bound);
		assert.equal(backlog.hasOverflowed, true);
		for (let n = 1; n < 100; n++) push(backlog, bound + n);
		assert.deepEqual(backlog.drain(), [], 'nothing from behind the gap');
	}
});

test('draining a buffer frees its capacity', () => {
	const backlog = bufferOf();
	for (let n = 0; n < 50; n++) {
		backlog.add(delta(n * 500_000, 'x'.repeat(500_000)));
		assert.equal(backlog.drain().length, 1);
	}
	assert.equal(backlog.hasOverflowed, false);
});

test('merges adjacent deltas, and leaves the shared ones of other followers unchanged', () => {
	const [one, other] = [bufferOf(), bufferOf()];
	const [a, b, c] = [delta(0, 'It '), delta(3, 'costs '), delta(9, '5 €.')] as const;
	one.add(a);
	other.add(a);
	one.add(b);
	one.add(event(2));
	one.add(c);
	assert.deepEqual(one.drain(), [delta(0, 'It costs '), event(2), c]);
	assert.deepEqual(other.drain(), [delta(0, 'It ')]);
});
