import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createLog, systemClock } from '../../src/base/index.ts';
import { ClusterMember } from '../../src/cluster-member.ts';
import { type PlacementView, SHARD_COUNT } from '../../src/store/index.ts';
import { until } from '../support/until.ts';

test('the replies of conversations that a node has got are resumed although the first read of them fails', async () => {
	const view: PlacementView = {
		nodes: [{ id: 'one', address: 'one.example:9090', version: '1', isLeaving: false }],
		shards: Array.from({ length: SHARD_COUNT }, () => ({ owner: 'one', epoch: 1 })),
		surplus: 0,
		nextExpiryMs: null,
		now: Date.now(),
	};
	let reads = 0;
	await using member = new ClusterMember({
		...{ nodeId: 'one', secretKey: Buffer.alloc(32, 7), clock: systemClock, log: createLog('silent') },
		store: { renew: async () => view, async release() {}, async leave() {} },
		jumpDetector: { compare() {} },
		onPeerFailure() {},
	});
	await member.start({
		conversations: {
			busyIds: () => [],
			abandonWhere() {},
			async resumeUnfinished() {
				if (++reads === 1) throw new Error('No connection is free.');
			},
		},
		deliverer: { async release() {}, resume() {} },
	});
	await until('they were read again', () => reads === 2);
});

test('a node ends although the database is away and its shards cannot be handed over', async () => {
	const node = (id: string) => ({ id, address: `${id}.example:9090`, version: '1', isLeaving: false });
	const view: PlacementView = {
		nodes: [node('one'), node('two')],
		shards: Array.from({ length: SHARD_COUNT }, () => ({ owner: 'one', epoch: 1 })),
		surplus: 0,
		nextExpiryMs: null,
		now: Date.now(),
	};
	const away = async () => {
		throw new Error('The database is away.');
	};
	await using member = new ClusterMember({
		...{ nodeId: 'one', secretKey: Buffer.alloc(32, 7), clock: systemClock, log: createLog('silent') },
		store: { renew: async () => view, release: away, leave: away },
		jumpDetector: { compare() {} },
		onPeerFailure() {},
	});
	await member.start({
		conversations: { busyIds: () => [], abandonWhere() {}, async resumeUnfinished() {} },
		deliverer: { async release() {}, resume() {} },
	});
	assert.equal(await member.leave(100), false);
});
