import assert from 'node:assert/strict';
import test, { after } from 'node:test';
import { createNetwork } from '../../src/net/index.ts';
import { tcpServer } from '../net/servers.ts';
import { startTestApp } from '../support/app.ts';
import { until } from '../support/until.ts';
import { apiPeer } from '../tools/api-peer.ts';
import { mcpPeer, textResult } from '../tools/mcp-peer.ts';
import { addKey, addWorkspace, firstWorkspace, openStoreDirectly } from './direct-store.ts';
import { createResource } from './fixture.ts';
import { filesContaining, recordingLog } from './traces.ts';

const app = await startTestApp({ settings: { allow_private_network: true } });
after(() => app[Symbol.asyncDispose]());

const TOOLS = '/api/v1/tools';
const parameters = { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] };

const weather = (origin: string, more: object = {}) => ({
	name: 'get_weather',
	description: 'The weather of a city.',
	type: 'api',
	config: { method: 'GET', url: `${origin}/v1/{city}`, parameters, ...more },
});
const warehouse = (url: string, more: object = {}) => ({ name: 'warehouse', type: 'mcp', config: { url, ...more } });

const tryOut = (id: string, body: unknown, headers?: Record<string, string>) =>
	app.call('POST', `${TOOLS}/${id}/test`, body, headers);

test('tries out an API tool and returns its result, status and duration', async () => {
	await using peer = await apiPeer();
	const id = await createResource(app, TOOLS, weather(peer.origin));
	peer.respond = (response, { url }) => void response.setHeader('content-type', 'text/plain').end(`Sunny at ${url}`);
	const { status, body } = await tryOut(id, { arguments: { city: 'Bad Urach' } });
	assert.equal(status, 200, JSON.stringify(body));
	assert.ok(Number.isInteger(body.duration_ms) && body.duration_ms >= 0);
	assert.deepEqual(body, {
		result: 'Sunny at /v1/Bad%20Urach',
		is_error: false,
		error: null,
		status_code: 200,
		request: {
			method: 'GET',
			url: `${peer.origin}/v1/Bad%20Urach`,
			headers: { accept: peer.requests[0]?.headers.accept, 'user-agent': 'Parley' },
			body: null,
		},
		duration_ms: body.duration_ms,
	});
});

test('shows the request that was made, without its secrets', async () => {
	await using peer = await apiPeer();
	const config = {
		method: 'POST',
		url: `${peer.origin}/orders`,
		headers: { 'X-Api-Key': 'abc', 'X-City': '{city}' },
		query: { city: '{city}' },
		body: { city: '{city}', count: 2 },
		auth: { type: 'bearer', token: 'a-long-secret-token' },
		parameters,
	};
	const id = await createResource(app, TOOLS, { name: 'order', type: 'api', config });
	const { body } = await tryOut(id, { arguments: { city: 'a-long-secret-token' } });
	const sent = peer.requests[0];
	assert.equal(sent?.headers.authorization, 'Bearer a-long-secret-token');
	assert.deepEqual(body.request, {
		method: 'POST',
		url: `${peer.origin}/orders?city=***`,
		headers: {
			accept: sent?.headers.accept,
			authorization: '***',
			'content-type': 'application/json',
			'idempotency-key': sent?.headers['idempotency-key'],
			'user-agent': 'Parley',
			'x-api-key': '***',
			'x-city': '***',
		},
		body: '{"city":"***","count":2}',
	});
	const invalid = await tryOut(id, { arguments: { city: 7 } });
	assert.equal(invalid.body.request, null, 'nothing was sent');
	assert.equal(peer.requests.length, 1);
});

test('returns a failed call with its reason', async () => {
	await using peer = await apiPeer();
	const id = await createResource(app, TOOLS, weather(peer.origin));
	peer.respond = (response) => void response.writeHead(503, { 'content-type': 'text/plain' }).end('closed');
	const { status, body } = await tryOut(id, { arguments: { city: 'Ulm' } });
	assert.deepEqual(
		[status, body.result, body.is_error, body.error.code, body.status_code],
		[200, 'The API answered with status 503.\nclosed', true, 'bad_status', 503],
	);
	for (const body of [{}, { arguments: { city: 7 } }]) {
		const { status, body: answer } = await tryOut(id, body);
		assert.deepEqual([status, answer.error.code, answer.status_code], [200, 'invalid_arguments', null]);
	}
	assert.equal(peer.requests.length, 1);
});

