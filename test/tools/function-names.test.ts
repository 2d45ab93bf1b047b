import assert from 'node:assert/strict';
import test from 'node:test';
import { mcpPeer } from './mcp-peer.ts';
import { toolsHarness } from './tools-harness.ts';

const NAME = /^[a-zA-Z0-9_-]{1,64}$/;

test('functions of MCP servers have names that models take, told apart by their tool', async () => {
	const long = 'a'.repeat(100);
	await using peer = await mcpPeer({
		search: {},
		'files.read': {},
		'lesen/öffnen': {},
		[`${long}1`]: {},
		[`${long}2`]: {},
	});
	await using room = toolsHarness();
	const one = room.mcp({ url: peer.url }, { name: 'one' });
	const two = room.mcp({ url: peer.url }, { name: 'two' });
	const names = Object.keys(await room.functions(one, two));
	assert.deepEqual(names.slice(0, 3), ['one_search', 'one_files_read', 'one_lesen__ffnen']);
	assert.equal(names[5], 'two_search');
	assert.equal(new Set(names).size, 10);
	for (const name of names) assert.match(name, NAME);
	assert.deepEqual(Object.keys(await room.functions(one, two)), names, 'they are the same each time');
});

test('of functions of one name the later one gets a number', async () => {
	await using peer = await mcpPeer({ b: {}, 'x.y': {}, x_y: {} });
	await using room = toolsHarness();
	const api = (name: string) => room.api({ method: 'GET', url: 'https://api.example/' }, { name });
	const mcp = room.mcp({ url: peer.url }, { name: 'a' });
	const longest = 'n'.repeat(64);
	const tools = [api('a_b'), mcp, api('a_b'), api('a_b_2'), api(longest), api(longest)];
	const functions = await room.tools.functionsOf(tools, new AbortController().signal);
	assert.deepEqual(
		functions.map(({ name }) => name),
		['a_b', 'a_b_2', 'a_x_y', 'a_x_y_2', 'a_b_3', 'a_b_2_2', longest, `${'n'.repeat(62)}_2`],
	);
	assert.equal(functions[0]?.tool_id, tools[0]?.id);
	assert.equal(functions[4]?.tool_id, tools[2]?.id);
});

test('omits disabled tools, and limits the functions of a reply to what providers accept', async () => {
	await using room = toolsHarness();
	const api = (name: string, status: 'active' | 'archived' = 'active') =>
		room.api({ method: 'GET', url: 'https://api.example/' }, { name, status });
	assert.deepEqual(Object.keys(await room.functions(api('on'), api('off', 'archived'))), ['on']);
	const many = Array.from({ length: 200 }, (_, at) => api(`tool_${at}`));
	assert.equal(Object.keys(await room.functions(...many)).length, 128);
});
