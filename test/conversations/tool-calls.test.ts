import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import test, { after } from 'node:test';
import type { ChatProvider, ChatRequest, ModelEvent } from '../../src/models/index.ts';
import { eventsSoFar, firstWorkspace, openStoreDirectly } from '../api/direct-store.ts';
import { createApiFixture, createResource } from '../api/fixture.ts';
import { ORIGIN, startTestApp } from '../support/app.ts';
import { eventsOf } from '../support/event-stream.ts';
import { streamFrom } from '../support/model-events.ts';
import { until } from '../support/until.ts';

/** What the scripted model says in a round, given what was asked and what its calls gave so far. */
type Script = (request: ChatRequest) => ModelEvent[];

const asked: ChatRequest[] = [];
let script: Script = () => [{ type: 'delta', text: 'Nothing to say.' }];
const provider: ChatProvider = {
	id: 'scripted',
	models: null,
	chat: {
		stream: streamFrom(async function* (request, signal) {
			asked.push(request);
			for (const event of script(request)) {
				signal.throwIfAborted();
				yield event;
			}
		}),
	},
};

const requests: string[] = [];
const orders = createServer((request, response) => {
	requests.push(request.url ?? '');
	if (request.url?.endsWith('/lost')) response.writeHead(500).end('out of order');
	else if (request.url?.endsWith('/slow')) return;
	else response.writeHead(200, { 'content-type': 'application/json' }).end('{"state":"shipped"}');
});
await new Promise<void>((resolve) => orders.listen(0, '127.0.0.1', resolve));
const address = `http://127.0.0.1:${(orders.address() as AddressInfo).port}`;

const app = await startTestApp({ settings: { allow_private_network: true }, overrides: { providers: [provider] } });
after(async () => {
	await app[Symbol.asyncDispose]();
	orders.closeAllConnections();
	orders.close();
});
const { deployment, assistant } = await createApiFixture(app, { model: 'scripted/any' });
const tool = await createResource(app, '/api/v1/tools', {
	name: 'order_status',
	description: 'Where an order is.',
	type: 'api',
	config: {
		method: 'GET',
		url: `${address}/orders/{order}`,
		parameters: { type: 'object', properties: { order: { type: 'string' } }, required: ['order'] },
	},
});
await app.call('POST', `/api/v1/assistants/${assistant}/tools`, { tool_id: tool });

const ask = (content: string) => app.call('POST', '/api/v1/messages', { deployment_id: deployment, content });
const call = (order: string, id = `call ${order}`): ModelEvent => ({
	type: 'tool_call',
	id,
	name: 'order_status',
	arguments: { order },
});
const say = (text: string): ModelEvent => ({ type: 'delta', text });

test('a model gets the tools, its calls are made, and it answers with their results', async () => {
	script = ({ rounds }) =>
		rounds.length === 0
			? [say('Let me look.'), call('4711'), { type: 'usage', input_tokens: 10, output_tokens: 5 }]
			: [
					say(`It is ${JSON.parse(rounds[0]?.calls[0]?.result ?? '{}').state}.`),
					{ type: 'usage', input_tokens: 20, output_tokens: 6 },
				];
	const { status, body } = await ask('Where is order 4711?');
	assert.equal(status, 201, JSON.stringify(body));
	assert.equal(body.content, 'Let me look.\n\nIt is shipped.');
	assert.deepEqual(body.usage, { input_tokens: 30, output_tokens: 11 });
	const [{ duration_ms, ...told }] = body.tool_calls;
	assert.ok(duration_ms >= 0);
	assert.deepEqual(told, {
		id: 'call 4711',
		tool_id: tool,
		name: 'order_status',
		arguments: { order: '4711' },
		result: '{"state":"shipped"}',
		status: 'completed',
	});
	assert.deepEqual(
		asked.at(-2)?.tools.map(({ name }) => name),
		['order_status'],
	);
	assert.equal(requests.at(-1), '/orders/4711');
	const { body: list } = await app.call('GET', `/api/v1/conversations/${body.conversation_id}/messages`);
	assert.deepEqual(list.data[1].tool_calls, body.tool_calls);
});

