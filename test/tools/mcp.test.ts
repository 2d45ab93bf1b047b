import assert from 'node:assert/strict';
import test from 'node:test';
import { until } from '../support/until.ts';
import { mcpPeer, textResult } from './mcp-peer.ts';
import { neverAborts, toolsHarness } from './tools-harness.ts';

const city = { type: 'object' as const, properties: { city: { type: 'string' } }, required: ['city'] };
const weather = {
	description: 'The weather of a city.',
	inputSchema: city,
	call: ({ city }: Record<string, unknown>) => textResult(`Sunny in ${city}`),
};
const echo = { call: (args: Record<string, unknown>) => textResult(JSON.stringify(args)) };

for (const json of [false, true]) {
	test(`a function of an MCP server is offered and called, answered in ${json ? 'JSON' : 'a stream'}`, async () => {
		await using peer = await mcpPeer({ weather }, { json });
		await using room = toolsHarness();
		const tool = room.mcp(
			{ url: peer.url, headers: { 'X-Api-Key': 'swordfish', 'User-Agent': 'Shop/1' } },
			{ name: 'meteo' },
		);
		const { meteo_weather } = await room.functions(tool);
		assert.ok(meteo_weather);
		const { tool_id, description, parameters } = meteo_weather;
		assert.deepEqual([tool_id, description, parameters], [tool.id, weather.description, city]);
		assert.deepEqual(await meteo_weather.call({ city: 'Ulm' }, neverAborts), {
			result: 'Sunny in Ulm',
			is_error: false,
			error: null,
			status_code: null,
		});
		assert.equal(peer.count('initialize'), 1);
		assert.ok(peer.requests.every(({ headers }) => headers['x-api-key'] === 'swordfish'));
		assert.ok(peer.requests.every(({ headers }) => headers['user-agent'] === 'Shop/1'));
	});
}

test('calls at the same time share one session, and each gets its own answer', async () => {
	await using peer = await mcpPeer({ echo });
	await using room = toolsHarness();
	const { call } = await room.only(room.mcp({ url: peer.url }));
	const numbers = Array.from({ length: 20 }, (_, number) => number);
	const outcomes = await Promise.all(numbers.map((number) => call({ number }, neverAborts)));
	assert.deepEqual(
		outcomes.map(({ result }) => JSON.parse(result).number),
		numbers,
	);
	assert.equal(peer.count('initialize'), 1);
});

test('reports invalid arguments to the model, and does not send them', async () => {
	await using peer = await mcpPeer({ weather });
	await using room = toolsHarness();
	const { call } = await room.only(room.mcp({ url: peer.url }));
	for (const args of [{}, { city: 7 }, null, 'Ulm', ['Ulm'], undefined]) {
		const { result, is_error, error } = await call(args, neverAborts);
		assert.deepEqual([is_error, error?.code], [true, 'invalid_arguments'], JSON.stringify(args));
		assert.match(result, /^The arguments do not fit: /);
	}
	assert.equal(peer.count('tools/call'), 0);
});

test('leaves a schema that cannot be checked to the server, and does not offer a function with too large a schema', async () => {
	const tree = { type: 'object' as const, properties: { child: { $ref: '#' } } };
	const large = { type: 'object' as const, properties: { a: { description: 'x'.repeat(40_000) } } };
	await using peer = await mcpPeer({ tree: { ...echo, inputSchema: tree }, large: { ...echo, inputSchema: large } });
	await using room = toolsHarness();
	const { call, parameters } = await room.only(room.mcp({ url: peer.url }));
	assert.deepEqual(parameters, tree);
	assert.equal((await call({ child: { child: {} } }, neverAborts)).result, '{"child":{"child":{}}}');
	assert.equal((await call('child', neverAborts)).error?.code, 'invalid_arguments');
});

test('offers allowed functions only', async () => {
	await using peer = await mcpPeer({ weather, echo });
	await using room = toolsHarness();
	const names = async (allowed_tools: string[] | null) =>
		Object.keys(await room.functions(room.mcp({ url: peer.url, allowed_tools }, { name: 'm' })));
	assert.deepEqual(await names(null), ['m_weather', 'm_echo']);
	assert.deepEqual(await names(['echo', 'gone']), ['m_echo']);
	assert.deepEqual(await names([]), []);
});

