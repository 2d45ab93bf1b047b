import assert from 'node:assert/strict';
import type { ServerResponse } from 'node:http';
import test from 'node:test';
import { createNetwork } from '../../src/net/index.ts';
import { recordingLog } from '../api/traces.ts';
import { httpServer, tcpServer } from '../net/servers.ts';
import { ManualClock } from '../support/manual-clock.ts';
import { until } from '../support/until.ts';
import { type McpPeer, mcpPeer, textResult } from './mcp-peer.ts';
import { neverAborts, toolsHarness } from './tools-harness.ts';

const echo = { call: (args: Record<string, unknown>) => textResult(JSON.stringify(args)) };

/** Has the peer answer calls in its own way. */
function answerCalls(peer: McpPeer, answer: (response: ServerResponse, id: number | undefined) => void): void {
	peer.override = ({ method }, response, { id }) => {
		if (method !== 'tools/call') return false;
		answer(response, id);
		return true;
	};
}

const asStream = (response: ServerResponse) => response.writeHead(200, { 'content-type': 'text/event-stream' });
const asJson = (response: ServerResponse) => response.writeHead(200, { 'content-type': 'application/json' });
const answer = (id: number | undefined, result: object) => JSON.stringify({ jsonrpc: '2.0', id, result });

const FAULTS: Array<[fault: string, code: string, answer: (response: ServerResponse, id: number | undefined) => void]> =
	[
		['ends its stream without an answer', 'unreachable', (response) => void asStream(response).end(': nothing\n\n')],
		['ends its stream within an answer', 'unreachable', (response) => void asStream(response).end('data: {"jsonrpc":')],
		[
			'breaks its stream off',
			'unreachable',
			(response) => void asStream(response).write('data: {"jso', () => response.destroy()),
		],
		[
			'breaks its JSON off',
			'unreachable',
			(response) => void asJson(response).write('{"jso', () => response.destroy()),
		],
		['closes the connection', 'unreachable', (response) => void response.destroy()],
		['answers with half of a JSON text', 'unusable_answer', (response) => void asJson(response).end('{"jsonrpc":')],
		['answers with what is no answer', 'unusable_answer', (response) => void asJson(response).end('{"ok":true}')],
		[
			'answers with a web page',
			'unusable_answer',
			(response) => void response.setHeader('content-type', 'text/html').end('<p>'),
		],
		[
			'answers with another shape',
			'unusable_answer',
			(response, id) => void asJson(response).end(answer(id, { content: 7 })),
		],
		[
			'answers with 10 MB in JSON',
			'unusable_answer',
			(response, id) => void asJson(response).end(answer(id, textResult('x'.repeat(10_000_000)))),
		],
		[
			'answers with 10 MB in a stream',
			'unusable_answer',
			(response, id) => void asStream(response).end(`data: ${answer(id, textResult('x'.repeat(10_000_000)))}\n\n`),
		],
		['answers with an error', 'bad_status', (response) => void response.writeHead(503).end('down')],
		['asks who we are', 'bad_status', (response) => void response.writeHead(401).end()],
		[
			'sends us elsewhere',
			'bad_status',
			(response) => void response.writeHead(307, { location: 'http://127.0.0.2:1/' }).end(),
		],
	];

for (const [fault, code, answers] of FAULTS) {
	test(`a server that ${fault} has failed at once, and can be called again`, async () => {
		await using peer = await mcpPeer({ echo });
		await using room = toolsHarness();
		const { call } = await room.only(room.mcp({ url: peer.url, timeout_ms: 30_000 }));
		answerCalls(peer, answers);
		const outcome = await call({}, neverAborts);
		assert.deepEqual([outcome.is_error, outcome.error?.code], [true, code], JSON.stringify(outcome));
		peer.override = () => false;
		assert.deepEqual(await call({ a: 1 }, neverAborts), {
			result: '{"a":1}',
			is_error: false,
			error: null,
			status_code: null,
		});
	});
}

test('a server that sends ids with its stream and breaks it off is asked for the rest', async () => {
	await using peer = await mcpPeer({ echo });
	await using room = toolsHarness();
	const { call } = await room.only(room.mcp({ url: peer.url, timeout_ms: 30_000 }));
	let id: number | undefined;
	const resumed: unknown[] = [];
	peer.override = ({ method, http, headers }, response, message) => {
		if (method === 'tools/call') {
			id = message.id;
			asStream(response).end('id: first\nretry: 10\ndata: \n\n');
			return true;
		}
		if (http !== 'GET' || headers['last-event-id'] === undefined) return false;
		resumed.push(headers['last-event-id']);
		asStream(response).end(`id: second\ndata: ${answer(id, textResult('the rest'))}\n\n`);
		return true;
	};
	assert.equal((await call({}, neverAborts)).result, 'the rest');
	assert.deepEqual(resumed, ['first']);
	assert.equal(peer.count('tools/call'), 1);
});