test('makes the calls of one round concurrently, and streams their start and end', async () => {
	script = ({ rounds }) => (rounds.length === 0 ? [call('1'), call('2'), call('3')] : [say('All shipped.')]);
	const response = await fetch(`${app.url}/api/v1/messages`, {
		method: 'POST',
		headers: { authorization: `Bearer ${app.key}`, 'content-type': 'application/json' },
		body: JSON.stringify({ deployment_id: deployment, content: 'All of them?', stream: true }),
	});
	const events = [];
	for await (const event of eventsOf(response)) events.push(event);
	const tools = events.filter(({ event }) => event?.startsWith('tool.'));
	assert.deepEqual(
		tools.slice(0, 3).map(({ event, data }) => [event, data.tool_call.status]),
		Array(3).fill(['tool.started', 'running']),
	);
	assert.deepEqual(
		tools.slice(3).map(({ event, data }) => [event, data.tool_call.status]),
		Array(3).fill(['tool.completed', 'completed']),
	);
	assert.deepEqual(new Set(events.map(({ id }) => id)).size, events.length);
	assert.equal(events.at(-1)?.data.message.tool_calls.length, 3);
});

test('shows visitors that a tool is called, without arguments and result', async () => {
	script = ({ rounds }) => (rounds.length === 0 ? [call('secret-order')] : [say('Done.')]);
	const response = await fetch(`${app.url}/api/v1/widget/messages`, {
		method: 'POST',
		headers: { origin: ORIGIN, 'content-type': 'application/json' },
		body: JSON.stringify({ deployment_id: deployment, content: 'Mine?', stream: true }),
	});
	const text = await response.text();
	assert.match(text, /tool\.started/);
	assert.match(text, /"tool_call":\{"id":"call secret-order","name":"order_status","status":"completed"\}/);
	assert.doesNotMatch(text, /"arguments"|"result"|shipped/);
});

test('a failed call is sent to the model, stored, and published as an event', async () => {
	script = ({ rounds }) => (rounds.length === 0 ? [call('lost')] : [say(`Error: ${rounds[0]?.calls[0]?.is_error}`)]);
	const { body } = await ask('Lost?');
	assert.equal(body.content, 'Error: true');
	assert.equal(body.tool_calls[0].status, 'failed');
	await using store = await openStoreDirectly(app);
	const [failure] = await eventsSoFar(store, await firstWorkspace(store), 'tool.execution_failed');
	const { tool_id, tool_name, conversation_id, message_id } = (failure as { data: Record<string, string> }).data;
	assert.deepEqual(
		[tool_id, tool_name, conversation_id, message_id],
		[tool, 'order_status', body.conversation_id, body.id],
	);
});

test('does not send invalid arguments, and reports an unknown tool to the model', async () => {
	script = ({ rounds }) =>
		rounds.length === 0
			? [
					{ type: 'tool_call', id: 'a', name: 'order_status', arguments: { order: 4711 } },
					{ type: 'tool_call', id: 'b', name: 'make_coffee', arguments: {} },
				]
			: [say('Neither.')];
	const before = requests.length;
	const { body } = await ask('Coffee?');
	assert.equal(requests.length, before);
	assert.deepEqual(
		body.tool_calls.map(({ status }: { status: string }) => status),
		['failed', 'failed'],
	);
	assert.match(asked.at(-1)?.rounds[0]?.calls[1]?.result ?? '', /order_status/);
});

test('ends endless calls of a model after eight rounds', async () => {
	script = ({ rounds, tools }) =>
		tools.length > 0 ? [call('1', `round ${rounds.length}`)] : [say(`After ${rounds.length}.`)];
	const { body } = await ask('For ever?');
	assert.equal(body.content, 'After 8.');
	assert.equal(body.tool_calls.length, 8);
});

test('a stop ends a running call, and keeps the text so far', async () => {
	script = ({ rounds }) => (rounds.length === 0 ? [say('One moment.'), call('slow')] : [say('Never said.')]);
	const sending = ask('Slow?');
	await until('the call is under way', () => requests.at(-1) === '/orders/slow');
	const [conversation] = (await app.call('GET', '/api/v1/conversations?limit=1')).body.data;
	assert.equal((await app.call('POST', `/api/v1/conversations/${conversation.id}/stop`)).status, 200);
	const { body } = await sending;
	assert.deepEqual([body.status, body.content, body.tool_calls[0].status], ['stopped', 'One moment.', 'stopped']);
});
