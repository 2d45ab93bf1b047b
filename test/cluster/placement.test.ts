import assert from 'node:assert/strict';
import { after, before, suite, test } from 'node:test';
import { createLog, newId } from '../../src/base/index.ts';
import { Placement, shardOf } from '../../src/cluster/index.ts';
import { SHARD_COUNT, type ShardFence } from '../../src/store/index.ts';
import { openPostgresStore } from '../../src/store/postgres/index.ts';
import { type PostgresServer, skipWithoutPostgres, startPostgres } from '../support/postgres.ts';
import { until } from '../support/until.ts';

const HOUR = 3_600_000;

test('ids fall evenly on all shards, and always on the same ones', () => {
	const counts = new Array<number>(SHARD_COUNT).fill(0);
	for (let n = 0; n < 51_200; n++) {
		const shard = shardOf(newId('conversation'));
		counts[shard] = (counts[shard] as number) + 1;
	}
	// 200 on average: six standard deviations are 85.
	assert.ok(Math.min(...counts) > 115 && Math.max(...counts) < 285);
	assert.equal(shardOf('conv_06drtrkw1g003gw45xn33eq7we1yrt3d'), 103);
	assert.equal(shardOf('dep_06drtrkw1g003gw45xn33eq7we1yrt3d'), 134);
});

test('a node gives up what it served when its lease ended, before it is renewed', async () => {
	const clock = { time: 0, now: () => Date.now(), monotonicNow: () => clock.time };
	const events: string[] = [];
	const shards = Array.from({ length: SHARD_COUNT }, () => ({ owner: 'node', epoch: 1 }));
	const release = async (given: readonly ShardFence[]) => {
		events.push(`released ${given.length}`);
		for (const { shard } of given) (shards[shard] as { epoch: number }).epoch++;
	};
	/** How long the database takes. */
	let takesMs = 0;
	const renew = async () => {
		clock.time += takesMs;
		return { nodes: [], shards, surplus: 0, nextExpiryMs: null, now: Date.now() };
	};
	await using placement = new Placement({
		...{ store: { renew, release, leave: async () => {} }, nodeId: 'node', clock, leaseMs: HOUR },
		...{ log: createLog('silent'), busyShards: () => new Set<number>() },
		onGained: (gained) => events.push(`gained ${gained.size}`),
		onLost: (lost) => events.push(`lost ${lost.size}`),
	});
	await placement.renew();
	clock.time += HOUR;
	await placement.renew();
	assert.deepEqual(events, ['gained 256', 'lost 256', 'released 256', 'gained 256']);
	assert.equal(placement.fenceOf('conv_06drtrkw1g003gw45xn33eq7we1yrt3d')?.epoch, 2);
	// An answer that comes after the end of the lease that it grants.
	takesMs = HOUR;
	await placement.renew();
	assert.equal(placement.served, 0);
	takesMs = 0;
	await placement.renew();
	assert.deepEqual(events.slice(4), ['lost 256', 'released 256', 'gained 256']);
	assert.equal(placement.served, SHARD_COUNT);
});

test('a shard that was given up is served again with a later epoch only, whatever the database said meanwhile', async () => {
	const shards = Array.from({ length: SHARD_COUNT }, () => ({ owner: 'node', epoch: 1 }));
	const view = (surplus: number) => ({ nodes: [], shards, surplus, nextExpiryMs: null, now: Date.now() });
	const released: (readonly ShardFence[])[] = [];
	let surplus = 100;
	let isAway = true;
	await using placement = new Placement({
		...{ nodeId: 'node', leaseMs: HOUR, log: createLog('silent'), busyShards: () => new Set<number>(), onLost() {} },
		store: {
			renew: async () => view(surplus),
			async release(fences) {
				if (isAway) throw new Error('The database is away.');
				released.push(fences);
			},
			leave: async () => {},
		},
	});
	await placement.renew();
	await until('the surplus is given up', () => placement.served === 156);
	// The database was away, and then says what it said before: neither serves the shards again nor gives up further ones.
	isAway = false;
	await placement.renew();
	assert.equal(placement.served, 156);
	assert.deepEqual(
		released.map((fences) => [fences.length, fences[0]?.epoch]),
		[[100, 1]],
	);
	surplus = 0;
	for (const shard of shards.slice(156)) shard.epoch = 2;
	await placement.renew();
	assert.equal(placement.served, SHARD_COUNT);
});

