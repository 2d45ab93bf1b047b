import assert from 'node:assert/strict';
import { after, before, suite, test } from 'node:test';
import { createLog, newId, systemClock } from '../../src/base/index.ts';
import { Placement } from '../../src/cluster/index.ts';
import { InboxProjector } from '../../src/inbox/index.ts';
import { Statistics } from '../../src/statistics/index.ts';
import { fenceOfTask } from '../../src/store/index.ts';
import { openPostgresStore } from '../../src/store/postgres/index.ts';
import { addTalks, talk } from '../store/contract/talks.ts';
import { type PostgresServer, skipWithoutPostgres, startPostgres } from '../support/postgres.ts';
import { until } from '../support/until.ts';

const HOUR = 3_600_000;
const log = createLog('silent');

suite('what is derived from the log in a cluster', { skip: skipWithoutPostgres }, () => {
	let server: PostgresServer;
	let databases = 0;
	before(async () => {
		server = await startPostgres();
	});
	after(() => server[Symbol.asyncDispose]());

	async function openNode(url: string) {
		const store = await openPostgresStore({ url, firstLeaseMs: HOUR });
		const placement = new Placement({
			...{ store: store.placement, nodeId: store.fence.owner, log, leaseMs: HOUR },
			busyShards: () => new Set(),
			onLost() {},
		});
		const fenceOf = (id: string) => placement.fenceOf(id);
		const statistics = new Statistics({ store, clock: systemClock, log, fenceOf });
		const inbox = new InboxProjector({ store, log, fenceOf });
		return {
			...{ store, placement, fenceOf, statistics, inbox },
			async [Symbol.asyncDispose]() {
				await statistics[Symbol.asyncDispose]();
				await inbox[Symbol.asyncDispose]();
				await placement[Symbol.asyncDispose]();
				await store[Symbol.asyncDispose]();
			},
		};
	}

	/** Two nodes, of which the first has all shards. */
	async function openNodes() {
		const url = await server.database(`derived_${++databases}`);
		const first = await openNode(url);
		await first.placement.renew();
		const second = await openNode(url);
		return {
			...{ first, second },
			async [Symbol.asyncDispose]() {
				await second[Symbol.asyncDispose]();
				await first[Symbol.asyncDispose]();
			},
		};
	}

	test('the same question at two nodes at once is in one group, and both show it', async () => {
		await using nodes = await openNodes();
		const { first, second } = nodes;
		for (const { statistics } of [first, second]) statistics.start();
		const workspaceId = newId('workspace');
		const question = { content: 'How do I descale the coffee machine?' };
		const ask = () => talk(workspaceId, Date.now(), { question, reply: { answered_by: 'none' } });
		await Promise.all([first, second].map(({ store }) => addTalks(store, [ask(), ask()])));
		const shown = (node: typeof first) =>
			node.statistics.unanswered(workspaceId, {}, { limit: 10, after: undefined }).then(({ groups }) => groups);
		for (const node of [second, first]) {
			await until('the questions are in one group', async () => {
				const groups = await shown(node);
				return groups.length === 1 && groups[0]?.count === 4;
			});
		}
		const groups = await first.store.list('question_groups', {
			where: { workspace_id: workspaceId },
			order: 'asc',
			limit: 10,
		});
		assert.equal(groups.length, 1);
	});

	test('the figures and the inbox are current although the last events of the log were erased', async () => {
		await using nodes = await openNodes();
		const { first } = nodes;
		first.inbox.start();
		const workspaceId = newId('workspace');
		const erased = talk(workspaceId, Date.now());
		await addTalks(first.store, [talk(workspaceId, Date.now()), erased]);
		await first.store.commit({ write: [{ op: 'erase_conversation', id: erased.id }] });
		await until('all is counted', async () => (await first.statistics.report(workspaceId, {})).is_current);
		const end = await first.store.events.lastSeq();
		assert.equal(await first.store.statistics.position(), end);
		await until('the inbox is derived', async () => (await first.store.inbox.progress()).seq === end);
	});

	test('a reader at any node sees what was committed before', async () => {
		await using nodes = await openNodes();
		const { first, second } = nodes;
		for (const { inbox } of [first, second]) inbox.start();
		for (const [n, node] of [first, second, second, first].entries()) {
			await addTalks(node.store, [talk(newId('workspace'), Date.now() + n)]);
			const reader = n % 2 === 0 ? second : first;
			const target = await node.store.events.lastSeq();
			await until('the inbox has it', async () => {
				await reader.inbox.reach(10_000);
				return (await reader.store.inbox.progress()).seq >= target;
			});
		}
	});

	test('another node counts and derives when the lease of the first has ended', async () => {
		await using nodes = await openNodes();
		const { first, second } = nodes;
		second.statistics.start();
		second.inbox.start();
		await addTalks(first.store, [talk(newId('workspace'), Date.now())]);
		assert.equal(fenceOfTask(second.fenceOf, 'statistics'), null);
		await first.store.placement.renew(1);
		await until('the second node has all shards', async () => {
			await second.placement.renew();
			return second.placement.served === 256;
		});
		const end = await second.store.events.lastSeq();
		await until('the log is counted', async () => (await second.store.statistics.position()) >= end);
		await until('the inbox is derived', async () => (await second.store.inbox.progress()).seq >= end);
	});
});