test("limits each step with a server that hangs to the tool's time limit", async () => {
	for (const step of ['initialize', 'notifications/initialized', 'tools/list', 'tools/call']) {
		await using peer = await mcpPeer({ echo });
		peer.override = ({ method }) => method === step;
		await using room = toolsHarness();
		const tool = room.mcp({ url: peer.url, timeout_ms: 200 });
		const { is_error, error } = await room.tools.tryOut(tool, 'echo', {}, neverAborts);
		assert.deepEqual([is_error, error?.code], [true, 'timed_out'], step);
	}
});

test('an unreachable server delays neither the functions of other servers nor a second listing', async () => {
	await using peer = await mcpPeer({ echo });
	let ended = 0;
	await using silent = await tcpServer((socket) => void socket.resume().on('close', () => ended++));
	await using room = toolsHarness({ timeouts: { listTimeoutMs: 200, openTimeoutMs: 3_000 } });
	const dead = room.mcp({ url: `${silent.origin}/mcp` }, { name: 'dead' });
	const alive = room.mcp({ url: peer.url }, { name: 'alive' });
	await until('the other is known', async () => 'alive_echo' in (await room.functions(alive)));
	assert.deepEqual(Object.keys(await room.functions(dead, alive)), ['alive_echo']);
	await until('it has been given up', () => ended > 0 && ended === silent.connections);
	const asked = silent.connections;
	for (let time = 0; time < 5; time++) assert.deepEqual(await room.functions(dead), {});
	assert.equal(silent.connections, asked, 'it is not asked again for a while');
	room.clock.advance(31_000);
	assert.deepEqual(await room.functions(dead), {});
	await until('it is asked again', () => silent.connections > asked);
});

test('a clock that was far ahead for a moment keeps no server unasked for longer', async () => {
	const clock = new ManualClock();
	await using silent = await tcpServer((socket) => void socket.destroy());
	await using room = toolsHarness({ clock });
	const dead = room.mcp({ url: `${silent.origin}/mcp` }, { name: 'dead' });
	clock.adjust(45 * 24 * 3_600_000);
	assert.deepEqual(await room.functions(dead), {});
	clock.adjust(-45 * 24 * 3_600_000);
	clock.advance(31_000);
	const asked = silent.connections;
	assert.deepEqual(await room.functions(dead), {});
	assert.ok(silent.connections > asked, 'it is asked again');
});

test('a server that is slow to list its functions is offered as soon as it has', async () => {
	await using peer = await mcpPeer({ echo });
	const held: Array<() => void> = [];
	let isHolding = true;
	peer.override = ({ method }, response, message) => {
		if (method !== 'tools/list' || !isHolding) return false;
		const result = { tools: [{ name: 'late', inputSchema: { type: 'object' } }] };
		held.push(() => asJson(response).end(answer(message.id, result)));
		return true;
	};
	await using room = toolsHarness({ timeouts: { listTimeoutMs: 100, openTimeoutMs: 30_000 } });
	const tool = room.mcp({ url: peer.url }, { name: 'm' });
	assert.deepEqual(await room.functions(tool), {});
	await until('it was asked', () => held.length === 1);
	isHolding = false;
	for (const release of held) release();
	await until('it is offered', async () => 'm_late' in (await room.functions(tool)));
	assert.equal(peer.count('tools/list'), 1);
});

test('an aborted listing continues for other callers', async () => {
	await using peer = await mcpPeer({ echo });
	await using room = toolsHarness();
	const tool = room.mcp({ url: peer.url });
	const giveUp = new AbortController();
	const first = room.tools.functionsOf([tool], giveUp.signal);
	const second = room.tools.functionsOf([tool], neverAborts);
	giveUp.abort(new Error('enough'));
	await assert.rejects(first, { message: 'enough' });
	assert.equal((await second).length, 1);
	assert.equal(peer.count('tools/list'), 1);
});

test('a server that ends each stream of news at once, or asks without end, does not keep us busy', async () => {
	await using peer = await mcpPeer({ echo });
	await using room = toolsHarness();
	const tool = room.mcp({ url: peer.url });
	peer.override = ({ http }, response) => {
		if (http !== 'GET') return false;
		asStream(response).end('retry: 0\n\n');
		return true;
	};
	const { call } = await room.only(tool);
	const streams = () => peer.requests.filter(({ http }) => http === 'GET').length;
	await until('it has been asked as often as it is', () => streams() === 32);
	assert.equal((await call({ a: 1 }, neverAborts)).result, '{"a":1}');
	assert.equal(streams(), 32);

	const pings = Array.from({ length: 2_000 }, (_, id) => ({ jsonrpc: '2.0', id: `p${id}`, method: 'ping' }));
	const before = peer.requests.length;
	answerCalls(peer, (response, id) => {
		asStream(response).write(pings.map((ping) => `data: ${JSON.stringify(ping)}\n\n`).join(''));
		response.end(`data: ${answer(id, textResult('done'))}\n\n`);
	});
	assert.equal((await call({}, neverAborts)).result, 'done');
	assert.ok(peer.requests.length - before <= 66, `${peer.requests.length - before} requests`);
});

