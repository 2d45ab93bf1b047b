import assert from 'node:assert/strict';
import { after, before, suite, test } from 'node:test';
import pg from 'pg';
import { newId, sleep, withDeadline } from '../../../src/base/index.ts';
import { openPostgresStore } from '../../../src/store/postgres/index.ts';
import { Notifications } from '../../../src/store/postgres/notifications.ts';
import { startCuttableProxy } from '../../support/cuttable-proxy.ts';
import { type PostgresServer, skipWithoutPostgres, startPostgres } from '../../support/postgres.ts';
import { until } from '../../support/until.ts';
import { event } from '../samples.ts';

const HOUR = 3_600_000;

suite('what nodes tell one another through PostgreSQL', { skip: skipWithoutPostgres }, () => {
	let server: PostgresServer;
	let databases = 0;
	before(async () => {
		server = await startPostgres();
	});
	after(() => server[Symbol.asyncDispose]());

	/** Two nodes. The connections of the second one can be cut. */
	async function openNodes() {
		const name = `hints_${++databases}`;
		const url = await server.database(name);
		const proxy = await startCuttableProxy(server.socket);
		const first = await openPostgresStore({ url, firstLeaseMs: HOUR });
		const second = await openPostgresStore({
			url: `postgres://parley@127.0.0.1:${proxy.port}/${name}`,
			firstLeaseMs: HOUR,
		});
		return {
			...{ first, second, proxy },
			async [Symbol.asyncDispose]() {
				await second[Symbol.asyncDispose]();
				await first[Symbol.asyncDispose]();
				await proxy[Symbol.asyncDispose]();
			},
		};
	}

	test('the ids of a hint reach the other nodes, however many they are, and not the sender', async () => {
		await using nodes = await openNodes();
		const heard = new Set<string>();
		const own: string[] = [];
		nodes.second.hints.subscribe('documents', (ids) => {
			for (const id of ids) heard.add(id);
		});
		nodes.first.hints.subscribe('documents', (ids) => own.push(...ids));
		await until('the second node hears the first', () => {
			nodes.first.hints.publish('documents', ['begin']);
			return heard.has('begin');
		});
		const ids = Array.from({ length: 1_000 }, () => newId('document'));
		nodes.first.hints.publish('documents', ids);
		await until('all have arrived', () => heard.size === 1_001);
		assert.deepEqual(own, []);
	});

	test('a node ignores notifications that are no hints', async () => {
		await using nodes = await openNodes();
		const heard: string[] = [];
		nodes.second.hints.subscribe('documents', (ids) => heard.push(...ids));
		await until('the second node hears the first', () => {
			nodes.first.hints.publish('documents', ['begin']);
			return heard.includes('begin');
		});
		const client = new pg.Client(await server.database(`hints_${databases}`));
		await client.connect();
		const texts = [
			'',
			'a',
			'a b',
			'a 1',
			'a null',
			'a []',
			'a {"topic":"documents"}',
			'a {"topic":"documents","ids":[1]}',
		];
		for (const text of [...texts, 'a {"listens":1}', 'a {"listens":["anything"]}'])
			await client.query('SELECT pg_notify($1, $2)', ['parley_hints', text]);
		await client.end();
		nodes.first.hints.publish('documents', ['end']);
		await until('the next hint arrives', () => heard.includes('end'));
		assert.deepEqual(new Set(heard), new Set(['begin', 'end']));
	});

	test('a node that is closed while it connects ends its connection', async () => {
		const url = await server.database('closed');
		const sql = { all: async () => [], get: async () => undefined, run: async () => 0 };
		for (let waitMs = 0; waitMs < 10; waitMs++) {
			const notifications = new Notifications({ sql, url, nodeId: 'closed' });
			notifications.start();
			await sleep(waitMs);
			await withDeadline(notifications[Symbol.asyncDispose](), 20_000, () => new Error('It is not closed.'));
		}
	});

	test('hints arrive again after the connections of a node were cut several times', async () => {
		await using nodes = await openNodes();
		const heard = new Set<string>();
		nodes.second.hints.subscribe('webhooks', (ids) => {
			for (const id of ids) heard.add(id);
		});
		for (const id of ['one', 'two', 'three']) {
			nodes.proxy.cut();
			nodes.proxy.restore();
			await until(`the hint ${id} arrives`, () => {
				nodes.first.hints.publish('webhooks', [id]);
				return heard.has(id);
			});
		}
	});

	test('a node whose connections are cut again and again skips no event of a workspace, and publishes none twice', async () => {
		await using nodes = await openNodes();
		const heard: number[] = [];
		nodes.second.onEvents((events) => heard.push(...events.map(({ seq }) => seq)));
		const logged: number[] = [];
		for (let round = 0; round < 12; round++) {
			for (let n = 0; n < 5; n++) {
				const outcome = await nodes.first.commit({ events: [event('ws_cut'), event('ws_cut')] });
				assert.equal(outcome.outcome, 'committed');
				if (outcome.outcome === 'committed') logged.push(...outcome.seqs);
			}
			nodes.proxy.cut();
			// The log grows while the node cannot read it.
			const missed = await nodes.first.commit({ events: [event('ws_cut')] });
			if (missed.outcome === 'committed') logged.push(...missed.seqs);
			nodes.proxy.restore();
			if (round % 4 === 3) await until('the node has caught up', () => heard.length === logged.length);
		}
		assert.deepEqual(heard, logged);
	});
});
