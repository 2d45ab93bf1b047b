import assert from 'node:assert/strict';
import { after, before, suite, test } from 'node:test';
import { ClockJumpDetector, createLog, newId, SecretBox, systemClock } from '../../src/base/index.ts';
import { Placement, shardOf } from '../../src/cluster/index.ts';
import { openPostgresStore } from '../../src/store/postgres/index.ts';
import { Deliverer, newSigningSecret, Sender, SigningSecrets } from '../../src/webhooks/index.ts';
import { event, webhook } from '../store/samples.ts';
import { type PostgresServer, skipWithoutPostgres, startPostgres } from '../support/postgres.ts';
import { until } from '../support/until.ts';
import { ManualNetwork } from '../webhooks/delivery/manual-network.ts';

const HOUR = 3_600_000;
const log = createLog('silent');
const secrets = new SigningSecrets(new SecretBox(Buffer.alloc(32, 3)));

suite('webhook endpoints in a cluster', { skip: skipWithoutPostgres }, () => {
	let server: PostgresServer;
	let databases = 0;
	before(async () => {
		server = await startPostgres();
	});
	after(() => server[Symbol.asyncDispose]());

	async function openNode(url: string, network: ManualNetwork) {
		const store = await openPostgresStore({ url, firstLeaseMs: HOUR });
		const placement: Placement = new Placement({
			...{ store: store.placement, nodeId: store.fence.owner, log, leaseMs: HOUR },
			busyShards: () => new Set(),
			onGained: () => deliverer.resume(),
			onLost: (shards) => void deliverer.release((id) => shards.has(shardOf(id))),
		});
		const deliverer: Deliverer = new Deliverer({
			...{ store, clock: systemClock, log, jumpDetector: new ClockJumpDetector(systemClock) },
			sender: new Sender({ network, secrets, clock: systemClock }),
			fenceOf: (id) => placement.fenceOf(id),
		});
		return {
			...{ store, placement, deliverer },
			async [Symbol.asyncDispose]() {
				await deliverer[Symbol.asyncDispose]();
				await placement[Symbol.asyncDispose]();
				await store[Symbol.asyncDispose]();
			},
		};
	}

	type Node = Awaited<ReturnType<typeof openNode>>;

	/** Two nodes with half of the shards each, and a network in the hands of the test. */
	async function openNodes() {
		const url = await server.database(`webhooks_${++databases}`);
		const network = new ManualNetwork();
		const first = await openNode(url, network);
		const second = await openNode(url, network);
		await until('each node has its half', async () => {
			await first.placement.renew();
			await second.placement.renew();
			return first.placement.served === 128 && second.placement.served === 128;
		});
		const workspace = newId('workspace');
		const ownerOf = (id: string): Node => (first.placement.fenceOf(id) === null ? second : first);
		return {
			...{ url, network, first, second, ownerOf },
			/** Stores an endpoint; `of`: of this node. */
			async register(of: Node, url = `https://${newId('webhook')}.example`) {
				const sealed = secrets.initial(newSigningSecret());
				for (;;) {
					const record = { version: 1, ...webhook({ workspace_id: workspace, events: ['*'], url, ...sealed }) };
					if (ownerOf(record.id) !== of) continue;
					await first.store.commit({ write: [{ op: 'insert', kind: 'webhooks', record }] });
					return record;
				}
			},
			/** Stores an event about a conversation. */
			async emit(node: Node, subject: string, n: number) {
				const stored = { ...event(workspace, 'message.created', { n }), subject };
				await node.store.commit({ events: [stored] });
				return stored.id;
			},
			deliveredTo: (id: string) =>
				first.store
					.list('deliveries', { where: { webhook_id: id }, order: 'asc', limit: 1_000 })
					.then((all) => all.filter(({ status }) => status === 'delivered')),
			async [Symbol.asyncDispose]() {
				await second[Symbol.asyncDispose]();
				await first[Symbol.asyncDispose]();
			},
		};
	}

	test('get each event once, and those about a conversation in order, whichever nodes they come from', async () => {
		await using nodes = await openNodes();
		const { network, first, second } = nodes;
		network.respond = () => ({});
		const endpoints = [];
		for (const of of [first, first, second, second]) endpoints.push(await nodes.register(of));
		for (const { deliverer } of [first, second]) deliverer.start();
		const events = new Map<string, string[]>();
		for (let n = 0; n < 60; n++) {
			const subject = `conv_${n % 3}`;
			const id = await nodes.emit(n % 2 === 0 ? first : second, subject, n);
			events.set(subject, [...(events.get(subject) ?? []), id]);
		}
		for (const { id, url } of endpoints) {
			await until('all are delivered', async () => (await nodes.deliveredTo(id)).length === 60);
			const posts = network.posts.filter((post) => post.url === url).map((post) => post.event);
			assert.equal(posts.length, 60);
			for (const ids of events.values())
				assert.deepEqual(
					posts.filter((one) => ids.includes(one)),
					ids,
				);
		}
	});

	test('go on at another node when the lease of theirs ends, in order', async () => {
		await using nodes = await openNodes();
		const { network, first, second } = nodes;
		const { id, url } = await nodes.register(first);
		for (const { deliverer } of [first, second]) deliverer.start();
		const ids = [];
		for (let n = 0; n < 4; n++) ids.push(await nodes.emit(second, 'conv_1', n));
		const posts = () => network.posts.filter((post) => post.url === url);
		await until('the first node sends the first event', () => posts().length === 1);

		// The node is frozen in the middle of a request, and its lease ends without its knowledge.
		await first.store.placement.renew(1);
		await until('the second node has all shards', async () => {
			await second.placement.renew();
			return second.placement.served === 256;
		});
		await until('the second node sends the event again', () => posts().length === 2);
		network.respond = () => ({});
		posts()[1]?.end();
		await until('all are delivered', async () => (await nodes.deliveredTo(id)).length === 4);
		assert.deepEqual(
			posts().map((post) => post.event),
			[ids[0], ...ids],
		);

		// It wakes up with its answer: it stores that, and sends nothing more.
		posts()[0]?.end();
		await first.placement.renew();
		ids.push(await nodes.emit(first, 'conv_1', 4));
		await until('the last is delivered', async () => (await nodes.deliveredTo(id)).length === 5);
		assert.deepEqual(
			posts().map((post) => post.event),
			[ids[0], ...ids],
		);
	});

	test('get what a request at another node has made due, without waiting for a look at the database', async () => {
		await using nodes = await openNodes();
		const { network, first, second } = nodes;
		network.respond = () => ({});
		const { id, url } = await nodes.register(first);
		for (const { deliverer } of [first, second]) deliverer.start();
		await nodes.emit(second, 'conv_1', 1);
		const [delivered] = await until('it is delivered', async () => {
			const all = await nodes.deliveredTo(id);
			return all.length === 1 && all;
		});
		assert.ok(delivered);
		const set = { status: 'pending' as const, due_at: 0, completed_at: null };
		await second.store.commit({ write: [{ op: 'patch', kind: 'deliveries', id: delivered.id, set }] });
		second.deliverer.wake(id);
		await until('it is sent again', () => network.posts.filter((post) => post.url === url).length === 2);
	});
});
