import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { after, before, suite, test } from 'node:test';
import { VisitorTokenSettings } from '../../src/access/index.ts';
import { AppError, createLog, SecretBox, systemClock } from '../../src/base/index.ts';
import { Deployments } from '../../src/deployments/index.ts';
import { createNetwork } from '../../src/net/index.ts';
import { openPostgresStore } from '../../src/store/postgres/index.ts';
import * as samples from '../store/samples.ts';
import { TestRequest } from '../support/abortable-request.ts';
import { ManualClock } from '../support/manual-clock.ts';
import { type PostgresServer, skipWithoutPostgres, startPostgres } from '../support/postgres.ts';
import { until } from '../support/until.ts';

suite('deployments in a cluster', { skip: skipWithoutPostgres }, () => {
	let server: PostgresServer;
	before(async () => {
		server = await startPostgres();
	});
	after(() => server[Symbol.asyncDispose]());

	/** A node with its own memory of deployments. `maxAgeMs` is also how often deployments with open streams are checked. */
	async function openNode(maxAgeMs: number, clock = systemClock) {
		const store = await openPostgresStore({ url: await server.database('deployments') });
		const network = createNetwork({ allowPrivateNetwork: false });
		const tokenSettings = new VisitorTokenSettings({ secrets: new SecretBox(randomBytes(32)), network });
		const deployments = new Deployments({ store, clock, log: createLog('silent'), tokenSettings, maxAgeMs });
		return {
			...{ store, deployments },
			async [Symbol.asyncDispose]() {
				await deployments[Symbol.asyncDispose]();
				await store[Symbol.asyncDispose]();
			},
		};
	}

	async function insertDeployment({ store }: Awaited<ReturnType<typeof openNode>>) {
		const record = samples.deployment({ allowed_domains: ['shop.example'] });
		await store.commit({ write: [{ op: 'insert', kind: 'deployments', record }] });
		return record;
	}

	test('a node sees what another has changed, once the record in its memory is older than a second', async () => {
		const clock = new ManualClock();
		await using one = await openNode(1_000, clock);
		await using two = await openNode(1_000);
		const { id, workspace_id } = await insertDeployment(one);
		const { etag } = (await one.deployments.visible(id)).config;
		await two.deployments.change(workspace_id, id, { appearance: { greeting: 'Welcome' }, status: 'active' });
		assert.equal(one.deployments.peekVisible(id)?.config.etag, etag, 'for less than a second');
		clock.advance(1_000);
		assert.equal(one.deployments.peekVisible(id), undefined, 'it must be read again');
		assert.notEqual((await one.deployments.visible(id)).config.etag, etag);
		assert.ok(one.deployments.peekVisible(id));
		await two.deployments.change(workspace_id, id, { status: 'archived' });
		clock.advance(1_000);
		await assert.rejects(one.deployments.visible(id), { code: 'not_found' });
		await two.deployments.change(workspace_id, id, { status: 'active' });
		clock.advance(1_000);
		assert.equal((await one.deployments.visible(id)).record.version, 4);
	});

	test('requests at the same time read a record again only once', async () => {
		const clock = new ManualClock();
		await using node = await openNode(1_000, clock);
		const { id } = await insertDeployment(node);
		await node.deployments.visible(id);
		clock.advance(1_000);
		let reads = 0;
		const get = node.store.get.bind(node.store);
		node.store.get = (kind, of) => {
			reads++;
			return get(kind, of);
		};
		await Promise.all(Array.from({ length: 100 }, () => node.deployments.visible(id)));
		assert.equal(reads, 1);
	});

	test('changes on two nodes at once are all kept', async () => {
		await using one = await openNode(1_000);
		await using two = await openNode(1_000);
		const { id, workspace_id } = await insertDeployment(one);
		await Promise.all([one, two].map(({ deployments }) => deployments.visible(id)));
		const patches = [
			{ name: 'New name' },
			{ appearance: { theme: 'dark' } },
			{ features: { streaming: false } },
			{ allowed_domains: ['new.example'] },
			{ retention_days: 7 },
			{ time_zone: 'Europe/Paris' },
		] as const;
		await Promise.all(
			patches.map((patch, at) => [one, two][at % 2]?.deployments.change(workspace_id, id, { ...patch } as object)),
		);
		const record = await one.store.get('deployments', id);
		assert.equal(record?.version, 1 + patches.length);
		assert.deepEqual(
			[record.name, record.appearance.theme, record.features.streaming, record.allowed_domains, record.retention_days],
			['New name', 'dark', false, ['new.example'], 7],
		);
	});

	test('a condition (If-Match) is checked against the record as it is stored', async () => {
		await using one = await openNode(60_000);
		await using two = await openNode(60_000);
		const { id, workspace_id } = await insertDeployment(one);
		await one.deployments.visible(id);
		await two.deployments.change(workspace_id, id, { name: 'By the other' });
		await assert.rejects(one.deployments.change(workspace_id, id, { name: 'Old' }, [1]), {
			code: 'precondition_failed',
		});
		const { name } = await one.deployments.change(workspace_id, id, { time_zone: 'Europe/Paris' }, [2]);
		assert.equal(name, 'By the other');
	});

	test('open streams of visitors are checked by the record that another node has changed', async () => {
		await using one = await openNode(20);
		await using two = await openNode(1_000);
		const { id, workspace_id } = await insertDeployment(one);
		const { record } = await one.deployments.visible(id);
		const visit = { deployment: record, visitor: 'address 192.0.2.1', expiresAt: null };
		const kept = one.deployments.openStream({
			...{ ...visit, request: new TestRequest() },
			recheckAccess: async () => {},
		});
		const refused = one.deployments.openStream({
			...{ ...visit, request: new TestRequest() },
			async recheckAccess(current) {
				if (!current.allows('https://shop.example')) throw new AppError('domain_not_allowed');
			},
		});
		await two.deployments.change(workspace_id, id, { allowed_domains: ['new.example'] });
		await until('the stream of the page that is not allowed any more has ended', () => refused.isRevoked);
		assert.equal(kept.isEnded, false);
		await two.deployments.change(workspace_id, id, { status: 'archived' });
		await until('the other stream has ended too', () => kept.isRevoked);
	});
});