suite('the placement of shards on nodes', { skip: skipWithoutPostgres }, () => {
	let server: PostgresServer;
	before(async () => {
		server = await startPostgres();
	});
	after(() => server[Symbol.asyncDispose]());

	/** A node whose lease is renewed only when the test says so. */
	async function openNode(database: string) {
		const store = await openPostgresStore({
			url: await server.database(database),
			address: database,
			firstLeaseMs: HOUR,
		});
		const clock = { time: 0, now: () => Date.now(), monotonicNow: () => clock.time };
		const events: string[] = [];
		const log = createLog('silent');
		const busy = new Set<number>();
		const placement = new Placement({
			...{ store: store.placement, nodeId: store.fence.owner, log, clock, leaseMs: HOUR, renewMs: HOUR },
			busyShards: () => busy,
			onLost: (shards) => events.push(`lost ${shards.size}`),
		});
		return {
			...{ store, placement, clock, events, busy },
			async [Symbol.asyncDispose]() {
				await placement[Symbol.asyncDispose]();
				await store[Symbol.asyncDispose]();
			},
		};
	}

	test('the first node serves everything, with the epochs of its shards', async () => {
		await using node = await openNode('first');
		await node.placement.renew();
		const id = newId('conversation');
		assert.deepEqual(node.placement.fenceOf(id), { shard: shardOf(id), epoch: 1 });
		assert.equal(node.placement.nodeOf(id)?.id, node.store.fence.owner);
		assert.equal(node.placement.served, 256);
	});

	test('a second node gets half of the shards once their work has ended on the first', async () => {
		await using first = await openNode('join');
		await first.placement.renew();
		await using second = await openNode('join');
		await second.placement.renew();
		assert.equal(second.placement.served, 0);
		const all = Array.from({ length: SHARD_COUNT }, (_, shard) => shard);
		for (const shard of all.slice(100)) first.busy.add(shard);
		// What is busy stays, and is served meanwhile.
		await until('the second has what is idle', async () => {
			await first.placement.renew();
			await second.placement.renew();
			return second.placement.served === 100;
		});
		assert.equal(first.placement.served, 156);
		first.busy.clear();
		await first.placement.renew();
		await until('the second has its half', async () => {
			await second.placement.renew();
			return second.placement.served === 128;
		});
		await first.placement.renew();
		const ids = Array.from({ length: 300 }, () => newId('conversation'));
		for (const id of ids) {
			const owners = [first, second].filter(({ placement }) => placement.fenceOf(id) !== null);
			assert.equal(owners.length, 1);
			assert.equal(first.placement.nodeOf(id)?.id, owners[0]?.store.fence.owner);
		}
		assert.deepEqual(first.events, ['lost 100', 'lost 28']);
	});

	test('a node whose lease has run out by its own clock serves nothing, and goes on after a renewal', async () => {
		await using node = await openNode('lease');
		const id = newId('deployment');
		await node.placement.renew();
		const fence = node.placement.fenceOf(id);
		node.clock.time += HOUR;
		assert.equal(node.placement.fenceOf(id), null);
		assert.equal(node.placement.served, 0);
		await node.placement.renew();
		assert.deepEqual(node.placement.fenceOf(id), { shard: shardOf(id), epoch: (fence?.epoch ?? 0) + 1 });
	});

	test('a node that was taken over discards what it had', async () => {
		await using frozen = await openNode('frozen');
		await frozen.placement.renew();
		await using other = await openNode('frozen');
		await frozen.store.placement.renew(1);
		await until('the other has all shards', async () => {
			await other.placement.renew();
			return other.placement.served === 256;
		});
		await frozen.placement.renew();
		assert.deepEqual(frozen.events, ['lost 256']);
		const id = newId('conversation');
		assert.equal(frozen.placement.fenceOf(id), null);
		assert.deepEqual(other.placement.fenceOf(id), { shard: shardOf(id), epoch: 2 });
	});

	test('the shards of an ended node are taken over when its lease ends, without another renewal', async () => {
		await using ended = await openNode('expiry');
		await ended.placement.renew();
		await using other = await openNode('expiry');
		await ended.store.placement.renew(300);
		await other.placement.renew();
		assert.equal(other.placement.served, 0);
		await until('the other has all shards', () => other.placement.served === SHARD_COUNT);
	});

	test('a node that starts does not keep the shards of an ended one from the others', async () => {
		await using ended = await openNode('starting');
		await ended.placement.renew();
		await using starting = await openNode('starting');
		await using other = await openNode('starting');
		await ended.store.placement.renew(1);
		await until('the lease of the first has ended', async () => {
			await other.placement.renew();
			return other.placement.nodes.length === 2;
		});
		await other.placement.renew();
		assert.equal(other.placement.served, 256);
		await starting.placement.renew();
		await until('the new node gets its share once it has started', async () => {
			await other.placement.renew();
			await starting.placement.renew();
			return starting.placement.served === 128;
		});
	});

	test('a node that leaves hands everything over, and the others have it at once', async () => {
		await using leaving = await openNode('leave');
		await using other = await openNode('leave');
		await leaving.placement.renew();
		await leaving.placement.leave();
		assert.equal(leaving.placement.served, 0);
		await other.placement.renew();
		assert.equal(other.placement.served, 256);
		assert.equal(other.placement.nodes.length, 2);
	});
});
