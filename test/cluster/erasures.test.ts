import assert from 'node:assert/strict';
import { after, before, suite, test } from 'node:test';
import { ClockJumpDetector, createLog, newId, systemClock } from '../../src/base/index.ts';
import { Placement, shardOf } from '../../src/cluster/index.ts';
import { Conversations, Retention } from '../../src/conversations/index.ts';
import { createModels } from '../../src/models/index.ts';
import { Outbox } from '../../src/outbox/index.ts';
import { EndUserErasures } from '../../src/privacy/index.ts';
import type { Write } from '../../src/store/index.ts';
import { openPostgresStore } from '../../src/store/postgres/index.ts';
import { ManualModel } from '../conversations/manual-model.ts';
import * as samples from '../store/samples.ts';
import { type PostgresServer, skipWithoutPostgres, startPostgres } from '../support/postgres.ts';
import { until } from '../support/until.ts';

const HOUR = 3_600_000;
const DAY = 24 * HOUR;
const log = createLog('silent');

suite('erasures in a cluster', { skip: skipWithoutPostgres }, () => {
	let server: PostgresServer;
	let databases = 0;
	before(async () => {
		server = await startPostgres();
	});
	after(() => server[Symbol.asyncDispose]());

	async function openNode(url: string) {
		const store = await openPostgresStore({ url, firstLeaseMs: HOUR });
		const fenceOf = (id: string) => placement.fenceOf(id);
		const outbox = new Outbox(store, fenceOf);
		const placement: Placement = new Placement({
			...{ store: store.placement, nodeId: store.fence.owner, log, leaseMs: HOUR },
			busyShards: () => new Set(),
			onLost: (shards) => conversations.abandonWhere((id) => shards.has(shardOf(id))),
		});
		const conversations: Conversations = new Conversations({
			...{ store, outbox, log, fenceOf, clock: systemClock, replyTimeoutMs: 60_000 },
			knowledge: { search: async () => ({ hits: [], confidence: 0 }) },
			tools: { functionsOf: async () => [] },
			models: createModels({ providers: [new ManualModel().provider] }),
		});
		const erasures = new EndUserErasures({
			...{ store, conversations, log, fenceOf, clock: systemClock },
			visitorAccount: (deploymentId, visitorKey) => `${deploymentId}:${visitorKey}`,
			backupExpiry: async () => ({ backups_gone_at: null, upgrade_copies_gone_at: null }),
		});
		const jumpDetector = new ClockJumpDetector(systemClock);
		const retention = new Retention({ store, conversations, jumpDetector, log, fenceOf });
		return {
			...{ store, placement, conversations, erasures, retention },
			async [Symbol.asyncDispose]() {
				await retention[Symbol.asyncDispose]();
				await erasures[Symbol.asyncDispose]();
				await conversations[Symbol.asyncDispose]();
				await placement[Symbol.asyncDispose]();
				outbox[Symbol.dispose]();
				await store[Symbol.asyncDispose]();
			},
		};
	}

	/** Two nodes with half of the shards each, and a workspace with conversations of an end user, at both nodes. */
	async function openNodes({ retention_days = null }: { retention_days?: number | null } = {}) {
		const url = await server.database(`erasures_${++databases}`);
		const first = await openNode(url);
		const second = await openNode(url);
		await until('each node has its half', async () => {
			await first.placement.renew();
			await second.placement.renew();
			return first.placement.served === 128 && second.placement.served === 128;
		});
		const workspace_id = newId('workspace');
		const end_user_id = newId('request');
		const assistant = samples.assistant({ workspace_id, model: 'scripted/any' });
		const deployment = samples.deployment({ workspace_id, assistant_id: assistant.id });
		const created_at = Date.now() - 2 * DAY;
		const conversations = Array.from({ length: 80 }, (_, n) =>
			samples.conversation({
				...{ workspace_id, end_user_id, deployment_id: deployment.id, assistant_id: assistant.id },
				...{ created_at: created_at + n, last_message_at: created_at + n },
			}),
		);
		const write: Write[] = [
			{ op: 'insert', kind: 'workspaces', record: samples.workspace({ id: workspace_id, retention_days }) },
			{ op: 'insert', kind: 'assistants', record: assistant },
			{ op: 'insert', kind: 'deployments', record: deployment },
			...conversations.map((record) => ({ op: 'insert', kind: 'conversations', record }) as const),
		];
		assert.equal((await first.store.commit({ write })).outcome, 'committed');
		const endUser = { id: end_user_id, name: null, email: null };
		return {
			...{ url, first, second, workspace_id, end_user_id },
			left: async () =>
				(await first.store.list('conversations', { where: { workspace_id }, order: 'asc', limit: 100 })).length,
			statusOf: async (id: string) => (await first.store.get('erasures', id))?.status,
			message: {
				...{ deployment: { ...deployment, version: 1 }, conversation_id: undefined, content: 'Hello' },
				...{ metadata: undefined, channel: 'widget' as const, end_user: endUser },
			},
			async [Symbol.asyncDispose]() {
				await second[Symbol.asyncDispose]();
				await first[Symbol.asyncDispose]();
			},
		};
	}

	test('an end user is erased by the nodes that serve the conversations, and no node takes a message meanwhile', async () => {
		await using nodes = await openNodes();
		const { first, second, workspace_id, end_user_id } = nodes;
		first.erasures.start();
		const { id } = await first.erasures.request(workspace_id, end_user_id).commit();
		await until('the first node has erased its conversations', async () => {
			const left = await nodes.left();
			return left > 0 && left < 80;
		});
		for (const node of [first, second])
			await assert.rejects(node.conversations.send(nodes.message), { code: 'unavailable' });
		assert.equal(await nodes.statusOf(id), 'erasing');

		second.erasures.start();
		await until('the erasure is done', async () => (await nodes.statusOf(id)) === 'done');
		assert.equal(await nodes.left(), 0);
		assert.equal((await first.store.get('erasures', id))?.counts.conversations, 80);
		for (const { conversations } of [first, second]) {
			// The new conversation may belong to the other node, and nothing forwards the message here.
			await until('a message is taken', () =>
				conversations.send(nodes.message).then(
					() => true,
					() => false,
				),
			);
		}
	});

	test('an erasure ends although the node that serves some of the conversations ends', async () => {
		await using nodes = await openNodes();
		const { first, second, workspace_id, end_user_id } = nodes;
		first.erasures.start();
		const { id } = await first.erasures.request(workspace_id, end_user_id).commit();
		await until('the first node has erased its conversations', async () => (await nodes.left()) < 80);
		await second.store.placement.renew(1);
		await until('the first node has all shards', async () => {
			await first.placement.renew();
			return first.placement.served === 256;
		});
		await until('the erasure is done', async () => (await nodes.statusOf(id)) === 'done');
		assert.equal(await nodes.left(), 0);
	});

	test('two requests at once, at two nodes, make one erasure', async () => {
		await using nodes = await openNodes();
		const { first, second, workspace_id, end_user_id } = nodes;
		const requests = [first, second].map(({ erasures }) => erasures.request(workspace_id, end_user_id).commit());
		const [one, other] = await Promise.all(requests);
		assert.equal(one?.id, other?.id);
		await until('it is done', async () => (await nodes.statusOf(one?.id ?? '')) === 'done');
		const all = await first.store.list('erasures', { where: { workspace_id }, order: 'asc', limit: 10 });
		assert.equal(all.length, 1);
	});

	test('each node erases the conversations that it serves when their retention is over, and none is left', async () => {
		await using nodes = await openNodes({ retention_days: 1 });
		await nodes.first.retention.sweep();
		const left = await nodes.left();
		assert.ok(left > 0 && left < 80, `${left} are left`);
		await nodes.second.retention.sweep();
		assert.equal(await nodes.left(), 0);
	});
});