test('passes all kinds of content of a result to the model as text', async () => {
	const image = { type: 'image' as const, data: Buffer.alloc(3_000).toString('base64'), mimeType: 'image/png' };
	const told: Array<[content: object, result: RegExp]> = [
		[{ content: [] }, /^The function gave no content\.$/],
		[{ content: [textResult('one').content[0], textResult('two').content[0]] }, /^one\n\ntwo$/],
		[
			{ content: [textResult('Here:').content[0], image] },
			/^Here:\n\n\[image: image\/png, 3 KiB, which cannot be shown here\]$/,
		],
		[
			{ content: [{ type: 'resource_link', uri: 'file:///a.md', name: 'a', mimeType: 'text/markdown' }] },
			/^\[resource: file:\/\/\/a\.md \(a, text\/markdown\)\]$/,
		],
		[
			{ content: [{ type: 'resource', resource: { uri: 'file:///a.md', text: '# A' } }] },
			/^\[resource: file:\/\/\/a\.md \(of no known type\)\]\n# A$/,
		],
		[
			{
				content: [{ type: 'resource', resource: { uri: 'file:///a.zip', blob: 'AAAA', mimeType: 'application/zip' } }],
			},
			/^\[resource: file:\/\/\/a\.zip \(application\/zip, 1 KiB\), which cannot be shown here\]$/,
		],
		[{ content: [], structuredContent: { degrees: 21 } }, /^\{"degrees":21\}$/],
		[{ content: textResult('{ "degrees": 21 }').content, structuredContent: { degrees: 21 } }, /^\{ "degrees": 21 \}$/],
		[{ content: textResult('Warm.').content, structuredContent: { degrees: 21 } }, /^Warm\.\n\n\{"degrees":21\}$/],
	];
	let answer = {};
	await using peer = await mcpPeer({ any: { call: () => answer as ReturnType<typeof textResult> } });
	await using room = toolsHarness();
	const { call } = await room.only(room.mcp({ url: peer.url }));
	for (const [content, result] of told) {
		answer = content;
		const outcome = await call({}, neverAborts);
		assert.match(outcome.result, result);
		assert.deepEqual([outcome.is_error, outcome.error], [false, null]);
	}
});

test('passes an error of a function or its server to the model and records it', async () => {
	await using peer = await mcpPeer({
		weather: { call: () => ({ ...textResult('There is no such city.'), isError: true }) },
		broken: {},
	});
	await using room = toolsHarness();
	const { mcp_weather, mcp_broken } = await room.functions(room.mcp({ url: peer.url }));
	assert.deepEqual(await mcp_weather?.call({}, neverAborts), {
		result: 'There is no such city.',
		is_error: true,
		error: { code: 'tool_failed', message: 'The function reported an error: There is no such city.' },
		status_code: null,
	});
	const { result, error } = (await mcp_broken?.call({}, neverAborts)) ?? assert.fail();
	assert.equal(error?.code, 'tool_failed');
	assert.match(result, /^The MCP server refused: .*there is no broken/);
	await mcp_weather?.call({}, neverAborts);
	assert.equal(peer.count('initialize'), 1, 'a session outlives errors of its functions');
});

