import assert from 'node:assert/strict';
import { once } from 'node:events';
import net from 'node:net';
import { type TestContext, test } from 'node:test';
import { AppError, newId, systemClock } from '../../src/base/index.ts';
import { shardOf, VisitorLimitsClient, visitorLimitRoutes } from '../../src/cluster/index.ts';
import { VisitorLimits } from '../../src/deployments/visitor-limits.ts';
import { PeerClient } from '../../src/net/index.ts';
import type { ClusterNode } from '../../src/store/index.ts';
import { start } from '../http/harness.ts';
import { ManualClock } from '../support/manual-clock.ts';

const KEY = 'the key of the cluster';

/** A cluster whose nodes all see the same owner of everything. */
class Cluster {
	owner = '';
	readonly addresses = new Map<string, string>();
	readonly #t: TestContext;

	constructor(t: TestContext) {
		this.#t = t;
	}

	/** Starts a node with limits of visitors. `isDeaf`: it takes connections and answers nothing. */
	async start(nodeId: string, { isDeaf = false, clock = systemClock } = {}) {
		const placement = {
			fenceOf: (id: string) => (this.owner === nodeId ? { shard: shardOf(id), epoch: 1 } : null),
			nodeOf: (): ClusterNode | null => {
				const address = this.addresses.get(this.owner);
				return address === undefined ? null : { id: this.owner, address, version: '1', isLeaving: false };
			},
		};
		const peers = new PeerClient();
		this.#t.after(() => peers[Symbol.asyncDispose]());
		const client = new VisitorLimitsClient({ placement, nodeId, peers, clusterKey: KEY, clock, timeoutMs: 60_000 });
		const impatient = new VisitorLimitsClient({ placement, nodeId, peers, clusterKey: KEY, clock, timeoutMs: 50 });
		const limits = new VisitorLimits(systemClock, client);
		if (isDeaf) {
			const server = net.createServer(() => {});
			server.listen(0, '127.0.0.1');
			await once(server, 'listening');
			this.#t.after(() => server.close());
			this.addresses.set(nodeId, `127.0.0.1:${(server.address() as net.AddressInfo).port}`);
		} else {
			const routes = visitorLimitRoutes({ placement, countHere: (...event) => limits.countHere(...event) });
			const { port } = await start(this.#t, routes);
			this.addresses.set(nodeId, `127.0.0.1:${port}`);
		}
		return { limits, client, impatientLimits: new VisitorLimits(systemClock, impatient), impatient };
	}
}

const isLimited = (error: unknown) => error instanceof AppError && error.code === 'rate_limit_exceeded';

test('a visitor has one limit of messages, whichever nodes the messages come to', async (t) => {
	const cluster = new Cluster(t);
	const one = await cluster.start('one');
	const two = await cluster.start('two');
	cluster.owner = 'one';
	const deployment = newId('deployment');
	for (const { limits } of [one, two, two, one]) await limits.countMessage(deployment, 'address 192.0.2.1', 4);
	for (const { limits } of [one, two]) {
		await assert.rejects(async () => limits.countMessage(deployment, 'address 192.0.2.1', 4), isLimited);
	}
	await two.limits.countMessage(deployment, 'address 192.0.2.2', 4);
});

test('a visitor has one limit of other requests', async (t) => {
	const cluster = new Cluster(t);
	const one = await cluster.start('one');
	const two = await cluster.start('two');
	cluster.owner = 'one';
	const deployment = newId('deployment');
	for (let count = 0; count < 150; count++) {
		await one.limits.countRequest(deployment, 'address 192.0.2.1');
		await two.limits.countRequest(deployment, 'address 192.0.2.1');
	}
	await assert.rejects(async () => two.limits.countRequest(deployment, 'address 192.0.2.1'), isLimited);
});

test('the owner of a deployment counts at once', async (t) => {
	const cluster = new Cluster(t);
	const { limits } = await cluster.start('one');
	cluster.owner = 'one';
	const deployment = newId('deployment');
	assert.equal(limits.countMessage(deployment, 'address 192.0.2.1', 1), undefined);
	assert.throws(() => limits.countMessage(deployment, 'address 192.0.2.1', 1), isLimited);
});

test('while the owner does not answer, each node counts for itself, and does not ask again for a second', async (t) => {
	const cluster = new Cluster(t);
	const clock = new ManualClock();
	const { impatientLimits: limits, impatient } = await cluster.start('one', { clock });
	await cluster.start('deaf', { isDeaf: true });
	cluster.owner = 'deaf';
	const deployment = newId('deployment');
	await limits.countMessage(deployment, 'address 192.0.2.1', 2);
	assert.equal(limits.countMessage(deployment, 'address 192.0.2.1', 2), undefined, 'not asked');
	assert.throws(() => limits.countMessage(deployment, 'address 192.0.2.1', 2), isLimited);
	clock.advance(1_000);
	assert.equal(await impatient.count('messages', deployment, 'address 192.0.2.1', 2), null);
});

test('a node that is not the owner any more counts nothing for others', async (t) => {
	const cluster = new Cluster(t);
	const one = await cluster.start('one');
	await cluster.start('two');
	cluster.owner = 'gone';
	cluster.addresses.set('gone', cluster.addresses.get('two') as string);
	assert.equal(await one.client.count('messages', newId('deployment'), 'address 192.0.2.1', 2), null);
});

test('the route refuses what is not an event of a visitor', async (t) => {
	const cluster = new Cluster(t);
	await cluster.start('one');
	cluster.owner = 'one';
	const url = `http://${cluster.addresses.get('one')}/cluster/v1/visitor-limits`;
	const headers = { 'content-type': 'application/json' };
	const event = { of: 'messages', deployment_id: newId('deployment'), visitor: 'address ::', per_minute: 1 };
	for (const wrong of [{ of: 'all' }, { visitor: 'x'.repeat(300) }, { per_minute: 1.5 }, { deployment_id: null }]) {
		const body = JSON.stringify({ ...event, ...wrong });
		assert.equal((await fetch(url, { method: 'POST', headers, body })).status, 400);
	}
	const response = await fetch(url, { method: 'POST', headers, body: JSON.stringify(event) });
	assert.deepEqual(await response.json(), { retry_after: 0 });
});
