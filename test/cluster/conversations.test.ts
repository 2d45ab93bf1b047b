import assert from 'node:assert/strict';
import { after, before, suite, test } from 'node:test';
import { createLog, type Deferred, deferred, systemClock } from '../../src/base/index.ts';
import { Placement, shardOf } from '../../src/cluster/index.ts';
import { Conversations } from '../../src/conversations/index.ts';
import { type ChatModel, createModels } from '../../src/models/index.ts';
import { Outbox } from '../../src/outbox/index.ts';
import { openPostgresStore } from '../../src/store/postgres/index.ts';
import { requireRunningTurn } from '../conversations/running-turn.ts';
import * as samples from '../store/samples.ts';
import { streamFrom } from '../support/model-events.ts';
import { type PostgresServer, skipWithoutPostgres, startPostgres } from '../support/postgres.ts';
import { until } from '../support/until.ts';

const HOUR = 3_600_000;

suite('conversations in a cluster', { skip: skipWithoutPostgres }, () => {
	let server: PostgresServer;
	before(async () => {
		server = await startPostgres();
	});
	after(() => server[Symbol.asyncDispose]());

	/** A node whose model says its name, and ends when the test lets it. */
	async function openNode(name: string) {
		const store = await openPostgresStore({ url: await server.database('conversations'), firstLeaseMs: HOUR });
		const log = createLog('silent');
		const outbox = new Outbox(store, (id) => placement.fenceOf(id));
		const mayEnd: Deferred<void> = deferred();
		const begun: Deferred<void> = deferred();
		const chat: ChatModel = {
			stream: streamFrom(async function* () {
				yield { type: 'delta', text: `${name} begins. ` };
				begun.resolve();
				await mayEnd.promise;
				yield { type: 'delta', text: `${name} ends.` };
			}),
		};
		const placement: Placement = new Placement({
			...{ store: store.placement, nodeId: store.fence.owner, log, leaseMs: HOUR },
			busyShards: () => new Set(),
			onGained: () => void conversations.resumeUnfinished(),
			onLost: (shards) => conversations.abandonWhere((id) => shards.has(shardOf(id))),
		});
		const conversations: Conversations = new Conversations({
			...{ store, outbox, log, clock: systemClock, replyTimeoutMs: 60_000 },
			knowledge: { search: async () => ({ hits: [], confidence: 0 }) },
			tools: { functionsOf: async () => [] },
			models: createModels({ providers: [{ id: 'slow', models: null, chat }] }),
			fenceOf: (id) => placement.fenceOf(id),
		});
		return {
			...{ store, placement, conversations, begun, mayEnd },
			async [Symbol.asyncDispose]() {
				await conversations[Symbol.asyncDispose]();
				await placement[Symbol.asyncDispose]();
				outbox[Symbol.dispose]();
				await store[Symbol.asyncDispose]();
			},
		};
	}

	test('the reply of a frozen node is written again by the next owner, once, and the first node stores nothing more', async () => {
		await using frozen = await openNode('One');
		const assistant = samples.assistant({ model: 'slow/any' });
		const deployment = { ...samples.deployment({ assistant_id: assistant.id }), version: 1 };
		await frozen.store.commit({
			write: [
				{ op: 'insert', kind: 'assistants', record: assistant },
				{ op: 'insert', kind: 'deployments', record: deployment },
			],
		});
		await frozen.placement.renew();
		const message = { deployment, conversation_id: undefined, content: 'Who is it?', metadata: undefined };
		const sent = await frozen.conversations.send({ ...message, channel: 'api', end_user: null });
		const { reply } = requireRunningTurn(sent);
		await frozen.begun.promise;

		// The lease of the first node ends without its knowledge.
		await using second = await openNode('Two');
		await frozen.store.placement.renew(1);
		await until('the second node has all shards', async () => {
			await second.placement.renew();
			return second.placement.served === 256;
		});
		await second.begun.promise;
		frozen.mayEnd.resolve();
		second.mayEnd.resolve();
		await until(
			'the reply is stored',
			async () => (await second.store.get('messages', reply.id))?.status === 'completed',
		);
		await frozen.placement.renew();
		assert.equal(frozen.placement.fenceOf(reply.conversation_id), null);
		await assert.rejects(frozen.conversations.stop(reply.conversation_id), { code: 'unavailable' });

		const stored = await second.store.get('messages', reply.id);
		assert.deepEqual([stored?.content, stored?.attempts], ['Two begins. Two ends.', 2]);
		const events = await second.store.events.after(reply.conversation_id, 0, 20);
		assert.deepEqual(
			events.map(({ type }) => type),
			['message.created', 'message.created', 'message.reset', 'message.completed'],
		);
	});
});