test('cuts a long result between characters at 32 KiB, with a note', async () => {
	await using peer = await mcpPeer({ long: { call: () => textResult(`a${'ü'.repeat(500_000)}`) } });
	await using room = toolsHarness();
	const { call } = await room.only(room.mcp({ url: peer.url }));
	const { result, is_error } = await call({}, neverAborts);
	assert.equal(is_error, false);
	const [text = '', note] = result.split('\n');
	assert.match(text, /^aü+$/);
	assert.match(note ?? '', /^\[The rest was cut off/);
	const size = Buffer.byteLength(result);
	assert.ok(size <= 32_768 && size >= 32_766, `${size} bytes`);
});

test('the list of functions is kept, and asked for again when the server says that it has changed', async () => {
	await using peer = await mcpPeer({ weather });
	await using room = toolsHarness();
	const tool = room.mcp({ url: peer.url }, { name: 'm' });
	for (let time = 0; time < 3; time++) assert.deepEqual(Object.keys(await room.functions(tool)), ['m_weather']);
	assert.equal(peer.count('tools/list'), 1);
	await until('the client listens', () => peer.isListening());
	peer.functions = { echo };
	await peer.notifyToolsChanged();
	await until('the change is known', async () => Object.keys(await room.functions(tool))[0] === 'm_echo');
	assert.equal(peer.count('tools/list'), 2);
	assert.equal(peer.count('initialize'), 1);
});

test('requests a list again after five minutes without a notification', async () => {
	await using peer = await mcpPeer({ weather });
	await using room = toolsHarness();
	const tool = room.mcp({ url: peer.url }, { name: 'm' });
	await room.functions(tool);
	peer.functions = { echo };
	room.clock.advance(299_000);
	assert.deepEqual(Object.keys(await room.functions(tool)), ['m_weather']);
	room.clock.advance(2_000);
	assert.deepEqual(Object.keys(await room.functions(tool)), ['m_echo']);
});

for (const unknownSession of [404, 400]) {
	test(`replaces a session that the server has forgotten (${unknownSession}), and makes the call once`, async () => {
		let calls = 0;
		const count = { call: () => textResult(String(++calls)) };
		await using peer = await mcpPeer({ count }, { unknownSession });
		await using room = toolsHarness();
		const tool = room.mcp({ url: peer.url });
		const { call } = await room.only(tool);
		assert.equal((await call({}, neverAborts)).result, '1');
		peer.forgetSessions();
		const outcomes = await Promise.all([call({}, neverAborts), call({}, neverAborts), call({}, neverAborts)]);
		assert.deepEqual(outcomes.map(({ result }) => result).sort(), ['2', '3', '4']);
		assert.equal(peer.count('initialize'), 2);
		peer.forgetSessions();
		peer.functions = { weather };
		assert.deepEqual(Object.keys(await room.functions(tool)), ['mcp_weather'], 'what it offers may be something else');
	});
}

test('stops asking a server that rejects the session it has just opened', async () => {
	await using peer = await mcpPeer({ echo });
	await using room = toolsHarness();
	const { call } = await room.only(room.mcp({ url: peer.url }));
	peer.override = ({ method }, response) => {
		if (method !== 'tools/call') return false;
		response.writeHead(404).end('Who are you?');
		return true;
	};
	const { result, error, status_code } = (await call({}, neverAborts)) as { status_code?: number } & Awaited<
		ReturnType<typeof call>
	>;
	assert.deepEqual([error?.code, status_code], ['bad_status', 404]);
	assert.equal(result, 'The MCP server answered with status 404.\nWho are you?');
	assert.equal(peer.count('tools/call'), 2);
});

test('an aborted call rejects with the caller’s reason and cancels the request at the server', async () => {
	let begun: () => void;
	const isBegun = new Promise<void>((resolve) => {
		begun = resolve;
	});
	let cancelled = false;
	const slow = {
		call: (_args: object, signal: AbortSignal) =>
			new Promise<never>(() => {
				signal.addEventListener('abort', () => {
					cancelled = true;
				});
				begun();
			}),
	};
	await using peer = await mcpPeer({ slow, echo });
	await using room = toolsHarness();
	const { mcp_slow, mcp_echo } = await room.functions(room.mcp({ url: peer.url }));
	const giveUp = new AbortController();
	const call = mcp_slow?.call({}, giveUp.signal);
	await isBegun;
	giveUp.abort(new Error('enough'));
	await assert.rejects(call ?? assert.fail(), { message: 'enough' });
	await until('the server has stopped', () => cancelled);
	assert.equal(peer.count('notifications/cancelled'), 1);
	// Nothing that is over is cancelled, and the session is still there.
	const later = new AbortController();
	assert.equal((await mcp_echo?.call({ a: 1 }, later.signal))?.result, '{"a":1}');
	later.abort();
	assert.equal((await mcp_echo?.call({ a: 2 }, neverAborts))?.result, '{"a":2}');
	assert.deepEqual([peer.count('notifications/cancelled'), peer.count('initialize')], [1, 1]);
	await assert.rejects(mcp_echo?.call({}, giveUp.signal) ?? assert.fail(), { message: 'enough' });
});

test('a function that does not answer in time fails and is cancelled', async () => {
	let cancelled = false;
	const slow = {
		call: (_args: object, signal: AbortSignal) =>
			new Promise<never>(() => {
				signal.addEventListener('abort', () => {
					cancelled = true;
				});
			}),
	};
	await using peer = await mcpPeer({ slow, echo });
	await using room = toolsHarness();
	// Its time is not to be spent on what is done once: threads that start, a session that is opened.
	const { mcp_echo, mcp_slow } = await room.functions(room.mcp({ url: peer.url, timeout_ms: 500 }));
	await until('all is ready', async () => (await mcp_echo?.call({}, neverAborts))?.is_error === false);
	const { call } = mcp_slow ?? assert.fail();
	const { result, error } = await call({}, neverAborts);
	assert.deepEqual([result, error?.code], ['The tool did not answer within 0.5 seconds.', 'timed_out']);
	await until('the server has stopped', () => cancelled);
});

test('ends an unused session, and opens another when it is needed', async () => {
	await using peer = await mcpPeer({ echo });
	await using room = toolsHarness({ timeouts: { idleMs: 100 } });
	const tool = room.mcp({ url: peer.url });
	const { call } = await room.only(tool);
	await until('the session is ended', () => peer.sessions() === 0);
	assert.ok(peer.requests.some(({ http }) => http === 'DELETE'));
	assert.equal((await call({ a: 1 }, neverAborts)).result, '{"a":1}');
});

test('a tool that leads elsewhere gets a session there, and the one before is ended', async () => {
	await using before = await mcpPeer({ weather });
	await using after = await mcpPeer({ echo });
	await using room = toolsHarness();
	const tool = room.mcp({ url: before.url });
	assert.deepEqual(Object.keys(await room.functions(tool)), ['mcp_weather']);
	const changed = { ...tool, config: room.mcp({ url: after.url }).config };
	assert.deepEqual(Object.keys(await room.functions(changed)), ['mcp_echo']);
	await until('the session is ended', () => before.sessions() === 0);
});

test('reads a list in pages', async () => {
	await using peer = await mcpPeer({});
	const page = (names: string[], nextCursor?: string) => ({
		tools: names.map((name) => ({ name, inputSchema: { type: 'object' } })),
		nextCursor,
	});
	let cursors = 0;
	peer.override = ({ method }, response, message) => {
		if (method !== 'tools/list') return false;
		const at = cursors++;
		const result = page([`f${at}`, 'same'], `page ${at + 1}`);
		response
			.writeHead(200, { 'content-type': 'application/json' })
			.end(JSON.stringify({ jsonrpc: '2.0', id: message.id, result }));
		return true;
	};
	await using room = toolsHarness();
	const names = Object.keys(await room.functions(room.mcp({ url: peer.url }, { name: 'm' })));
	assert.deepEqual(names, ['m_f0', 'm_same', ...Array.from({ length: 9 }, (_, at) => `m_f${at + 1}`)]);
	assert.equal(cursors, 10, 'a list without an end is not read to its end');
});

test('a server without tools has no functions', async () => {
	await using peer = await mcpPeer({});
	peer.override = ({ method }, response, message) => {
		const result = { protocolVersion: '2025-06-18', capabilities: {}, serverInfo: { name: 'bare', version: '1' } };
		// Without a session, and without a stream beside it, as the protocol allows.
		if (method === undefined) response.writeHead(405).end();
		else if (method === 'notifications/initialized') response.writeHead(202).end();
		else if (method !== 'initialize') response.writeHead(500).end();
		else {
			response
				.writeHead(200, { 'content-type': 'application/json' })
				.end(JSON.stringify({ jsonrpc: '2.0', id: message.id, result }));
		}
		return true;
	};
	await using room = toolsHarness();
	assert.deepEqual(await room.tools.list(room.mcp({ url: peer.url }), neverAborts), []);
});

test('a session that is given up while it is being opened serves those who wait for it first', async () => {
	await using peer = await mcpPeer({});
	const results: Record<string, object> = {
		initialize: {
			protocolVersion: '2025-06-18',
			capabilities: { tools: {} },
			serverInfo: { name: 'late', version: '1' },
		},
		'tools/list': { tools: [{ name: 'echo', inputSchema: { type: 'object' } }] },
		'tools/call': textResult('served'),
	};
	let release: (() => void) | undefined;
	peer.override = ({ method = '', http }, response, { id }) => {
		const result = results[method];
		const reply = () => {
			response
				.writeHead(200, { 'content-type': 'application/json' })
				.end(JSON.stringify({ jsonrpc: '2.0', id, result }));
		};
		if (!result) response.writeHead(http === 'GET' ? 405 : 202).end();
		else if (method === 'initialize' && release === undefined) release = reply;
		else reply();
		return true;
	};
	await using room = toolsHarness();
	const tool = room.mcp({ url: peer.url });
	const offered = room.only(tool);
	await until('it is being opened', () => release !== undefined);
	// The tool is changed meanwhile, and reached in its new way.
	const changed = { ...tool, config: room.mcp({ url: `${peer.url}?other` }).config };
	assert.equal((await (await room.only(changed)).call({}, neverAborts)).result, 'served');
	release?.();
	assert.equal((await (await offered).call({}, neverAborts)).result, 'served');
});
