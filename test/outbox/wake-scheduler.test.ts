import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Outbox } from '../../src/outbox/index.ts';
import { SubscriberBuffer } from '../../src/outbox/topic.ts';
import { WakeScheduler } from '../../src/outbox/wake-scheduler.ts';
import type { StoredEvent } from '../../src/store/index.ts';
import { compute } from '../support/compute.ts';
import { itemsOf } from '../support/pull-source.ts';
import { until } from '../support/until.ts';

const THOUSANDS = 5_000;
/** Followers of which none waits for another turn. */
const FEW = 32;

/** Followers that wait, and the order in which they wake. Each takes the processor for some milliseconds then. */
function waiting(count: number, wakeMs = 0): { followers: Set<SubscriberBuffer>; woken: number[] } {
	const followers = new Set<SubscriberBuffer>();
	const woken: number[] = [];
	for (let at = 0; at < count; at++) {
		const onReadable = () => {
			compute(wakeMs);
			woken.push(at);
		};
		followers.add(new SubscriberBuffer({ onReadable }));
	}
	return { followers, woken };
}

test('wakes a few followers at once', () => {
	const { followers, woken } = waiting(FEW);
	new WakeScheduler().wake(followers);
	assert.equal(woken.length, FEW);
});

test('wakes thousands of followers in order, and yields to the event loop in between', async () => {
	const queue = new WakeScheduler();
	const { followers, woken } = waiting(THOUSANDS, 0.02);
	let turns = 0;
	const seen = new Set<number>();
	const count = () => {
		turns += 1;
		seen.add(woken.length);
		if (woken.length < THOUSANDS) setImmediate(count);
	};
	queue.wake(followers);
	setImmediate(count);
	const other = waiting(1);
	queue.wake(other.followers);
	await new Promise((resolve) => setImmediate(resolve));
	assert.equal(other.woken.length, 1, 'a follower of another stream does not wait');
	await until('all are woken', () => woken.length === THOUSANDS);
	assert.deepEqual(
		woken,
		Array.from({ length: THOUSANDS }, (_, at) => at),
	);
	assert.ok(seen.size >= 10, `others saw ${seen.size} steps in ${turns} turns`);
});

test('each of a thousand followers gets every event once and in order, also events that come faster than it wakes', async () => {
	let hear: (events: StoredEvent[]) => void = () => {};
	const outbox = new Outbox({
		events: { after: async () => [] },
		onEvents(listener) {
			hear = listener;
			return () => {};
		},
	});
	const EVENTS = 20;
	const got: number[][] = [];
	const done = Array.from({ length: 1_000 }, async (_, at) => {
		const seen: number[] = [];
		got[at] = seen;
		for await (const item of itemsOf(outbox.subscribe('s', null))) {
			seen.push(item.position.seq);
			if (seen.length === EVENTS) return;
		}
	});
	for (let seq = 1; seq <= EVENTS; seq++) {
		const event = { id: `e${seq}`, stream: 's', seq, type: 'any', data: { message_id: 'm' }, created_at: 0 };
		hear([event as StoredEvent]);
		if (seq % 5 === 0) await new Promise((resolve) => setImmediate(resolve));
	}
	await Promise.all(done);
	const all = Array.from({ length: EVENTS }, (_, at) => at + 1);
	for (const seen of got) assert.deepEqual(seen, all);
	outbox[Symbol.dispose]();
});