test('lists and tries out a function of an MCP server that need not be allowed', async () => {
	await using peer = await mcpPeer({
		stock_level: {
			description: 'How many there are.',
			inputSchema: { type: 'object', properties: { article: { type: 'string' } } },
			call: ({ article }) => textResult(`7 of ${article}`),
		},
		other: {},
	});
	const id = await createResource(app, TOOLS, warehouse(peer.url, { allowed_tools: ['other'] }));
	const list = await app.call('GET', `${TOOLS}/${id}/functions`);
	assert.equal(list.status, 200, JSON.stringify(list.body));
	assert.deepEqual(list.body, {
		data: [
			{
				name: 'stock_level',
				description: 'How many there are.',
				parameters: { type: 'object', properties: { article: { type: 'string' } } },
			},
			{ name: 'other', description: null, parameters: { type: 'object' } },
		],
		next_cursor: null,
	});
	const { status, body } = await tryOut(id, { function: 'stock_level', arguments: { article: '4711' } });
	assert.deepEqual([status, body.result, body.is_error, body.status_code], [200, '7 of 4711', false, null]);
	const unknown = await tryOut(id, { function: 'nonesuch' });
	assert.deepEqual(
		[unknown.status, unknown.body.error],
		[200, { code: 'unknown_function', message: 'The MCP server offers no function nonesuch.' }],
	);
	peer.functions = { added: {} };
	const now = await app.call('GET', `${TOOLS}/${id}/functions`);
	assert.deepEqual(
		now.body.data.map(({ name }: { name: string }) => name),
		['added'],
		'the list is that of this moment',
	);
});

test('an API tool has one function, the tool itself', async () => {
	await using peer = await apiPeer();
	const id = await createResource(app, TOOLS, weather(peer.origin));
	const { status, body } = await app.call('GET', `${TOOLS}/${id}/functions`);
	assert.deepEqual(
		[status, body],
		[200, { data: [{ name: 'get_weather', description: 'The weather of a city.', parameters }], next_cursor: null }],
	);
	assert.equal(peer.requests.length, 0);
	const named = await tryOut(id, { function: 'get_weather', arguments: { city: 'Ulm' } });
	assert.equal(named.body.status_code, 200);
	const other = await tryOut(id, { function: 'nonesuch', arguments: { city: 'Ulm' } });
	assert.deepEqual([other.status, other.body.error.code], [200, 'unknown_function']);
	assert.equal(peer.requests.length, 1);
});

test('requires the name of the function to call', async () => {
	await using peer = await apiPeer();
	const api = await createResource(app, TOOLS, weather(peer.origin));
	const mcp = await createResource(app, TOOLS, warehouse(`${peer.origin}/mcp`));
	const wrong: Array<[id: string, body: unknown, place: string]> = [
		[mcp, {}, '/function'],
		[mcp, { function: '' }, '/function'],
		[api, { arguments: [] }, '/arguments'],
		[api, { arguments: 'Ulm' }, '/arguments'],
		[api, { argument: {} }, '/argument'],
	];
	for (const [id, body, place] of wrong) {
		const answer = await tryOut(id, body);
		const paths = answer.body.error?.details?.map(({ path }: { path: string }) => path);
		assert.deepEqual([answer.status, answer.body.error?.code, paths], [400, 'invalid_request', [place]]);
	}
	assert.equal(peer.requests.length, 0);
});

