import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import test, { after } from 'node:test';
import { AppError, createLog, systemClock } from '../../src/base/index.ts';
import { Conversations } from '../../src/conversations/index.ts';
import { type ChatModel, createModels } from '../../src/models/index.ts';
import { Outbox } from '../../src/outbox/index.ts';
import { workerEntry } from '../../src/pool/index.ts';
import { type MessageRecord, openSqliteStore, type Store } from '../../src/store/index.ts';
import * as samples from '../store/samples.ts';
import { streamFrom } from '../support/model-events.ts';
import { until } from '../support/until.ts';
import { requireRunningTurn } from './running-turn.ts';

const dataDir = await mkdtemp(join(tmpdir(), 'parley-interrupted-'));
const store = await openSqliteStore({ dataDir, writer: workerEntry('store') });
const assistant = samples.assistant({ model: 'slow/any', tool_ids: ['tool_1'] });
const deployment = { ...samples.deployment({ assistant_id: assistant.id }), version: 1 };
const workspaceId = deployment.workspace_id;
await store.commit({
	write: [
		{ op: 'insert', kind: 'assistants', record: assistant },
		{ op: 'insert', kind: 'deployments', record: deployment },
		{ op: 'insert', kind: 'tools', record: { ...samples.tool(), id: 'tool_1' } },
	],
});
after(async () => {
	await store[Symbol.asyncDispose]();
	await rm(dataDir, { recursive: true, force: true });
});

/** Asks for a call in the first round, and never answers in the second. */
const chat: ChatModel = {
	stream: streamFrom(async function* ({ rounds }, signal) {
		if (rounds.length === 0) {
			yield { type: 'delta', text: 'I look it up.' };
			yield { type: 'tool_call', id: 'call_1', name: 'lookup', arguments: {} };
			return;
		}
		await new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason)));
	}),
};

const lookup = {
	tool_id: 'tool_1',
	name: 'lookup',
	description: null,
	parameters: {},
	call: () => new Promise<never>(() => {}),
};

function openConversations(outbox: Outbox, stores: Store = store): Conversations {
	return new Conversations({
		store: stores,
		outbox,
		knowledge: { search: async () => ({ hits: [], confidence: 0 }) },
		tools: { functionsOf: async () => [lookup] },
		models: createModels({ providers: [{ id: 'slow', models: null, chat }] }),
		clock: systemClock,
		log: createLog('silent'),
		replyTimeoutMs: 60_000,
	});
}

/** A reply that was interrupted while a call was running. */
async function interruptedReply(): Promise<MessageRecord> {
	using outbox = new Outbox(store);
	await using conversations = openConversations(outbox);
	const message = { deployment, conversation_id: undefined, content: 'Where is it?', metadata: undefined };
	const sent = await conversations.send({ ...message, channel: 'api', end_user: null });
	const { reply } = requireRunningTurn(sent);
	await until('the round is stored', async () => {
		const query = { where: { message_id: reply.id }, order: 'asc', limit: 1 } as const;
		return (await store.list('reply_rounds', query)).length === 1;
	});
	return reply;
}

test('stops an interrupted reply that is not resumed yet, with the text of its rounds', async () => {
	const { id, conversation_id } = await interruptedReply();
	using outbox = new Outbox(store);
	await using conversations = openConversations(outbox);
	assert.equal(await conversations.stop(conversation_id), true);
	const reply = await store.get('messages', id);
	assert.deepEqual([reply?.status, reply?.content], ['stopped', 'I look it up.']);
	assert.deepEqual(
		reply?.tool_calls.map(({ name, status }) => [name, status]),
		[['lookup', 'stopped']],
	);
});

test('ends an interrupted reply at a takeover with the text of its rounds', async () => {
	const { id, conversation_id } = await interruptedReply();
	using outbox = new Outbox(store);
	await using conversations = openConversations(outbox);
	await conversations.handOver(conversation_id, {
		workspaceId,
		to: 'human',
		by: { id: 'user_1', name: 'Kim' },
		versions: null,
	});
	const reply = await store.get('messages', id);
	assert.deepEqual([reply?.status, reply?.content], ['stopped', 'I look it up.']);
	assert.deepEqual(
		reply?.tool_calls.map(({ name, status }) => [name, status]),
		[['lookup', 'stopped']],
	);
});

test('a stop that cannot be stored gets 503, and the interrupted reply can be stopped afterwards', async () => {
	const { id, conversation_id } = await interruptedReply();
	using outbox = new Outbox(store);
	let isFull = true;
	const fullDisk = new Proxy(store, {
		get(target, key) {
			const value = Reflect.get(target, key, target);
			if (typeof value !== 'function') return value;
			if (key !== 'commit' || !isFull) return value.bind(target);
			return () => Promise.reject(new AppError('unavailable', 'The disk is full.'));
		},
	});
	await using conversations = openConversations(outbox, fullDisk);
	await assert.rejects(conversations.stop(conversation_id), { code: 'unavailable' });
	isFull = false;
	assert.equal(await conversations.stop(conversation_id), true);
	assert.equal((await store.get('messages', id))?.status, 'stopped');
});
