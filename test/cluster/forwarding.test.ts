import assert from 'node:assert/strict';
import { once } from 'node:events';
import net from 'node:net';
import { type TestContext, test } from 'node:test';
import { createLog, type Log, newId, ReadyItems, sleep, systemClock } from '../../src/base/index.ts';
import {
	clusterOnly,
	Forwarder,
	type ForwarderOptions,
	forwardingRoutes,
	ownedRoutes,
	shardOf,
} from '../../src/cluster/index.ts';
import type { HttpRequest, Route, RouteResponse } from '../../src/http/index.ts';
import { Metrics } from '../../src/metrics/index.ts';
import { PeerClient } from '../../src/net/index.ts';
import type { ClusterNode } from '../../src/store/index.ts';
import { recordingLog } from '../api/traces.ts';
import { start } from '../http/harness.ts';
import { valuesOf } from '../metrics/values-of.ts';
import { freePort } from '../support/listening.ts';
import { until } from '../support/until.ts';

const KEY = 'the key of the cluster';

/** Who owns everything, as all nodes of a test see it. */
class Owners {
	owner = '';
	/** Called when a node looks at the owner. */
	onOwnerRead = () => {};
	readonly addresses = new Map<string, string>();
	/** Nodes whose lease holds, besides the owner. */
	readonly alive = new Set<string>();

	placementOf(nodeId: string) {
		return {
			isAlive: (id: string) => id === this.owner || this.alive.has(id),
			fenceOf: (id: string) => (this.owner === nodeId ? { shard: shardOf(id), epoch: 1 } : null),
			nodeOf: (): ClusterNode | null => {
				this.onOwnerRead();
				const address = this.addresses.get(this.owner);
				return address === undefined ? null : { id: this.owner, address, version: '1', isLeaving: false };
			},
		};
	}
}

/** Starts a node with a listener for clients and one for other nodes. */
async function startNode(
	t: TestContext,
	owners: Owners,
	id: string,
	handle: Route['handle'],
	{ log = createLog('silent'), ...options }: Partial<ForwarderOptions> & { log?: Log } = {},
) {
	const routes: Route[] = (['GET', 'POST'] as const).map((method) => ({ method, path: '/things/{id}', handle }));
	const placement = owners.placementOf(id);
	const peers = new PeerClient();
	t.after(() => peers[Symbol.asyncDispose]());
	const keyOf = () => (request: HttpRequest) => request.params.id ?? null;
	const forwarder = new Forwarder({
		placement,
		nodeId: id,
		peers,
		clusterKey: KEY,
		clock: systemClock,
		patienceMs: 60_000,
		...options,
	});
	const forClients = await start(t, forwardingRoutes(routes, keyOf, forwarder), { log });
	const forNodes = await start(t, clusterOnly(ownedRoutes(routes, keyOf, placement), KEY), {
		trustedProxies: ['0.0.0.0/0', '::/0'],
		trustsSender: true,
	});
	owners.addresses.set(id, `127.0.0.1:${forNodes.port}`);
	return {
		url: `${forClients.url}/things/${newId('conversation')}`,
		nodeUrl: `${forNodes.url}/things/x`,
		server: forNodes.server,
	};
}

const refuse = (): RouteResponse => {
	throw new Error('This node does not own it.');
};

test('a request is carried out by the owner, with its body, query, headers, client address and request id', async (t) => {
	const owners = new Owners();
	const seen: unknown[] = [];
	const entry = await startNode(t, owners, 'entry', refuse);
	await startNode(t, owners, 'owner', async (request) => {
		seen.push([
			request.id,
			request.clientAddress,
			request.header('authorization'),
			request.header('x-parley-cluster-key'),
		]);
		const answer = { body: await request.json(), page: request.query.get('page') };
		return {
			status: 201,
			headers: [
				['content-type', 'application/json'],
				['etag', '"7"'],
			],
			body: JSON.stringify(answer),
		};
	});
	owners.owner = 'owner';
	const response = await fetch(`${entry.url}?page=2`, {
		method: 'POST',
		headers: { 'content-type': 'application/json', authorization: 'Bearer one', 'x-parley-cluster-key': 'forged' },
		body: '{"text":"é"}',
	});
	assert.equal(response.status, 201);
	assert.equal(response.headers.get('etag'), '"7"');
	assert.deepEqual(await response.json(), { body: { text: 'é' }, page: '2' });
	assert.deepEqual(seen, [[response.headers.get('x-request-id'), '127.0.0.1', 'Bearer one', KEY]]);
});