test('distinguishes an MCP server that cannot be listed from one without functions', async () => {
	await using peer = await mcpPeer({});
	const id = await createResource(app, TOOLS, warehouse(peer.url));
	assert.deepEqual((await app.call('GET', `${TOOLS}/${id}/functions`)).body.data, []);
	peer.override = (_request, response) => Boolean(response.writeHead(500).end('no'));
	const { status, body, headers } = await app.call('GET', `${TOOLS}/${id}/functions`);
	assert.deepEqual(
		[status, body.error.code, body.error.message],
		[503, 'unavailable', 'The MCP server answered with status 500.'],
	);
	assert.ok(Number(headers.get('retry-after')) > 0);
	await using silent = await tcpServer((socket) => void socket.resume());
	const hanging = await createResource(app, TOOLS, warehouse(`${silent.origin}/mcp`, { timeout_ms: 100 }));
	const late = await app.call('GET', `${TOOLS}/${hanging}/functions`);
	assert.deepEqual([late.status, late.body.error.message], [503, 'The tool did not answer within 0.1 seconds.']);
});

test('tries out a disabled tool', async () => {
	await using peer = await apiPeer();
	const id = await createResource(app, TOOLS, weather(peer.origin));
	await app.call('PATCH', `${TOOLS}/${id}`, { status: 'archived' });
	assert.equal((await tryOut(id, { arguments: { city: 'Ulm' } })).body.status_code, 200);
});

test('makes one call under an Idempotency-Key, also where the client does not wait for it', async () => {
	await using peer = await apiPeer();
	const id = await createResource(app, TOOLS, weather(peer.origin, { method: 'POST' }));
	const body = { arguments: { city: 'Ulm' } };
	const key = { 'idempotency-key': 'try-1' };
	const [first, second] = await Promise.all([tryOut(id, body, key), tryOut(id, body, key)]);
	assert.deepEqual(second.body, first.body);
	assert.equal(peer.requests.length, 1);
	await tryOut(id, body);
	assert.equal(peer.requests.length, 2);

	let release = () => {};
	const isSent = new Promise<void>((sent) => {
		peer.respond = (response) => {
			release = () => void response.setHeader('content-type', 'text/plain').end('done');
			sent();
		};
	});
	const leave = new AbortController();
	const left = fetch(`${app.url}${TOOLS}/${id}/test`, {
		method: 'POST',
		headers: { authorization: `Bearer ${app.key}`, 'content-type': 'application/json', 'idempotency-key': 'try-2' },
		body: JSON.stringify(body),
		signal: leave.signal,
	});
	await isSent;
	leave.abort();
	await assert.rejects(left);
	const again = tryOut(id, body, { 'idempotency-key': 'try-2' });
	release();
	assert.equal((await again).body.result, 'done');
	assert.equal(peer.requests.length, 3);
});

test('limits concurrent calls per workspace, and other workspaces do not wait', async () => {
	await using peer = await apiPeer();
	await using silent = await tcpServer((socket) => void socket.resume());
	const id = await createResource(app, TOOLS, weather(peer.origin));
	const hanging = await createResource(app, TOOLS, warehouse(`${silent.origin}/mcp`));
	const held: Array<() => void> = [];
	peer.respond = (response) => held.push(() => response.setHeader('content-type', 'text/plain').end('done'));
	const body = { arguments: { city: 'Ulm' } };
	const underWay = Array.from({ length: 5 }, () => tryOut(id, body));
	await until('all calls are in flight', () => held.length === 5);
	for (const { status, body: refused, headers } of [
		await tryOut(id, body),
		await tryOut(hanging, { function: 'any' }),
		await app.call('GET', `${TOOLS}/${hanging}/functions`),
	]) {
		assert.deepEqual([status, refused.error.code, refused.error.retry_after], [429, 'rate_limit_exceeded', 10]);
		assert.equal(headers.get('retry-after'), '10');
	}
	await using store = await openStoreDirectly(app);
	const other = { authorization: `Bearer ${(await addWorkspace(store)).key}` };
	const theirs = await app.call('POST', TOOLS, weather(peer.origin), other);
	const trial = tryOut(theirs.body.id, body, other);
	await until('the call of the other workspace is in flight too', () => held.length === 6);
	for (const release of held) release();
	for (const { body: answer } of await Promise.all([...underWay, trial])) assert.equal(answer.result, 'done');
	peer.respond = (response) => void response.setHeader('content-type', 'text/plain').end('again');
	assert.equal((await tryOut(id, body)).body.result, 'again');
});

