import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Backlog, type Happening } from '../../src/outbox/topic.ts';

const delta = (index: number, text: string): Happening => ({
	kind: 'delta',
	delta: { seq: 1, message_id: 'm', index, text },
});
const event = (seq: number): Happening => ({
	kind: 'event',
	event: { id: `e${seq}`, stream: 's', seq, type: 'any', data: { message_id: 'm' }, created_at: 0 },
	replayed: false,
});

test('what waits for a follower that never reads is bounded, in characters and in number, and let go of at the bound', () => {
	const floods: Array<[bound: number, push: (backlog: Backlog, n: number) => void]> = [
		[100, (backlog, n) => backlog.push(delta(n * 10_000, 'x'.repeat(10_000)))],
		[5000, (backlog, n) => backlog.push(event(n))],
		[2500, (backlog, n) => [event(2 * n), delta(n, 'x')].map((item) => backlog.push(item))],
	];
	for (const [bound, push] of floods) {
		const backlog = new Backlog();
		for (let n = 0; n < bound; n++) push(backlog, n);
		assert.equal(backlog.overflown, false);
		push(backlog, bound);
		assert.equal(backlog.overflown, true);
		for (let n = 1; n < 100; n++) push(backlog, bound + n);
		assert.deepEqual(backlog.take(), [], 'nothing from behind the gap');
	}
});

test('taking what waits makes room again', () => {
	const backlog = new Backlog();
	for (let n = 0; n < 50; n++) {
		backlog.push(delta(n * 500_000, 'x'.repeat(500_000)));
		assert.equal(backlog.take().length, 1);
	}
	assert.equal(backlog.overflown, false);
});

test('deltas that wait side by side become one; others for the same stream stay as they were', async () => {
	const [one, other] = [new Backlog(), new Backlog()];
	const [a, b, c] = [delta(0, 'It '), delta(3, 'costs '), delta(9, '5 €.')] as const;
	one.push(a);
	other.push(a);
	one.push(b);
	one.push(event(2));
	one.push(c);
	assert.deepEqual(one.take(), [delta(0, 'It costs '), event(2), c]);
	assert.deepEqual(other.take(), [delta(0, 'It ')]);
	const changed = one.changed();
	one.push(event(3));
	await changed;
	await one.changed();
	assert.equal(one.isEmpty, false);
});
