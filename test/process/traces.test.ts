import assert from 'node:assert/strict';
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { createServer, type IncomingHttpHeaders } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import test from 'node:test';
import { createApiKey } from '../../src/access/api-keys.ts';
import { OWNER, openCookieClient, PASSWORD, setPassword } from '../access/people.ts';
import { ModelServer } from '../support/model-server.ts';
import { type ServerProcess, startServer } from '../support/server-process.ts';
import { startTraceCollector, type TraceCollector } from '../support/trace-collector.ts';
import { until } from '../support/until.ts';

const TRACE = '0af7651916cd43dd8448eb211c80319c';
const CALLER = 'b7ad6b7169203331';
const TEXT = 'The blue kettle of Mrs. Secretive leaks';

/** A server with a model, a tool and a document. Returns the id of its deployment. */
async function createShop(server: ServerProcess, toolUrl: string): Promise<string> {
	const create = async (path: string, body: object) => {
		const { status, body: made } = await server.call('POST', `/api/v1/${path}`, body);
		assert.ok(status < 300, JSON.stringify(made));
		return made.id as string;
	};
	const base = await create('knowledge-bases', { name: 'Shop' });
	const document = await create(`knowledge-bases/${base}/documents`, {
		source_type: 'text',
		content: 'A kettle that leaks is repaired free of charge within two years.',
	});
	await until('the document is indexed', async () => {
		const { body } = await server.call('GET', `/api/v1/knowledge-bases/${base}/documents/${document}`);
		return body.status === 'indexed';
	});
	const tool = await create('tools', {
		name: 'order_status',
		type: 'api',
		description: 'The status of an order',
		config: { method: 'GET', url: `${toolUrl}/orders`, parameters: { type: 'object', properties: {} } },
	});
	const assistant = await create('assistants', {
		name: 'Guide',
		model: 'stand-in/any',
		rag_settings: { query_rewrite: 'never' },
	});
	await create(`assistants/${assistant}/tools`, { tool_id: tool });
	await create(`assistants/${assistant}/knowledge-bases`, { knowledge_base_id: base });
	return create('deployments', { assistant_id: assistant });
}

async function startToolServer() {
	const calls: IncomingHttpHeaders[] = [];
	const server = createServer((request, response) => {
		calls.push(request.headers);
		response.writeHead(200, { 'content-type': 'application/json' }).end('{"status":"sent"}');
	});
	server.listen(0, '127.0.0.1');
	await once(server, 'listening');
	const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
	return { url, calls, [Symbol.asyncDispose]: async () => void server.close() };
}

function environment(model: ModelServer, env: Record<string, string>) {
	const providers = [{ id: 'stand-in', type: 'openai-compatible', base_url: model.baseUrl, api_key_env: 'SOME_KEY' }];
	return {
		env: {
			PARLEY_PROVIDERS: JSON.stringify(providers),
			SOME_KEY: 'key-1',
			PARLEY_ALLOW_PRIVATE_NETWORK: '1',
			OTEL_BSP_SCHEDULE_DELAY: '100',
			...env,
		},
	};
}

/** A span below another, by their names. */
function spanBelow({ spans }: TraceCollector, name: string, parent: string) {
	return spans.find((span) => span.name === name && spans.find(({ id }) => id === span.parentId)?.name === parent);
}

