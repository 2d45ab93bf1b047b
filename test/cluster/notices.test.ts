import assert from 'node:assert/strict';
import { after, before, suite, test } from 'node:test';
import { Sweeper } from '../../src/access/index.ts';
import { ClockJumpDetector, createLog, newId, systemClock } from '../../src/base/index.ts';
import { Placement } from '../../src/cluster/index.ts';
import { People } from '../../src/conversations/people.ts';
import { ChangeNotices } from '../../src/knowledge/index.ts';
import { Notices } from '../../src/outbox/index.ts';
import { dayOf } from '../../src/store/index.ts';
import { openPostgresStore } from '../../src/store/postgres/index.ts';
import { DeliveryNotices } from '../../src/webhooks/index.ts';
import * as samples from '../store/samples.ts';
import { type PostgresServer, skipWithoutPostgres, startPostgres } from '../support/postgres.ts';
import { until } from '../support/until.ts';

const HOUR = 3_600_000;
const log = createLog('silent');

suite('what the nodes of a cluster know of one another', { skip: skipWithoutPostgres }, () => {
	let server: PostgresServer;
	let databases = 0;
	before(async () => {
		server = await startPostgres();
	});
	after(() => server[Symbol.asyncDispose]());

	async function openNode(url: string) {
		const store = await openPostgresStore({ url, firstLeaseMs: HOUR });
		const notices = new Notices();
		const changes = new ChangeNotices({ store, notices, log });
		const deliveries = new DeliveryNotices({ store, notices, log });
		const people = new People(store);
		return {
			...{ store, notices, people },
			async [Symbol.asyncDispose]() {
				people[Symbol.dispose]();
				deliveries[Symbol.dispose]();
				changes[Symbol.dispose]();
				await store[Symbol.asyncDispose]();
			},
		};
	}

	async function openNodes() {
		const url = await server.database(`notices_${++databases}`);
		const [first, second] = [await openNode(url), await openNode(url)];
		return {
			...{ first, second },
			async [Symbol.asyncDispose]() {
				await second[Symbol.asyncDispose]();
				await first[Symbol.asyncDispose]();
			},
		};
	}

	test('the dashboard at one node learns what another node has changed', async () => {
		await using nodes = await openNodes();
		const { first, second } = nodes;
		const workspace_id = newId('workspace');
		const base = samples.knowledgeBase({ workspace_id });
		const document = samples.document({ workspace_id, knowledge_base_id: base.id });
		const delivery = samples.delivery({ workspace_id });
		await first.store.commit({
			write: [
				{ op: 'insert', kind: 'knowledge_bases', record: base },
				{ op: 'insert', kind: 'documents', record: document },
				{ op: 'insert', kind: 'deliveries', record: delivery },
			],
		});
		const source = second.notices.subscribe(workspace_id);
		const seen = new Set<string>();
		source.open({
			onReadable() {
				for (let notice = source.read(); notice !== null; notice = source.read()) seen.add(notice.subject);
			},
		});
		await until('all notices have come', async () => {
			// A hint may be lost while the nodes connect: the next change brings what it would have brought.
			const at = { updated_at: Date.now() };
			await first.store.commit({
				write: [
					{ op: 'patch', kind: 'knowledge_bases', id: base.id, set: at },
					{ op: 'patch', kind: 'documents', id: document.id, set: at },
					{ op: 'patch', kind: 'deliveries', id: delivery.id, set: at },
				],
			});
			return seen.size === 3;
		});
		assert.deepEqual([...seen].sort(), [base.id, document.id, delivery.id].sort());
		void source.close();
	});

	test('a person whose dashboard is open at one node is available at the others', async () => {
		await using nodes = await openNodes();
		const workspaceId = newId('workspace');
		let changes = 0;
		nodes.second.people.availability.onChange(workspaceId, () => changes++);
		assert.equal(nodes.second.people.availability.isAvailable(workspaceId), false);
		nodes.first.people.availability.enter(workspaceId);
		await until('the other node knows', () => nodes.second.people.availability.isAvailable(workspaceId));
		assert.equal(changes, 1);
	});

	test('what a node that has ended had reserved for a suggestion is settled by a node that runs', async () => {
		const url = await server.database(`notices_${++databases}`);
		const ended = await openPostgresStore({ url, firstLeaseMs: HOUR });
		await using running = await openNode(url);
		const { store } = running;
		await using placement = new Placement({
			...{ store: store.placement, nodeId: store.fence.owner, log, leaseMs: HOUR },
			busyShards: () => new Set(),
			onLost() {},
		});
		const jumpDetector = new ClockJumpDetector(systemClock);
		await using sweeper = new Sweeper({ store, jumpDetector, log, fenceOf: (id) => placement.fenceOf(id) });
		const workspace_id = newId('workspace');
		const day = dayOf(Date.now());
		const spender = { workspace_id, deployment_id: newId('deployment'), visitor_id: null, model: 'openai/a' };
		const reservation = { message_id: newId('message'), conversation_id: newId('conversation'), day, amount: 10 };
		await ended.commit({ write: [{ op: 'spending.reserve', ...reservation, spender, limits: [] }] });
		const sums = () => store.spending.sumsOf(workspace_id, 'workspace', workspace_id, day, day);

		await sweeper.sweep();
		assert.deepEqual(await sums(), { spent: 0, reserved: 10 }, 'this node does not have the task yet');
		await ended[Symbol.asyncDispose]();
		await placement.renew();
		await sweeper.sweep();
		assert.deepEqual(await sums(), { spent: 10, reserved: 0 });
	});
});
