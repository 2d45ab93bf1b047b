import assert from 'node:assert/strict';
import { after, before, suite, test } from 'node:test';
import pg from 'pg';
import { newId } from '../../src/base/index.ts';
import type { Commit } from '../../src/store/index.ts';
import { openPostgresStore, type PostgresStore } from '../../src/store/postgres/index.ts';
import { SimulatedPlacement } from '../simulation/cluster/simulated-placement.ts';
import { type PostgresServer, skipWithoutPostgres, startPostgres } from '../support/postgres.ts';
import { Random } from '../support/random.ts';
import { until } from '../support/until.ts';
import { enqueue, job } from './contract/jobs.ts';
import { event } from './samples.ts';

const HOUR = 3_600_000;

suite('the shards of a cluster on PostgreSQL', { skip: skipWithoutPostgres }, () => {
	let server: PostgresServer;
	let databases = 0;
	before(async () => {
		server = await startPostgres();
	});
	after(() => server[Symbol.asyncDispose]());

	/** Nodes on a new database. */
	async function openNodes(count: number): Promise<PostgresStore[] & AsyncDisposable> {
		const url = await server.database(`placement_${++databases}`);
		const nodes: PostgresStore[] = [];
		for (let n = 0; n < count; n++)
			nodes.push(await openPostgresStore({ url, address: `node-${n}`, firstLeaseMs: HOUR }));
		return Object.assign(nodes, {
			[Symbol.asyncDispose]: async () => {
				for (const node of nodes) await node[Symbol.asyncDispose]();
			},
		});
	}

	test('one node owns all shards', async () => {
		await using nodes = await openNodes(1);
		assert.equal((await owned(nodes[0])).length, 256);
	});

	/** As after the end of a node. */
	async function endLease(owner: string): Promise<void> {
		const client = new pg.Client(await server.database(`placement_${databases}`));
		await client.connect();
		await client.query('UPDATE parley.nodes SET expires_at = clock_timestamp() WHERE id = $1', [owner]);
		await client.end();
	}

	test('the placement of the simulation has the same rules', async () => {
		await using nodes = await openNodes(3);
		let now = 0;
		const simulated = new SimulatedPlacement(
			() => now,
			() => {},
		);
		const random = new Random(7);
		const joined = new Set<PostgresStore>();
		for (let step = 0; step < 120; step++) {
			const node = random.pick(nodes as unknown as [PostgresStore]);
			const { owner } = node.fence;
			now += 1_000;
			if (!joined.has(node)) simulated.join(owner);
			joined.add(node);
			if (step > 90 && random.chance(0.1)) {
				await node.placement.leave();
				simulated.leave(owner);
			}
			const view = await node.placement.renew(HOUR);
			const expected = simulated.renew(owner, HOUR);
			assert.deepEqual([view.shards, view.surplus], [expected.shards, expected.surplus], `step ${step}`);
			const own = view.shards.flatMap((each, shard) => (each.owner === owner ? [{ shard, epoch: each.epoch }] : []));
			const given = own.slice(0, random.chance(0.8) ? view.surplus : 0);
			await node.placement.release(given);
			simulated.release(owner, given);
			if (random.chance(0.2)) {
				await endLease(owner);
				simulated.endLease(owner);
			}
		}
	});

	test('a node that joins gets its share, and a node that leaves hands all of its shards over', async () => {
		await using nodes = await openNodes(2);
		const [first, second] = nodes;
		// A node counts from its first renewal.
		assert.equal((await owned(first)).length, 256);
		assert.equal((await owned(second)).length, 0);
		await handOver(first);
		assert.equal((await owned(second)).length, 128);
		const third = await openPostgresStore({ url: await server.database(`placement_${databases}`), firstLeaseMs: HOUR });
		nodes.push(third);
		assert.equal((await owned(third)).length, 0);
		await handOver(first);
		await handOver(second);
		assert.equal((await owned(third)).length, 86);
		assert.equal((await owned(first)).length, 85);
		assert.equal((await owned(second)).length, 85);

		await third.placement.leave();
		await handOver(third);
		assert.equal((await owned(third)).length, 0);
		assert.equal((await owned(first)).length, 128);
		assert.equal((await owned(second)).length, 128);
	});

	test('a node that was removed long after its lease has ended may not go on', async () => {
		const url = await server.database(`placement_${++databases}`);
		const sentences: string[] = [];
		const onExpelled = ({ message }: Error) => sentences.push(message);
		await using removed = await openPostgresStore({ url, firstLeaseMs: HOUR, onExpelled });
		await using other = await openPostgresStore({ url, firstLeaseMs: HOUR });
		const client = new pg.Client(url);
		await client.connect();
		await client.query("UPDATE parley.nodes SET expires_at = now() - interval '2 hours' WHERE id = $1", [
			removed.fence.owner,
		]);
		await client.end();
		assert.equal((await owned(other)).length, 256);
		await assert.rejects(owned(removed), { code: 'unavailable', message: /It must start again\.$/ });
		assert.deepEqual(sentences, [
			'The lease of this node ended more than an hour ago, and other nodes have removed it. It must start again.',
		]);
	});

	test('readers that take long do not delay the lease', async () => {
		await using nodes = await openNodes(1);
		const [node] = nodes as unknown as [PostgresStore];
		const client = new pg.Client(await server.database(`placement_${databases}`));
		await client.connect();
		await client.query('BEGIN; LOCK TABLE parley.assistants IN ACCESS EXCLUSIVE MODE');
		const reads = Array.from({ length: 20 }, () => node.get('assistants', newId('assistant')));
		const renewed = await owned(node);
		assert.equal(renewed.length, 256);
		await client.query('COMMIT');
		await client.end();
		await Promise.all(reads);
	});

	test('the shards of a node whose lease has run out are taken over, and its commits are fenced', async () => {
		await using nodes = await openNodes(2);
		const [frozen, other] = nodes as unknown as [PostgresStore, PostgresStore];
		const [shard] = await owned(frozen);
		assert.ok(shard);
		const commit = (): Commit => ({ fence: { shard: shard.id, epoch: shard.epoch }, events: [event('ws_fenced')] });
		assert.equal((await frozen.commit(commit())).outcome, 'committed');

		await frozen.placement.renew(1);
		const taken = await until('the shard is taken over', async () =>
			(await owned(other)).find(({ id, epoch }) => id === shard.id && epoch > shard.epoch),
		);
		assert.deepEqual(await frozen.commit(commit()), { outcome: 'fenced' });
		// A commit with statements of its own is fenced, too.
		assert.deepEqual(await frozen.commit({ ...commit(), write: [{ op: 'erase_sealed_responses' }] }), {
			outcome: 'fenced',
		});
		assert.equal(
			(await other.commit({ ...commit(), fence: { shard: taken.id, epoch: taken.epoch } })).outcome,
			'committed',
		);
		assert.equal((await other.events.after('ws_fenced', 0, 10)).length, 2);
	});

	test('a node whose lease has run out keeps the shards that no other node has taken', async () => {
		await using nodes = await openNodes(1);
		const [node] = nodes as unknown as [PostgresStore];
		const before = await owned(node);
		await node.placement.renew(1);
		assert.deepEqual(await owned(node), before);
	});

	test('a job of a node whose lease has run out is claimed by another, and the first cannot complete it any more', async () => {
		await using nodes = await openNodes(2);
		const [frozen, other] = nodes as unknown as [PostgresStore, PostgresStore];
		const kind = newId('job');
		const work = job({ kind });
		await enqueue(frozen, [work]);
		assert.equal((await frozen.jobs.claim(kind, 1, HOUR)).length, 1);
		assert.deepEqual(await other.jobs.claim(kind, 1, HOUR), []);
		await frozen.placement.renew(1);
		const [again] = await until('the job is free', async () => {
			const claimed = await other.jobs.claim(kind, 1, HOUR);
			return claimed.length > 0 && claimed;
		});
		assert.equal(again?.attempts, 2);
		const completion: Commit = { jobs: [{ op: 'complete', id: work.id }], events: [event('ws_completed')] };
		assert.deepEqual(await frozen.commit(completion), { outcome: 'fenced' });
		assert.equal((await other.commit(completion)).outcome, 'committed');
		assert.equal((await other.events.after('ws_completed', 0, 10)).length, 1);
	});

	test('nodes that claim at the same time never get the same job', async () => {
		await using nodes = await openNodes(3);
		const kind = newId('job');
		const jobs = Array.from({ length: 120 }, (_, n) => job({ kind, group: `g${n % 7}` }));
		await enqueue(nodes[0] as PostgresStore, jobs);
		const claims: string[] = [];
		await Promise.all(
			nodes.map(async (node) => {
				for (let round = 0; round < 40; round++) {
					const claimed = await node.jobs.claim(kind, 3, HOUR);
					claims.push(...claimed.map(({ id }) => id));
				}
			}),
		);
		assert.deepEqual(claims.sort(), jobs.map(({ id }) => id).sort());
	});

	test('the jobs of a group run on one node at a time, and those of other groups on others', async () => {
		await using nodes = await openNodes(2);
		const [first, second] = nodes as unknown as [PostgresStore, PostgresStore];
		const kinds = [newId('job'), newId('job')] as const;
		const index = [0, 1, 2].map(() => job({ kind: kinds[0], group: 'one' }));
		const train = job({ kind: kinds[1], group: 'one' });
		const other = job({ kind: kinds[0], group: 'two' });
		await enqueue(first, [...index, train, other]);
		const claim = async (node: PostgresStore, kind: string, limit: number) =>
			(await node.jobs.claim(kind, limit, HOUR)).map(({ id }) => id);
		assert.deepEqual(await claim(first, kinds[0], 1), [index.map(({ id }) => id).sort()[0]]);
		assert.deepEqual(await claim(second, kinds[0], 10), [other.id]);
		assert.deepEqual(await claim(second, kinds[1], 10), []);
		assert.deepEqual(await claim(first, kinds[1], 10), [train.id]);

		await first.placement.renew(0);
		assert.deepEqual((await claim(second, kinds[0], 10)).length, 3);
		assert.deepEqual(await claim(second, kinds[1], 10), [train.id]);
	});

	test('events of several nodes get their numbers in the order in which readers see them', async () => {
		await using nodes = await openNodes(3);
		const [reader] = nodes as unknown as [PostgresStore];
		let isOver = false;
		const read: number[] = [];
		const follow = async () => {
			for (let after = 0; !isOver || read.length < 240; ) {
				for (const { seq } of await reader.events.after('ws_order', after, 50)) {
					read.push(seq);
					after = seq;
				}
				if (read.length === 240) return;
			}
		};
		const following = follow();
		await Promise.all(
			nodes.map(async (node) => {
				for (let n = 0; n < 40; n++) await node.commit({ events: [event('ws_order'), event('ws_order')] });
			}),
		);
		isOver = true;
		await following;
		// A reader that goes on after the last number it has seen misses none.
		assert.deepEqual(
			read,
			Array.from({ length: 240 }, (_, index) => index + 1),
		);
	});

	test('every node gets the events of a workspace in the order of the log, whichever node has committed them', async () => {
		await using nodes = await openNodes(3);
		const heard: number[][] = nodes.map(() => []);
		const own: number[][] = nodes.map(() => []);
		for (const [n, node] of nodes.entries()) {
			node.onEvents((events) => {
				for (const { seq, stream } of events) (stream === 'ws_all' ? heard : own)[n]?.push(seq);
			});
		}
		await Promise.all(
			nodes.map(async (node, n) => {
				for (let round = 0; round < 40; round++) await node.commit({ events: [event(`conv_${n}`), event('ws_all')] });
			}),
		);
		await until('all have got all', () => heard.every(({ length }) => length === 120));
		const logged = await (nodes[0] as PostgresStore).events.after('ws_all', 0, 200);
		for (const seqs of heard)
			assert.deepEqual(
				seqs,
				logged.map(({ seq }) => seq),
			);
		// Events of a conversation are published by the node that has committed them.
		assert.deepEqual(
			own.map(({ length }) => length),
			[40, 40, 40],
		);
	});
});

/** The shards of a node after it has renewed its lease. */
async function owned(node: PostgresStore | undefined): Promise<{ id: number; epoch: number }[]> {
	assert.ok(node);
	const { shards } = await node.placement.renew(HOUR);
	return shards.flatMap(({ owner, epoch }, id) => (owner === node.fence.owner ? [{ id, epoch }] : []));
}

/** A node gives up what others wait for. */
async function handOver(node: PostgresStore | undefined): Promise<void> {
	assert.ok(node);
	const { shards, surplus } = await node.placement.renew(HOUR);
	const own = shards.flatMap(({ owner, epoch }, shard) => (owner === node.fence.owner ? [{ shard, epoch }] : []));
	await node.placement.release(own.slice(0, surplus));
}
