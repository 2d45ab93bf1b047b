import assert from 'node:assert/strict';
import { after, before, suite, test } from 'node:test';
import { createApiKey } from '../../src/access/index.ts';
import { startTestApp, type TestApp } from '../support/app.ts';
import { startCuttableProxy } from '../support/cuttable-proxy.ts';
import { type PostgresServer, skipWithoutPostgres, startPostgres } from '../support/postgres.ts';
import { until } from '../support/until.ts';

const SECRET_KEY = Buffer.alloc(32, 7).toString('base64');

suite('servers on one PostgreSQL', { skip: skipWithoutPostgres }, () => {
	let server: PostgresServer;
	before(async () => {
		server = await startPostgres();
	});
	after(() => server[Symbol.asyncDispose]());

	/** Starts nodes at once, on a new database. */
	async function startNodes(database: string, count: number) {
		const key = createApiKey();
		const database_url = await server.database(database);
		const start = () => startTestApp({ key, settings: { database_url, secret_key: SECRET_KEY } });
		const nodes = await Promise.all(Array.from({ length: count }, start));
		return {
			nodes,
			async [Symbol.asyncDispose]() {
				for (const node of nodes) await node[Symbol.asyncDispose]();
			},
		};
	}

	async function deploy(app: TestApp) {
		const assistant = await app.call('POST', '/api/v1/assistants', { name: 'Shop', model: 'builtin/extractive' });
		assert.equal(assistant.status, 201);
		const { body } = await app.call('POST', '/api/v1/deployments', {
			assistant_id: assistant.body.id,
			allowed_domains: ['shop.example'],
		});
		return body.id as string;
	}

	test('nodes that start at once make one workspace, and each serves what another has stored', async () => {
		await using cluster = await startNodes('two_nodes', 2);
		const [one, two] = cluster.nodes as [TestApp, TestApp];
		const deployment_id = await deploy(one);
		const workspaces = await Promise.all([one, two].map((app) => app.call('GET', '/api/v1/workspace')));
		assert.equal(workspaces[0]?.body.id, workspaces[1]?.body.id);
		const config = await two.callAsVisitor('GET', `/api/v1/widget/config?deployment_id=${deployment_id}`);
		assert.equal(config.status, 200);
	});

	test('a conversation goes on at any node, each message in its place', async () => {
		await using cluster = await startNodes('conversation', 2);
		const [one, two] = cluster.nodes as [TestApp, TestApp];
		const deployment_id = await deploy(one);
		// Several conversations: some belong to the first node, some to the second.
		const lanes = Array.from({ length: 8 }, async () => {
			let conversation_id: string | undefined;
			for (let turn = 0; turn < 4; turn++) {
				const app = turn % 2 === 0 ? one : two;
				const sent = await app.call('POST', '/api/v1/messages', {
					deployment_id,
					conversation_id,
					content: `Turn ${turn}`,
				});
				assert.equal(sent.status, 201, JSON.stringify(sent.body));
				conversation_id = sent.body.conversation_id;
			}
			const { body } = await two.call('GET', `/api/v1/conversations/${conversation_id}/messages`);
			const questions = body.data.filter((message: { role: string }) => message.role === 'user');
			assert.deepEqual(
				questions.map(({ content }: { content: string }) => content),
				['Turn 0', 'Turn 1', 'Turn 2', 'Turn 3'],
			);
		});
		await Promise.all(lanes);
	});

	test('documents that one node takes are searched at the other', async () => {
		await using cluster = await startNodes('documents', 2);
		const [one, two] = cluster.nodes as [TestApp, TestApp];
		const base = await one.call('POST', '/api/v1/knowledge-bases', { name: 'Help' });
		const path = `/api/v1/knowledge-bases/${base.body.id}`;
		const added = await one.call('POST', `${path}/documents`, {
			source_type: 'text',
			title: 'Returns',
			content: 'Parcels can be returned within thirty days. The refund takes a week.',
		});
		assert.ok(added.status === 201 || added.status === 202, JSON.stringify(added.body));
		await until('the document is indexed', async () => {
			const { body } = await two.call('GET', `${path}/documents/${added.body.id}`);
			return body.status === 'ready' || body.status === 'indexed';
		});
		// The first search loads the index, which a busy machine does not manage in the time of a search.
		const found = await until('the search has a result', async () => {
			const response = await two.call('POST', `${path}/search`, { query: 'How long does a refund take?' });
			assert.ok(response.status === 200 || response.status === 503, JSON.stringify(response.body));
			return response.status === 200 && response;
		});
		assert.match(JSON.stringify(found.body), /refund takes a week/);
	});

	test('without PostgreSQL the nodes are not ready, and they go on when it is back', async () => {
		await server.database('away');
		await using proxy = await startCuttableProxy(server.socket);
		const key = createApiKey();
		const settings = { database_url: `postgres://parley@127.0.0.1:${proxy.port}/away`, secret_key: SECRET_KEY };
		await using app = await startTestApp({ key, settings });
		const deployment_id = await deploy(app);
		const message = { deployment_id, content: 'Hello' };
		const first = await app.call('POST', '/api/v1/messages', message);
		assert.equal(first.status, 201);
		proxy.cut();
		const unready = await until('the node is not ready', async () => {
			const ready = await app.call('GET', '/readyz');
			return ready.status === 503 && ready;
		});
		assert.match(unready.body.reason, /^(database_unreachable|lease_ended)$/);
		proxy.restore();
		await until('the node is ready', async () => (await app.call('GET', '/readyz')).status === 200);
		const { conversation_id } = first.body;
		const next = await app.call('POST', '/api/v1/messages', { ...message, conversation_id });
		assert.equal(next.status, 201, JSON.stringify(next.body));
	});

	test('the metrics show how many shards each node serves', async () => {
		await using cluster = await startNodes('metrics', 2);
		const figures = async (app: TestApp) => {
			const response = await fetch(`${app.url}/metrics`, { headers: { authorization: `Bearer ${app.key}` } });
			const text = await response.text();
			return ['nodes', 'shards'].map((name) =>
				Number(new RegExp(`^parley_cluster_${name} (\\d+)$`, 'm').exec(text)?.[1]),
			);
		};
		await until('each serves half', async () => {
			const [one, two] = await Promise.all(cluster.nodes.map(figures));
			return one?.join() === '2,128' && two?.join() === '2,128';
		});
	});
});
