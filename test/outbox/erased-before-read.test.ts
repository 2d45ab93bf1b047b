import assert from 'node:assert/strict';
import test from 'node:test';
import { Outbox, type OutboxStore } from '../../src/outbox/index.ts';
import type { StoredEvent } from '../../src/store/index.ts';
import { itemsOf } from '../support/pull-source.ts';

test('a slow subscriber of an erased stream gets no text of it', async () => {
	let log: StoredEvent[] = [];
	let publish: (events: StoredEvent[]) => void = () => {};
	const store: OutboxStore = {
		onEvents(listener) {
			publish = listener;
			return () => {};
		},
		events: { after: async (_stream, after, limit) => log.filter(({ seq }) => seq > after).slice(0, limit) },
	};
	using outbox = new Outbox(store);
	const data = { message_id: 'msg_1', text: 'opens' };
	const event = { id: 'evt_5', stream: 'conv_1', seq: 5, type: 'message.created', data, created_at: 0 };
	// An earlier event is only in the log, so the subscription reads the log.
	log = [{ ...event, id: 'evt_1', seq: 1, data: { message_id: 'msg_0' } }, event];
	publish([event]);
	outbox.appendText('conv_1', 'It costs ');
	const source = outbox.subscribe('conv_1', { seq: 0, offset: 0 });
	// The subscription is open before the erasure, and its log is read after it.
	const first = itemsOf(source).next();
	log = [];
	outbox.close('conv_1');
	assert.deepEqual(await first, { value: undefined, done: true });
});