test('no URL, name or redirect leads a session into the private network', async () => {
	await using bird = await tcpServer((socket) => socket.destroy());
	await using outside = await httpServer((_request, response) => {
		response.writeHead(307, { location: `http://private.example:${bird.port}/mcp` }).end();
	});
	await using guarded = createNetwork({
		allowPrivateNetwork: false,
		resolve: async (name) => [{ address: name === 'private.example' ? '127.0.0.2' : '127.0.0.1', family: 4 }],
		isAddressAllowed: (address) => address === '127.0.0.1',
	});
	// The real guard, but with plain HTTP, because no certificate is available here.
	const network = { ...guarded, fetch: (url: string | URL, init?: RequestInit) => guarded.fetch(url, init) };
	await using room = toolsHarness({ network });
	for (const [url, code] of [
		[`http://127.0.0.3:${bird.port}/mcp`, 'url_not_allowed'],
		[`http://localhost:${bird.port}/mcp`, 'url_not_allowed'],
		[`http://private.example:${bird.port}/mcp`, 'url_not_allowed'],
		[`http://public.example:${outside.port}/mcp`, 'bad_status'],
	] as const) {
		const tool = room.mcp({ url });
		assert.deepEqual(await room.functions(tool), {}, url);
		assert.equal((await room.tools.tryOut(tool, 'any', {}, neverAborts)).error?.code, code, url);
	}
	assert.ok(outside.connections > 0);
	assert.equal(bird.connections, 0);
	await using strict = toolsHarness({ network: guarded });
	const plain = await strict.tools.tryOut(
		strict.mcp({ url: `http://public.example:${outside.port}/` }),
		'f',
		{},
		neverAborts,
	);
	assert.equal(plain.error?.message, 'Only https URLs are allowed here.');
});

test('no secret is in a result, an error or the log, whatever a server returns', async () => {
	const { log, text } = recordingLog();
	await using peer = await mcpPeer({
		tell: {
			call: () => ({
				...textResult('You sent Bearer swordfish-1, marlin "2"'),
				structuredContent: { key: 'marlin "2"' },
			}),
		},
		fail: { call: () => ({ ...textResult('swordfish-1 is wrong'), isError: true }) },
	});
	await using room = toolsHarness({ log });
	const headers = { Authorization: 'Bearer swordfish-1', 'X-Api-Key': 'marlin "2"' };
	const tool = room.mcp({ url: peer.url, headers });
	const { mcp_tell, mcp_fail } = await room.functions(tool);
	const outcomes: unknown[] = [await mcp_tell?.call({}, neverAborts), await mcp_fail?.call({}, neverAborts)];
	answerCalls(peer, (response) => void response.writeHead(403).end('swordfish-1 may not'));
	outcomes.push(await mcp_tell?.call({}, neverAborts));
	peer.override = ({ method }, response) => {
		if (method !== 'initialize') return false;
		response.writeHead(400).end('Bearer swordfish-1 may not');
		return true;
	};
	outcomes.push(await room.tools.tryOut(tool, 'tell', {}, neverAborts));
	const refused = room.tools.list(tool, neverAborts);
	await assert.rejects(refused, (thrown: Error) => Boolean(outcomes.push(thrown.message)));
	assert.equal(outcomes.length, 5);
	assert.match(JSON.stringify(outcomes[0]), /You sent \*\*\*, \*\*\*/);
	for (const told of [JSON.stringify(outcomes), text()]) {
		assert.match(told, /status 400/);
		assert.doesNotMatch(told, /swordfish|marlin/);
	}
});

test('closes all sessions, without waiting for a session that hangs', async () => {
	await using peer = await mcpPeer({ echo });
	await using hanging = await mcpPeer({ echo });
	// With these time limits, waiting would take longer than the test may.
	const room = toolsHarness({ timeouts: { openTimeoutMs: 3_600_000, listTimeoutMs: 3_600_000 } });
	await room.functions(room.mcp({ url: peer.url }), room.mcp({ url: hanging.url }));
	hanging.override = () => true;
	await using silent = await tcpServer((socket) => void socket.resume());
	const opening = room.functions(room.mcp({ url: silent.origin }));
	await until('it is being opened', () => silent.connections === 1);
	await room[Symbol.asyncDispose]();
	assert.deepEqual(await opening, {});
	assert.equal(peer.sessions(), 0);
});