test('calls a tool with its present secrets and shows them nowhere', async () => {
	const kept = recordingLog();
	await using own = await startTestApp({ settings: { allow_private_network: true }, overrides: { log: kept.log } });
	await using peer = await apiPeer();
	const words = ['open-sesame-1', 'open-sesame-2'] as const;
	const id = await createResource(own, TOOLS, weather(peer.origin, { auth: { type: 'bearer', token: words[0] } }));
	const responses: unknown[] = [];
	const call = async (body: unknown, headers?: Record<string, string>) => {
		const answer = await own.call('POST', `${TOOLS}/${id}/test`, body, headers);
		responses.push(answer.body);
		return answer;
	};
	const body = { arguments: { city: 'Ulm' } };
	await call(body, { 'idempotency-key': 'with-secret' });
	assert.equal(peer.requests.at(-1)?.headers.authorization, `Bearer ${words[0]}`);
	await own.call('PATCH', `${TOOLS}/${id}`, { config: { auth: { token: words[1] } } });
	peer.respond = (response, { headers }) => {
		response.writeHead(401, { 'content-type': 'text/plain' }).end(`not ${headers.authorization}`);
	};
	await call(body);
	assert.equal(peer.requests.at(-1)?.headers.authorization, `Bearer ${words[1]}`);
	assert.match(JSON.stringify(responses), /not Bearer \*\*\*/);
	for (const word of words) {
		assert.ok(!JSON.stringify(responses).includes(word), 'a response shows it');
		assert.ok(!kept.text().includes(word), 'the log shows it');
	}
	assert.deepEqual(await filesContaining(own.dataDir, words), []);
});

test('calls nothing in the private network unless that is allowed', async () => {
	await using bird = await tcpServer((socket) => socket.destroy());
	const network = createNetwork({
		allowPrivateNetwork: false,
		resolve: async () => [{ address: '127.0.0.1', family: 4 }],
	});
	await using own = await startTestApp({ overrides: { network } });
	const origin = `https://rebound.example:${bird.port}`;
	const api = await createResource(own, TOOLS, weather(origin));
	const mcp = await createResource(own, TOOLS, warehouse(`${origin}/mcp`));
	for (const [id, body] of [
		[api, { arguments: { city: 'Ulm' } }],
		[mcp, { function: 'any' }],
	] as const) {
		const { status, body: answer } = await own.call('POST', `${TOOLS}/${id}/test`, body);
		assert.deepEqual([status, answer.error.code, answer.status_code], [200, 'url_not_allowed', null]);
	}
	const list = await own.call('GET', `${TOOLS}/${mcp}/functions`);
	assert.deepEqual([list.status, list.body.error.code], [400, 'url_not_allowed']);
	assert.equal(bird.connections, 0);
});

test('does not call tools of another workspace, or without the scope', async () => {
	await using peer = await apiPeer();
	const id = await createResource(app, TOOLS, weather(peer.origin));
	const body = { arguments: { city: 'Ulm' } };
	await using store = await openStoreDirectly(app);
	const stranger = { authorization: `Bearer ${(await addWorkspace(store)).key}` };
	for (const answer of [
		await tryOut(id, body, stranger),
		await tryOut('tool_1', body),
		await app.call('GET', `${TOOLS}/${id}/functions`, undefined, stranger),
	]) {
		assert.deepEqual([answer.status, answer.body.error.code], [404, 'not_found']);
	}
	const reader = { authorization: `Bearer ${await addKey(store, await firstWorkspace(store), ['tools:read'])}` };
	const refused = await tryOut(id, body, reader);
	assert.deepEqual([refused.status, refused.body.error.code], [403, 'insufficient_scope']);
	assert.equal((await app.call('GET', `${TOOLS}/${id}/functions`, undefined, reader)).status, 200);
	assert.equal(peer.requests.length, 0);
});
