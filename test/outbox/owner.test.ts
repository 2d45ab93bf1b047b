import assert from 'node:assert/strict';
import { test } from 'node:test';
import { newId } from '../../src/base/index.ts';
import { Outbox, type PositionedUpdate } from '../../src/outbox/index.ts';
import type { EventsListener, ShardFence, StoredEvent } from '../../src/store/index.ts';

const stream = newId('conversation');
const message_id = newId('message');

function event(seq: number, type: string, text: 'opens' | 'closes', of = stream): StoredEvent {
	return { seq, id: newId('event'), stream: of, type, data: { message_id, text }, subject: null, created_at: 0 };
}

/** The outbox of a node that serves its conversations with `fence`. */
function outboxOfNode(node: { fence: ShardFence | null }) {
	const listeners = new Set<EventsListener>();
	const store = {
		onEvents: (listener: EventsListener) => {
			listeners.add(listener);
			return () => listeners.delete(listener);
		},
		events: { after: async () => [] },
	};
	const outbox = new Outbox(store, () => node.fence);
	const publish: EventsListener = (...committed) => {
		for (const listener of listeners) listener(...committed);
	};
	return { outbox, publish };
}

function typesOf(updates: { read(): PositionedUpdate | null }): string[] {
	const types: string[] = [];
	for (let update = updates.read(); update !== null; update = updates.read()) {
		types.push(update.kind === 'event' ? update.event.type : 'delta');
	}
	return types;
}

test('what a node has stored with an earlier fence is not published, because another node may have stored more since', () => {
	const { outbox, publish } = outboxOfNode({ fence: { shard: 7, epoch: 3 } });
	publish([event(1, 'message.created', 'opens')], { shard: 7, epoch: 1 });
	assert.equal(outbox.size, 0);
	const updates = outbox.subscribe(stream, null);
	updates.open({ onReadable: () => {} });
	assert.deepEqual(typesOf(updates), []);
	publish([event(2, 'message.failed', 'closes')], { shard: 7, epoch: 1 });
	publish([event(3, 'message.reset', 'opens')], { shard: 7, epoch: 3 });
	assert.deepEqual(typesOf(updates), ['message.reset']);
	void updates.close();
});

test('events of a workspace are published whatever the fence of their commit is', () => {
	const { outbox, publish } = outboxOfNode({ fence: null });
	const workspace = newId('workspace');
	const updates = outbox.subscribe(workspace, null);
	updates.open({ onReadable: () => {} });
	publish([event(1, 'conversation.created', 'opens', workspace)], { shard: 7, epoch: 1 });
	assert.deepEqual(typesOf(updates), ['conversation.created']);
	void updates.close();
});

test('a stream of a conversation that another node serves ends at once, so that its reader asks again', () => {
	const node: { fence: ShardFence | null } = { fence: null };
	const { outbox } = outboxOfNode(node);
	const elsewhere = outbox.subscribe(stream, null);
	elsewhere.open({ onReadable: () => {} });
	assert.equal(elsewhere.isEnded, true);
	node.fence = { shard: 7, epoch: 2 };
	const here = outbox.subscribe(stream, null);
	here.open({ onReadable: () => {} });
	assert.equal(here.isEnded, false);
	void here.close();
});

test('an event of a workspace that is published late is not sent to a client whose position is after it', async () => {
	const { outbox, publish } = outboxOfNode({ fence: null });
	const workspace = newId('workspace');
	// The position is an event of another workspace: this one has none from there on.
	const updates = outbox.subscribe(workspace, { seq: 101, offset: 0 });
	updates.open({ onReadable: () => {} });
	await new Promise(setImmediate);
	publish([event(100, 'conversation.created', 'opens', workspace)], undefined);
	publish([event(102, 'conversation.deleted', 'opens', workspace)], undefined);
	assert.deepEqual(typesOf(updates), ['conversation.deleted']);
	void updates.close();
});