test('a message is traced from its request to the model and the tool, in the trace of its caller and without its text', async () => {
	await using collector = await startTraceCollector();
	await using model = await ModelServer.start();
	await using tool = await startToolServer();
	await using server = await startServer(
		environment(model, { OTEL_EXPORTER_OTLP_ENDPOINT: collector.url, OTEL_RESOURCE_ATTRIBUTES: 'team=support' }),
	);
	const deployment = await createShop(server, tool.url);
	model.enqueue([{ call: { id: 'call_1', name: 'order_status', arguments: {} } }], [{ say: 'It was sent.' }]);
	const before = model.calls.length;
	const sent = await server.call(
		'POST',
		'/api/v1/messages',
		{ deployment_id: deployment, content: TEXT },
		{ traceparent: `00-${TRACE}-${CALLER}-01`, tracestate: 'vendor=1' },
	);
	assert.equal(sent.status, 201, JSON.stringify(sent.body));

	const request = 'POST /api/v1/messages';
	await until('the request and its reply are with the collector', async () =>
		['reply', request].every((name) => collector.spans.some((span) => span.traceId === TRACE && span.name === name)),
	);
	const own = { ...collector, spans: collector.spans.filter(({ traceId }) => traceId === TRACE) };
	const root = own.spans.find(({ name }) => name === request);
	assert.equal(root?.parentId, CALLER);
	assert.equal(root.kind, 2);
	assert.equal(root.attributes['http.response.status_code'], 201);
	assert.equal(root.attributes['parley.request_id'], sent.headers.get('x-request-id'));
	for (const [name, parent] of [
		['conversation.send', request],
		['mailbox', 'conversation.send'],
		['commit', 'conversation.send'],
		['reply', request],
		['search', 'reply'],
		['chat', 'reply'],
		['execute_tool', 'reply'],
		['commit', 'reply'],
	] as const)
		assert.ok(spanBelow(own, name, parent), `${name} below ${parent}`);
	assert.ok(own.spans.every(({ durationNs }) => durationNs >= 0n));
	assert.equal(spanBelow(own, 'search', 'reply')?.attributes['parley.passages'], 1);
	assert.equal(spanBelow(own, 'execute_tool', 'reply')?.attributes['gen_ai.tool.name'], 'order_status');

	// What was called belongs to the same trace.
	const chats = own.spans.filter(({ name }) => name === 'chat');
	assert.deepEqual(
		model.calls.slice(before).map(({ headers }) => headers.traceparent),
		chats.map(({ id }) => `00-${TRACE}-${id}-01`),
	);
	assert.equal(tool.calls[0]?.traceparent, `00-${TRACE}-${spanBelow(own, 'execute_tool', 'reply')?.id}-01`);
	assert.equal(tool.calls[0]?.tracestate, 'vendor=1');

	assert.equal(collector.resource['service.name'], 'parley');
	assert.equal(collector.resource.team, 'support');
	const everything = JSON.stringify(collector.spans, (_, value) => (typeof value === 'bigint' ? `${value}` : value));
	for (const secret of ['Secretive', 'It was sent', 'key-1', server.key])
		assert.ok(!everything.includes(secret), secret);
});

test('a visitor’s browser chooses no trace, and a failure of the model is marked', async () => {
	await using collector = await startTraceCollector();
	await using model = await ModelServer.start();
	await using server = await startServer(environment(model, { OTEL_EXPORTER_OTLP_ENDPOINT: collector.url }));
	model.setDefault([{ error: { message: 'no such model' } }]);
	const assistant = await server.call('POST', '/api/v1/assistants', { name: 'Guide', model: 'stand-in/any' });
	const deployment = await server.call('POST', '/api/v1/deployments', {
		assistant_id: assistant.body.id,
		allowed_domains: ['shop.example'],
	});
	const response = await fetch(`${server.url}/api/v1/widget/messages`, {
		method: 'POST',
		headers: {
			'content-type': 'application/json',
			origin: 'https://shop.example',
			traceparent: `00-${TRACE}-${CALLER}-01`,
		},
		body: JSON.stringify({ deployment_id: deployment.body.id, content: TEXT, stream: false }),
	});
	await response.text();
	await until('the reply is with the collector', async () => collector.spans.some(({ name }) => name === 'reply'));
	assert.ok(collector.spans.every(({ traceId }) => traceId !== TRACE));
	const reply = collector.spans.find(({ name }) => name === 'reply');
	assert.equal(reply?.failed, true);
	assert.equal(reply.attributes['parley.reply.status'], 'failed');
});

