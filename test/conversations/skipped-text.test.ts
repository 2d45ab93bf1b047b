import assert from 'node:assert/strict';
import test from 'node:test';
import { ReadyItems } from '../../src/base/index.ts';
import { EventEncoder } from '../../src/conversations/event-encoder.ts';
import { ConversationStream } from '../../src/conversations/stream.ts';
import type { PositionedUpdate, StreamEventData } from '../../src/outbox/index.ts';
import type { MessageRecord, Store } from '../../src/store/index.ts';
import { message } from '../store/samples.ts';
import { itemsOf } from '../support/pull-source.ts';

const reply = { ...message(), version: 2 };
const call = { id: 'call_1', tool_id: '', name: 'lookup', arguments: {}, result: null, duration_ms: null };

function event(seq: number, type: string, data: Partial<StreamEventData>, replayed: boolean): PositionedUpdate {
	const logged = { id: `evt_${seq}`, stream: reply.conversation_id, seq, type, created_at: 0 };
	const position = { seq, offset: 0 };
	return { kind: 'event', event: { ...logged, data: { message_id: reply.id, ...data } }, replayed, position };
}

function delta(seq: number, text: string): PositionedUpdate {
	const position = { seq, offset: text.length };
	return { kind: 'delta', delta: { seq, message_id: reply.id, index: 0, text }, position };
}

/** The names of the events that a follower gets. */
async function namesOf(
	updates: PositionedUpdate[],
	stored: MessageRecord | undefined | (() => MessageRecord),
	until: string | null = null,
): Promise<string[]> {
	const encoder = new EventEncoder({
		get: async () => (typeof stored === 'function' ? stored() : stored),
	} as unknown as Pick<Store, 'get'>);
	const stream = new ConversationStream(new ReadyItems(updates), encoder, {
		audience: 'api',
		until,
		first: null,
	});
	const names: string[] = [];
	for await (const { event: name } of itemsOf(stream)) names.push(name);
	return names;
}

test('a follower for whom a reply has ended before it was opened gets none of its calls, neither logged nor live', async () => {
	const updates = [
		event(1, 'message.created', { text: 'opens' }, true),
		event(2, 'tool.started', { tool_call: { ...call, status: 'running' } }, false),
		delta(1, 'It costs '),
		event(3, 'tool.completed', { tool_call: { ...call, status: 'completed' } }, false),
		event(4, 'message.completed', { text: 'closes' }, false),
	];
	assert.deepEqual(await namesOf(updates, reply), ['message.completed']);
});

test('a reply that is written again after that is sent with its calls', async () => {
	const updates = [
		event(1, 'message.created', { text: 'opens' }, true),
		event(2, 'tool.started', { tool_call: { ...call, status: 'running' } }, true),
		event(3, 'message.failed', { text: 'closes' }, true),
		event(4, 'message.reset', { text: 'opens' }, false),
		event(5, 'tool.started', { tool_call: { ...call, status: 'running' } }, false),
	];
	assert.deepEqual(await namesOf(updates, reply), ['message.reset', 'tool.started']);
});

test('a follower gets no text of a reply that was erased before it was opened', async () => {
	const updates = [event(1, 'message.created', { text: 'opens' }, false), delta(1, 'It costs ')];
	assert.deepEqual(await namesOf(updates, undefined), []);
});

test('the stream of a turn whose failed reply was written again before the failure was read ends with its new end', async () => {
	const updates = [
		event(1, 'message.created', { text: 'opens' }, true),
		event(2, 'message.failed', { text: 'closes' }, true),
		event(3, 'message.created', { message_id: 'msg_of_another_turn' }, false),
		event(4, 'message.reset', { text: 'opens' }, false),
		event(5, 'message.completed', { text: 'closes' }, false),
		event(6, 'message.created', {}, false),
	];
	assert.deepEqual(await namesOf(updates, reply, reply.id), ['message.reset', 'message.completed']);
});

test('a reply that ends after a follower has seen it begin is sent with the text of its repeat', async () => {
	const updates = [
		event(1, 'message.created', { text: 'opens' }, true),
		event(2, 'message.failed', { text: 'closes' }, true),
		event(3, 'message.reset', { text: 'opens' }, true),
		event(4, 'tool.started', { tool_call: { ...call, status: 'running' } }, true),
		delta(3, 'It costs '),
		event(5, 'message.completed', { text: 'closes' }, false),
	];
	let reads = 0;
	const names = await namesOf(updates, () => (++reads === 1 ? { ...reply, status: 'in_progress' } : reply));
	assert.deepEqual(names, ['message.created', 'message.reset', 'tool.started', 'message.delta', 'message.completed']);
});

test('the text of such a repeat is sent, too, where other replies have come between', async () => {
	const other = 'msg_of_another_turn';
	const updates = [
		event(1, 'message.created', { text: 'opens' }, true),
		event(2, 'message.failed', { text: 'closes' }, true),
		event(3, 'message.created', { text: 'opens', message_id: other }, true),
		event(4, 'message.completed', { text: 'closes', message_id: other }, true),
		event(5, 'message.reset', { text: 'opens' }, true),
		delta(5, 'It costs '),
		event(6, 'message.completed', { text: 'closes' }, false),
	];
	let reads = 0;
	const names = await namesOf(updates, () => (++reads === 1 ? { ...reply, status: 'in_progress' } : reply));
	assert.deepEqual(names, [
		...['message.created', 'message.completed'],
		...['message.reset', 'message.delta', 'message.completed'],
	]);
});
