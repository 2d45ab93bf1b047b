import assert from 'node:assert/strict';
import { after, before, suite, test } from 'node:test';
import { createApiKey } from '../../src/access/index.ts';
import { AsyncDisposableStack } from '../../src/base/index.ts';
import { SHARD_COUNT } from '../../src/store/index.ts';
import { ModelServer } from '../support/model-server.ts';
import { type PostgresServer, skipWithoutPostgres, startPostgres } from '../support/postgres.ts';
import { type ServerProcess, startServer } from '../support/server-process.ts';
import { startTraceCollector } from '../support/trace-collector.ts';
import { until } from '../support/until.ts';

const SECRET_KEY = Buffer.alloc(32, 7).toString('base64');
const CALLER = 'b7ad6b7169203331';
const REQUEST = 'POST /api/v1/messages';
/** The id of a trace. */
const traceOf = (number: number) => number.toString(16).padStart(32, '1');

/** How many shards a node serves. */
async function shardsOf({ url, key }: ServerProcess): Promise<number> {
	const response = await fetch(`${url}/metrics`, { headers: { authorization: `Bearer ${key}` } });
	return Number(/^parley_cluster_shards (\d+)$/m.exec(await response.text())?.[1]);
}

suite('traces of nodes on one PostgreSQL', { skip: skipWithoutPostgres }, () => {
	let postgres: PostgresServer;
	before(async () => {
		postgres = await startPostgres();
	});
	after(() => postgres[Symbol.asyncDispose]());

	/** Two nodes, each with a collector, which answer with one model and record only what their caller records. */
	async function startNodes(database: string) {
		const stack = new AsyncDisposableStack();
		const model = stack.use(await ModelServer.start());
		// The program needs a host in the URL. The one of its query counts.
		const url = (await postgres.database(database)).replace('@/', '@localhost/');
		const providers = [{ id: 'stand-in', type: 'openai-compatible', base_url: model.baseUrl, api_key_env: 'SOME_KEY' }];
		const key = createApiKey();
		const startNode = async () => {
			const collector = stack.use(await startTraceCollector());
			const env = {
				PARLEY_DATABASE_URL: url,
				PARLEY_SECRET_KEY: SECRET_KEY,
				PARLEY_PROVIDERS: JSON.stringify(providers),
				SOME_KEY: 'key-1',
				PARLEY_ALLOW_PRIVATE_NETWORK: '1',
				OTEL_EXPORTER_OTLP_ENDPOINT: collector.url,
				OTEL_BSP_SCHEDULE_DELAY: '100',
				OTEL_TRACES_SAMPLER: 'parentbased_always_off',
			};
			return { collector, server: stack.use(await startServer({ key, env })) };
		};
		const [one, two] = [await startNode(), await startNode()];
		return { model, one, two, [Symbol.asyncDispose]: () => stack[Symbol.asyncDispose]() };
	}

	test('a message that is passed on is traced at the owner of its conversation, in the trace of its caller', async () => {
		await using nodes = await startNodes('traces');
		const { model, one, two } = nodes;
		const create = async (path: string, body: object) =>
			(await one.server.call('POST', `/api/v1/${path}`, body)).body.id;
		// A shard that is handed over later takes the conversation to the other node.
		await until('each node serves half of the shards', async () => {
			const shards = await Promise.all([one, two].map(({ server }) => shardsOf(server)));
			return shards.every((count) => count === SHARD_COUNT / 2);
		});
		const assistant_id = await create('assistants', { name: 'Guide', model: 'stand-in/any' });
		const deployment_id = await create('deployments', { assistant_id });
		const send = async (node: typeof one, conversation_id: string | undefined, traceparent: string) => {
			const message = { deployment_id, conversation_id, content: 'Hello?' };
			const sent = await node.server.call('POST', '/api/v1/messages', message, { traceparent });
			assert.equal(sent.status, 201, JSON.stringify(sent.body));
			return { id: sent.body.conversation_id as string, called: model.calls.at(-1)?.headers.traceparent };
		};
		const { id } = await send(one, undefined, `00-${traceOf(1)}-${CALLER}-00`);
		// Each node takes a message of the same conversation: one of them passes it on.
		for (const [at, node] of [one, two].entries()) {
			const trace = traceOf(2 + at);
			const { called } = await send(node, id, `00-${trace}-${CALLER}-01`);
			const found = await until('the request and its reply are with a collector', () =>
				[one, two].find(({ collector: { spans } }) =>
					['reply', REQUEST].every((name) => spans.some((span) => span.traceId === trace && span.name === name)),
				),
			);
			const own = found.collector.spans.filter(({ traceId }) => traceId === trace);
			const below = (name: string, parent: string) =>
				own.find((span) => span.name === name && own.find((other) => other.id === span.parentId)?.name === parent);
			assert.equal(own.find(({ name }) => name === REQUEST)?.parentId, CALLER);
			for (const [name, parent] of [
				['conversation.send', REQUEST],
				['commit', 'conversation.send'],
				['reply', REQUEST],
				['chat', 'reply'],
			] as const)
				assert.ok(below(name, parent), `${name} below ${parent}`);
			assert.equal(called, `00-${trace}-${below('chat', 'reply')?.id}-01`);
		}
		const unsampled = await send(two, id, `00-${traceOf(4)}-${CALLER}-00`);
		assert.match(String(unsampled.called), new RegExp(`^00-${traceOf(4)}-[0-9a-f]{16}-00$`));
		await Promise.all([one.server.stop(), two.server.stop()]);
		const traces = [one, two].map(({ collector }) => new Set(collector.spans.map(({ traceId }) => traceId)));
		assert.deepEqual(
			traces.flatMap((ids) => [...ids]).sort(),
			[traceOf(2), traceOf(3)],
			'each trace that its caller records is at one node, and no other is',
		);
	});
});
