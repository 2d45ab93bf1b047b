import assert from 'node:assert/strict';
import { connect, type Socket } from 'node:net';
import { test } from 'node:test';
import type { PullSource } from '../../src/base/index.ts';
import type { EncodableEvent } from '../../src/http/index.ts';
import { Outbox, type PositionedUpdate } from '../../src/outbox/index.ts';
import type { StoredEvent } from '../../src/store/index.ts';
import { start } from '../http/harness.ts';
import { until } from '../support/until.ts';

const READERS = 20;
const STALLED = 5;
const DATA = 'x'.repeat(64 * 1024);

test('ends followers that read nothing, while the others get every event', async (t) => {
	let hear: (events: StoredEvent[]) => void = () => {};
	const outbox = new Outbox({
		events: { after: async () => [] },
		onEvents(listener) {
			hear = listener;
			return () => {};
		},
	});
	t.after(() => outbox[Symbol.dispose]());
	const { port } = await start(
		t,
		[
			{
				method: 'GET',
				path: '/events',
				handle: () => ({ events: eventsOf(outbox.subscribe('s', null)) }),
			},
		],
		{ limits: { sendTimeoutMs: 1_000 } },
	);
	const open = async (): Promise<{ socket: Socket; received: () => number }> => {
		const socket = connect(port, '127.0.0.1');
		t.after(() => socket.destroy());
		let bytes = 0;
		socket.on('error', () => {});
		socket.on('data', (piece) => {
			bytes += piece.length;
		});
		socket.write('GET /events HTTP/1.1\r\nHost: a\r\n\r\n');
		await until('the stream is open', () => bytes > 0);
		return { socket, received: () => bytes };
	};
	const stalled = await Promise.all(Array.from({ length: STALLED }, open));
	const readers = await Promise.all(Array.from({ length: READERS }, open));
	for (const { socket } of stalled) socket.pause();

	let told = 0;
	const tell = async () => {
		told += 1;
		const event = { id: `e${told}`, stream: 's', seq: told, type: 'any', data: { message_id: 'm' }, created_at: 0 };
		hear([event as StoredEvent]);
		await until('all readers have the event', () => readers.every(({ received }) => received() > told * DATA.length));
	};
	// What the system's own buffers take of a socket that is not read differs; a follower is behind once they are full.
	while (outbox.subscriberCount('s') > READERS) {
		await tell();
		assert.ok(told < 10_000, 'a follower that reads nothing is still there');
	}
	await tell();
	assert.equal(outbox.subscriberCount('s'), READERS);
	for (const { socket, received } of stalled) {
		const closed = new Promise((resolve) => socket.once('close', resolve));
		socket.resume();
		await closed;
		assert.ok(received() < told * DATA.length);
	}
	assert.ok(readers.every(({ socket }) => !socket.destroyed));
});

/** An event of 64 KiB for each update. */
function eventsOf(updates: PullSource<PositionedUpdate>): PullSource<EncodableEvent> {
	return {
		open: (reader) => updates.open(reader),
		read() {
			const update = updates.read();
			return update && { id: String(update.position.seq), event: 'e', data: DATA };
		},
		get isEnded() {
			return updates.isEnded;
		},
		close: () => updates.close(),
	};
}