test('what the node owns itself is not forwarded, also when it becomes the owner while the request waits', async (t) => {
	const owners = new Owners();
	const entry = await startNode(t, owners, 'entry', async (request) => {
		return { status: 200, body: JSON.stringify(await request.json()) };
	});
	const send = () => fetch(entry.url, { method: 'POST', headers: { 'content-type': 'application/json' }, body: '[1]' });
	const waiting = send();
	await sleep(50);
	owners.owner = 'entry';
	assert.equal(await (await waiting).text(), '[1]');
	assert.equal(await (await send()).text(), '[1]');
});

test('the listener for nodes refuses requests without the key, and what the node does not own', async (t) => {
	const owners = new Owners();
	const node = await startNode(t, owners, 'node', () => ({ status: 200, body: 'done' }));
	owners.owner = 'node';
	assert.equal((await fetch(node.nodeUrl)).status, 401);
	assert.equal((await fetch(node.nodeUrl, { headers: { 'x-parley-cluster-key': 'wrong' } })).status, 401);
	const headers = { 'x-parley-cluster-key': KEY };
	assert.equal((await fetch(node.nodeUrl, { headers })).status, 200);
	owners.owner = 'another';
	const refused = await fetch(node.nodeUrl, { headers });
	assert.equal(refused.status, 421);
	assert.equal(refused.headers.get('x-parley-not-the-owner'), '1');
});

test('a request that no node has accepted goes to the next owner', async (t) => {
	const owners = new Owners();
	const entry = await startNode(t, owners, 'entry', refuse);
	await startNode(t, owners, 'next', () => ({ status: 200, body: 'next' }));
	owners.addresses.set('gone', `127.0.0.1:${await freePort()}`);
	owners.owner = 'gone';
	const sent = fetch(entry.url, { method: 'POST' });
	await sleep(150);
	owners.owner = 'next';
	assert.equal(await (await sent).text(), 'next');
});

test('the log and the metrics tell that the owner of what is asked for cannot be reached', async (t) => {
	const owners = new Owners();
	const kept = recordingLog();
	const metrics = new Metrics('1');
	const failures = async () => valuesOf(await metrics.text(), 'parley_cluster_request_failures_total');
	const onFailure = metrics.work.onPeerFailure;
	const entry = await startNode(t, owners, 'entry', refuse, { log: kept.log, onFailure, patienceMs: 1 });
	assert.deepEqual(await failures(), { '': 0 });
	const address = `127.0.0.1:${await freePort()}`;
	owners.addresses.set('gone', address);
	owners.owner = 'gone';
	const response = await fetch(entry.url, { method: 'POST' });
	assert.equal(response.status, 503);
	assert.equal(response.headers.get('retry-after'), '1');
	assert.match(kept.text(), new RegExp(`The node at ${address} did not answer`));
	assert.deepEqual(await failures(), { '': 1 });
});

test('a request to a node that is frozen is repeated at the next owner only where a repeat changes nothing', async (t) => {
	const owners = new Owners();
	const entry = await startNode(t, owners, 'entry', refuse);
	await startNode(t, owners, 'next', () => ({ status: 200, body: 'next' }));
	// It takes connections and answers nothing.
	const frozen = net.createServer(() => {});
	frozen.listen(0, '127.0.0.1');
	await once(frozen, 'listening');
	t.after(() => frozen.close());
	owners.addresses.set('frozen', `127.0.0.1:${(frozen.address() as net.AddressInfo).port}`);
	owners.owner = 'frozen';
	const requests = [
		fetch(entry.url),
		fetch(entry.url, { method: 'POST', headers: { 'idempotency-key': 'once' } }),
		fetch(entry.url, { method: 'POST' }),
	];
	await until('all are sent', async () => {
		const count = await new Promise<number>((resolve) => frozen.getConnections((_, open) => resolve(open)));
		return count === 3;
	});
	owners.owner = 'next';
	const responses = await Promise.all(requests);
	assert.deepEqual(
		responses.map(({ status }) => status),
		[200, 200, 503],
	);
});

