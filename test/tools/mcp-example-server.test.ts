import assert from 'node:assert/strict';
import test from 'node:test';
import { until } from '../support/until.ts';
import { exampleServer, freePort } from './mcp-example-server.ts';
import { neverAborts, toolsHarness } from './tools-harness.ts';

test('lists and calls the MCP project’s example server, also after its restart', async () => {
	const port = await freePort();
	await using room = toolsHarness();
	await using first = await exampleServer(port);
	const tool = room.mcp({ url: first.url, timeout_ms: 30_000 }, { name: 'ex' });
	const functions = await room.functions(tool);
	const names = Object.keys(functions);
	assert.ok(
		['ex_greet', 'ex_multi-greet', 'ex_list-files'].every((name) => names.includes(name)),
		names.join(),
	);
	assert.ok(!names.includes('ex_delay'), 'what answers only with a task is not offered');
	const { ex_greet: greet, 'ex_list-files': files, 'ex_start-notification-stream': notify } = functions;

	assert.equal((await greet?.call({ name: 'Ada' }, neverAborts))?.result, 'Hello, Ada!');
	assert.equal((await greet?.call({}, neverAborts))?.error?.code, 'invalid_arguments');
	assert.match((await files?.call({}, neverAborts))?.result ?? '', /\[resource: file:\/\/\/\S+ \(/);
	const talkative = await notify?.call({ interval: 20, count: 3 }, neverAborts);
	assert.equal(talkative?.is_error, false, 'what it says on the way is no part of the answer');
	const asking = await functions['ex_collect-user-info']?.call({ infoType: 'contact' }, neverAborts);
	assert.match(asking?.result ?? '', /Method not found/, 'nobody is there to answer what a function asks back');

	const giveUp = new AbortController();
	const endless = notify?.call({ interval: 50, count: 0 }, giveUp.signal);
	await until('it has begun', () => first.output().split('Received MCP request').length > 6);
	giveUp.abort(new Error('enough'));
	await assert.rejects(endless ?? assert.fail(), { message: 'enough' });

	await first.end();
	const dead = await greet?.call({ name: 'Ada' }, neverAborts);
	assert.equal(dead?.error?.code, 'unreachable');
	await using second = await exampleServer(port);
	assert.equal((await greet?.call({ name: 'Bob' }, neverAborts))?.result, 'Hello, Bob!');
	assert.match(second.output(), /Session initialized/);
});