/** Sends requests that name a trace, none of them with a valid key. @returns their number */
async function sendWithoutValidKey(server: ServerProcess, traceparent: string): Promise<number> {
	const notice = await readFile(join(server.dataDir, 'first-start.txt'), 'utf8');
	await setPassword(server, /#([\w-]+)/.exec(notice)?.[1] ?? assert.fail(notice));
	const browser = openCookieClient(server);
	const signedIn = await browser.call('POST', '/api/v1/session', { email: OWNER, password: PASSWORD }, { traceparent });
	assert.equal(signedIn.status, 201, JSON.stringify(signedIn.body));
	const { body: former } = await server.call('POST', '/api/v1/api-keys', { name: 'Former', scopes: ['*'] });
	assert.equal((await server.call('DELETE', `/api/v1/api-keys/${former.id}`)).status, 200);
	const bearer = (key: string) => ({ authorization: `Bearer ${key}` });
	const session = { cookie: `parley_session=${browser.cookie}` };
	const requests: [path: string, headers: Record<string, string>, status: number][] = [
		['/api/v1/assistants', {}, 401],
		['/api/v1/assistants', bearer('wrong'), 401],
		['/api/v1/assistants', bearer(createApiKey()), 401],
		['/api/v1/assistants', bearer(former.key), 401],
		['/api/v1/assistants', session, 200],
		['/api/v1/session', session, 200],
		// Only the session counts, whatever else the request has.
		['/api/v1/session', { ...session, ...bearer(server.key) }, 200],
		['/api/v1/unknown', bearer(server.key), 404],
		['/healthz', {}, 200],
	];
	for (const [path, headers, status] of requests) {
		const response = await fetch(server.url + path, { headers: { ...headers, traceparent } });
		await response.text();
		assert.equal(response.status, status, path);
	}
	return requests.length + 1;
}

test('a client without a valid key chooses neither the trace nor whether it is sampled', async () => {
	await using collector = await startTraceCollector();
	await using model = await ModelServer.start();
	const recorded = TRACE.replaceAll('0', '1');
	for (const [OTEL_TRACES_SAMPLER, isSampled] of [
		['parentbased_always_off', false],
		['parentbased_always_on', true],
	] as const) {
		collector.spans.length = 0;
		await using server = await startServer(
			environment(model, { OTEL_EXPORTER_OTLP_ENDPOINT: collector.url, OTEL_TRACES_SAMPLER }),
		);
		// The sampled flag is the opposite of what the server's own sampler decides.
		const sent = await sendWithoutValidKey(server, `00-${TRACE}-${CALLER}-${isSampled ? '00' : '01'}`);
		const { status } = await server.call('GET', '/api/v1/assistants', undefined, {
			traceparent: `00-${recorded}-${CALLER}-01`,
		});
		assert.equal(status, 200);
		// The stop sends all spans that wait.
		assert.equal((await server.stop()).code, 0);
		const traces = new Set(collector.spans.map(({ traceId }) => traceId));
		assert.ok(traces.has(recorded), 'a program with a key chooses its trace');
		assert.ok(!traces.has(TRACE));
		if (isSampled) assert.ok(traces.size > sent);
		else assert.deepEqual([...traces], [recorded]);
	}
});

test('a trace that is not sampled sends no span, and tells the model that it is not recorded', async () => {
	await using collector = await startTraceCollector();
	await using model = await ModelServer.start();
	await using tool = await startToolServer();
	await using server = await startServer(
		environment(model, { OTEL_EXPORTER_OTLP_ENDPOINT: collector.url, OTEL_TRACES_SAMPLER: 'parentbased_always_off' }),
	);
	const deployment = await createShop(server, tool.url);
	const send = async (traceparent: string) => {
		const { status } = await server.call(
			'POST',
			'/api/v1/messages',
			{ deployment_id: deployment, content: TEXT },
			{ traceparent },
		);
		assert.equal(status, 201);
		return model.calls.at(-1)?.headers.traceparent;
	};
	assert.match(String(await send(`00-${TRACE}-${CALLER}-00`)), new RegExp(`^00-${TRACE}-[0-9a-f]{16}-00$`));
	// The caller's trace is recorded, so this one is, and it is the first that the collector gets.
	const recorded = TRACE.replaceAll('0', '1');
	assert.match(String(await send(`00-${recorded}-${CALLER}-01`)), new RegExp(`^00-${recorded}-[0-9a-f]{16}-01$`));
	await until('a span is with the collector', () => collector.spans.length > 0);
	assert.deepEqual([...new Set(collector.spans.map(({ traceId }) => traceId))], [recorded]);
});

test('without the variables of OpenTelemetry nothing is sent or added, and a collector that is away stops no message', async () => {
	await using model = await ModelServer.start();
	const away = { OTEL_EXPORTER_OTLP_ENDPOINT: 'http://127.0.0.1:9', OTEL_EXPORTER_OTLP_TIMEOUT: '300' };
	for (const env of [{}, away] as Record<string, string>[]) {
		await using server = await startServer(environment(model, env));
		const assistant = await server.call('POST', '/api/v1/assistants', { name: 'Guide', model: 'stand-in/any' });
		const deployment = await server.call('POST', '/api/v1/deployments', { assistant_id: assistant.body.id });
		const before = model.calls.length;
		const sent = await server.call('POST', '/api/v1/messages', { deployment_id: deployment.body.id, content: TEXT });
		assert.equal(sent.status, 201, JSON.stringify(sent.body));
		const isTraced = env.OTEL_EXPORTER_OTLP_ENDPOINT !== undefined;
		assert.ok(model.calls.slice(before).every(({ headers }) => 'traceparent' in headers === isTraced));
		if (isTraced)
			await until('the log has the problem', async () => server.output().includes('traces could not be sent'));
		assert.equal((await server.stop()).code, 0);
	}
});