test('a node that hands over while it carries a request out still answers it', async (t) => {
	const owners = new Owners();
	const entry = await startNode(t, owners, 'entry', refuse);
	let arrived = () => {};
	const isThere = new Promise<void>((resolve) => {
		arrived = resolve;
	});
	let finish = () => {};
	await startNode(t, owners, 'former', async () => {
		arrived();
		await new Promise<void>((resolve) => {
			finish = resolve;
		});
		return { status: 200, body: 'former' };
	});
	await startNode(t, owners, 'next', refuse);
	owners.owner = 'former';
	const sent = fetch(entry.url, { method: 'POST' });
	await isThere;
	owners.alive.add('former');
	owners.owner = 'next';
	let lookedAt = 0;
	owners.onOwnerRead = () => {
		lookedAt++;
	};
	await until('the forwarder has seen the next owner', () => lookedAt > 2);
	finish();
	assert.equal(await (await sent).text(), 'former');
});

test('the owner has no more time for a request than the node that has passed it on', async (t) => {
	const owners = new Owners();
	const entry = await startNode(t, owners, 'entry', refuse);
	const given: number[] = [];
	const owner = await startNode(t, owners, 'owner', async (request) => {
		await sleep(1);
		given.push(request.deadlineAt - performance.now());
		if (request.method === 'GET') await new Promise(() => {});
		return { status: 200, body: 'done' };
	});
	owners.owner = 'owner';
	const sent = await fetch(entry.url, { method: 'POST', headers: { 'x-parley-timeout': '1' } });
	assert.equal(sent.status, 200, 'a client sets no time limit');
	assert.ok((given[0] as number) <= 60_000);
	const late = await fetch(owner.nodeUrl, { headers: { 'x-parley-cluster-key': KEY, 'x-parley-timeout': '200' } });
	assert.equal(late.status, 503);
});

test('a stream is passed on event by event, and ends when its owner does', async (t) => {
	const owners = new Owners();
	const entry = await startNode(t, owners, 'entry', refuse);
	const events = Array.from({ length: 500 }, (_, n) => ({
		id: `${n}.0`,
		event: 'message.delta',
		data: JSON.stringify({ n, text: 'é' }),
	}));
	await startNode(t, owners, 'owner', () => ({ headers: [['x-kind', 'stream']], events: new ReadyItems(events) }));
	owners.owner = 'owner';
	const response = await fetch(entry.url, { headers: { 'last-event-id': '7.0' } });
	assert.equal(response.headers.get('content-type')?.startsWith('text/event-stream'), true);
	assert.equal(response.headers.get('x-kind'), 'stream');
	const text = await response.text();
	const data = [...text.matchAll(/^data: (.*)$/gm)].map(([, one]) => JSON.parse(one as string).n);
	assert.deepEqual(
		data,
		events.map((_, n) => n),
	);
});

test('a stream of a node that dies is closed, so that its client resumes', async (t) => {
	const owners = new Owners();
	const entry = await startNode(t, owners, 'entry', refuse);
	const owner = await startNode(t, owners, 'owner', () => ({ events: endless() }));
	owners.owner = 'owner';
	const response = await fetch(entry.url);
	const reader = (response.body as ReadableStream<Uint8Array>).getReader();
	await reader.read();
	await owner.server[Symbol.asyncDispose]();
	await assert.doesNotReject(async () => {
		for (;;) {
			const { done } = await reader.read().catch(() => ({ done: true }));
			if (done) return;
		}
	});
});

test('a stream is closed when another node becomes the owner, although the first one does not end it', async (t) => {
	const owners = new Owners();
	const entry = await startNode(t, owners, 'entry', refuse);
	await startNode(t, owners, 'frozen', () => ({ events: endless() }));
	await startNode(t, owners, 'next', () => ({ events: new ReadyItems([{ event: 'message.delta', data: '{}' }]) }));
	owners.owner = 'frozen';
	const response = await fetch(entry.url);
	const reader = (response.body as ReadableStream<Uint8Array>).getReader();
	await reader.read();
	owners.owner = 'next';
	await until('the stream is closed', async () => (await reader.read().catch(() => ({ done: true }))).done);
	assert.equal((await fetch(entry.url)).status, 200);
});

/** One event, and no end. */
function endless() {
	const events = [{ event: 'message.delta', data: '{}' }];
	return { open() {}, read: () => events.shift() ?? null, isEnded: false, close() {} };
}
