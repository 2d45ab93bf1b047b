import assert from 'node:assert/strict';
import test, { after } from 'node:test';
import { createLog, deferred, systemClock } from '../../src/base/index.ts';
import { Conversations } from '../../src/conversations/index.ts';
import { type ChatModel, createModels } from '../../src/models/index.ts';
import { Outbox } from '../../src/outbox/index.ts';
import type { Commit } from '../../src/store/index.ts';
import { openStoreDirectly } from '../api/direct-store.ts';
import { createApiFixture, createResource } from '../api/fixture.ts';
import { startTestApp, type TestApp } from '../support/app.ts';
import { streamFrom } from '../support/model-events.ts';
import { ModelServer, type ModelStep } from '../support/model-server.ts';
import { until } from '../support/until.ts';
import { type ApiPeer, apiPeer } from '../tools/api-peer.ts';
import { mcpPeer, textResult } from '../tools/mcp-peer.ts';

const models = await ModelServer.start();
const peer = await apiPeer();
const echo = peer.respond;
const settings = {
	allow_private_network: true,
	providers: [models.provider({ id: 'local', context_tokens: 1_000_000 })],
	default_model: 'local/small',
};
let app: TestApp = await startTestApp({ settings });
after(async () => {
	await app[Symbol.asyncDispose]();
	await models[Symbol.asyncDispose]();
	await peer[Symbol.asyncDispose]();
});

const ORDER = { method: 'POST', body: { item: '{item}' } };
const parameters = { type: 'object', properties: { item: { type: 'string' } } };

/** An assistant that can order; its deployment. */
async function shop(config: object = ORDER, { origin }: Pick<ApiPeer, 'origin'> = peer): Promise<string> {
	const { assistant, deployment } = await createApiFixture(app);
	const tool_id = await createResource(app, '/api/v1/tools', {
		name: 'order',
		type: 'api',
		config: { url: `${origin}/orders`, parameters, ...config },
	});
	await app.call('POST', `/api/v1/assistants/${assistant}/tools`, { tool_id });
	peer.requests.length = 0;
	peer.respond = echo;
	models.calls.length = 0;
	return deployment;
}

const order = (item: string, id = `call ${item}`): ModelStep => ({ call: { id, name: 'order', arguments: { item } } });
const send = (deployment_id: string, headers: Record<string, string> = {}) =>
	app.call('POST', '/api/v1/messages', { deployment_id, content: 'One kettle, please.' }, headers);
const keys = () => peer.requests.map(({ headers }) => headers['idempotency-key']);

/** The reply of the only conversation of a deployment. */
async function replyOf(deployment: string) {
	const { body } = await app.call('GET', `/api/v1/conversations?deployment_id=${deployment}`);
	return (await app.call('GET', `/api/v1/conversations/${body.data[0].id}/messages`)).body.data[1];
}

const endedReply = (deployment: string) =>
	until('the reply has ended', async () => {
		const reply = await replyOf(deployment);
		return reply.status !== 'in_progress' && reply;
	});

test('continues a reply after a restart without repeating its finished calls', async () => {
	const deployment = await shop();
	models.enqueue(
		[{ say: 'I order it.' }, order('kettle')],
		[{ say: 'It is ' }, { hang: true }],
		[{ say: 'It is on its way.' }],
	);
	const cutOff = send(deployment).catch(() => null);
	await models.call(1);
	app = await app.restart();
	const reply = await endedReply(deployment);
	assert.deepEqual([reply.status, reply.content], ['completed', 'I order it.\n\nIt is on its way.']);
	assert.equal(peer.requests.length, 1);
	assert.deepEqual(
		reply.tool_calls.map(({ name, status }: { name: string; status: string }) => [name, status]),
		[['order', 'completed']],
	);
	const told = models.calls[2]?.body.messages ?? [];
	assert.deepEqual(told, models.calls[1]?.body.messages, 'the model is asked what it was asked before');
	assert.deepEqual(reply.usage, { input_tokens: 22, output_tokens: 14 });
	await cutOff;
});

test('a repeat of a failed reply continues from its finished calls', async () => {
	const deployment = await shop();
	models.enqueue([order('kettle')], [{ status: 400, body: '{}' }], [order('cup')], [{ status: 400, body: '{}' }]);
	const headers = { 'idempotency-key': `one order of ${deployment}` };
	assert.equal((await send(deployment, headers)).status, 500);
	assert.equal((await send(deployment, headers)).status, 500);
	assert.equal((await replyOf(deployment)).tool_calls.length, 2);
	models.enqueue([{ say: 'Both are on their way.' }]);
	const { status, body } = await send(deployment, headers);
	assert.deepEqual([status, body.content, peer.requests.length], [201, 'Both are on their way.', 2]);
	assert.deepEqual(
		body.tool_calls.map(({ arguments: given }: { arguments: unknown }) => given),
		[{ item: 'kettle' }, { item: 'cup' }],
	);
});

test('marks a call that a shutdown interrupted as stopped, and makes it again with the same key', async () => {
	const deployment = await shop();
	peer.respond = (response, { body }) => {
		if (body.includes('cup')) response.end('ordered');
	};
	models.enqueue([order('kettle'), order('cup')]);
	const cutOff = send(deployment).catch(() => null);
	await until('both were called, and one has answered', async () => {
		const { body } = await app.call('GET', `/api/v1/conversations?deployment_id=${deployment}`);
		if (body.data.length === 0) return false;
		const { tool_calls } = await replyOf(deployment);
		const states = tool_calls.map(({ status }: { status: string }) => status).join();
		return peer.requests.length === 2 && states === 'running,completed';
	});
	models.enqueue([order('kettle', 'again'), order('kettle', 'another')], [{ say: 'Ordered.' }]);
	peer.respond = (response) => void response.end('ordered');
	app = await app.restart();
	const reply = await endedReply(deployment);
	assert.deepEqual(
		reply.tool_calls.map(({ id, status }: { id: string; status: string }) => [id, status]),
		[
			['call kettle', 'stopped'],
			['call cup', 'completed'],
			['again', 'completed'],
			['another', 'completed'],
		],
	);
	const [kettle, cup] = [`${reply.id}-1`, `${reply.id}-2`];
	assert.deepEqual(keys().toSorted(), [kettle, kettle, cup, `${reply.id}-4`].toSorted());
	const told = models.calls[1]?.body.messages.filter(({ role }: { role: string }) => role === 'tool');
	assert.match(told?.[0]?.content, /cut off.*not known/);
	assert.equal(told?.[1]?.content, 'ordered');
	await cutOff;
});

test('sends an idempotency key with unsafe calls, unless the tool sets the header itself', async () => {
	const posts = await shop();
	models.enqueue([order('kettle'), order('cup')], [order('kettle')], [{ say: 'Ordered.' }]);
	const { body } = await send(posts);
	assert.deepEqual(
		keys().toSorted(),
		[1, 2, 3].map((number) => `${body.id}-${number}`),
	);
	const own = await shop({ ...ORDER, headers: { 'idempotency-key': 'fixed' } });
	models.enqueue([order('kettle')], [{ say: 'Ordered.' }]);
	await send(own);
	assert.deepEqual(keys(), ['fixed']);
	const reads = await shop({ method: 'GET' });
	models.enqueue([order('kettle')], [{ say: 'There.' }]);
	await send(reads);
	assert.deepEqual(keys(), [undefined]);
});

test('sends the key of an MCP call as metadata', async () => {
	const { assistant, deployment } = await createApiFixture(app);
	await using server = await mcpPeer({ order: { call: () => textResult('ordered') } });
	const sent: unknown[] = [];
	server.override = ({ method }, _response, message) => {
		if (method === 'tools/call') sent.push((message as { params?: { _meta?: object } }).params?._meta);
		return false;
	};
	const tool_id = await createResource(app, '/api/v1/tools', {
		name: 'shop',
		type: 'mcp',
		config: { url: server.url },
	});
	await app.call('POST', `/api/v1/assistants/${assistant}/tools`, { tool_id });
	models.enqueue([{ call: { id: 'a', name: 'shop_order', arguments: {} } }], [{ say: 'Ordered.' }]);
	const { body } = await send(deployment);
	assert.deepEqual([body.tool_calls[0].result, sent], ['ordered', [{ 'idempotency-key': `${body.id}-1` }]]);
});

test("writes a small multiple of the results of a reply's calls, however many there are", async () => {
	const { deployment } = await createApiFixture(app);
	await using store = await openStoreDirectly(app);
	const record = await store.get('deployments', deployment);
	assert.ok(record);
	let written = 0;
	const counting = new Proxy(store, {
		get(target, name) {
			if (name === 'commit') {
				return (commit: Commit) => {
					written += JSON.stringify(commit).length;
					return store.commit(commit);
				};
			}
			const value: unknown = Reflect.get(target, name);
			return typeof value === 'function' ? value.bind(target) : value;
		},
	});
	const give = { tool_id: 'tool_1', name: 'give', description: null, parameters: {} };
	const result = 'x'.repeat(10_000);
	const chat: ChatModel = {
		stream: streamFrom(async function* ({ rounds }) {
			if (rounds.length === 3) yield { type: 'delta', text: 'Done.' };
			else
				for (let at = 0; at < 15; at++)
					yield { type: 'tool_call', id: `${rounds.length}.${at}`, name: 'give', arguments: {} };
		}),
	};
	using outbox = new Outbox(store);
	await using conversations = new Conversations({
		store: counting,
		outbox,
		knowledge: { search: async () => ({ hits: [], confidence: 0 }) },
		tools: { functionsOf: async () => [{ ...give, call: async () => ({ result, is_error: false, error: null }) }] },
		models: createModels({ providers: [{ id: 'generous', models: null, chat }], defaultModel: 'generous/any' }),
		clock: systemClock,
		log: createLog('silent'),
		replyTimeoutMs: 10_000,
	});
	const assistant = await store.get('assistants', record.assistant_id);
	await store.commit({
		write: [
			{
				op: 'patch',
				kind: 'assistants',
				id: assistant?.id as string,
				set: { model: 'generous/any', tool_ids: ['tool_1'] },
			},
		],
	});
	const sent = await conversations.send({
		deployment: record,
		conversation_id: undefined,
		content: 'Give.',
		metadata: undefined,
		channel: 'api',
		end_user: null,
	});
	assert.ok('reply' in sent);
	const reply = await conversations.reply(sent, AbortSignal.timeout(120_000));
	assert.deepEqual([reply.status, reply.tool_calls.length], ['completed', 45], JSON.stringify(reply.error));
	const given = JSON.stringify(reply.tool_calls).length;
	assert.ok(written < 6 * given, `${written} characters for ${given}`);
});

test('a call is on disk before it is made', async () => {
	const deployment = await shop();
	const asked = deferred<string>();
	peer.respond = async (response) => {
		const { tool_calls } = await replyOf(deployment);
		asked.resolve(tool_calls.map(({ status }: { status: string }) => status).join());
		response.end('ordered');
	};
	models.enqueue([order('kettle')], [{ say: 'Ordered.' }]);
	const { body } = await send(deployment);
	assert.equal(await asked.promise, 'running');
	assert.equal(body.tool_calls[0].status, 'completed');
});

test('a reply makes a bounded number of calls, and refuses further calls to the model without storing them', async () => {
	const deployment = await shop();
	peer.respond = (response) => void response.end('ok');
	models.setDefault(({ body }) => {
		const rounds = body.messages.filter(({ role }: { role: string }) => role === 'assistant').length;
		if (rounds === 6) return [{ say: 'Done.' }];
		return Array.from({ length: 40 }, (_, at) => order('x'.repeat(2_000), `call ${rounds}.${at}`));
	});
	const { body } = await send(deployment);
	models.setDefault([{ say: 'Hello.' }]);
	assert.deepEqual([body.content, body.tool_calls.length, peer.requests.length], ['Done.', 64, 64]);
	const { messages } = models.calls[6]?.body ?? {};
	const results: string[] = messages
		.filter(({ role }: { role: string }) => role === 'tool')
		.map(({ content }: { content: string }) => content);
	assert.equal(results.length, 6 * 40, 'every call has its result');
	assert.equal(results.filter((result) => result === 'ok').length, 64);
	assert.match(results[16] ?? '', /^This call was not made: at most 16 at once\.$/);
	assert.match(results.at(-1) ?? '', /^This call was not made: this reply has made the maximum number of calls\.$/);
	assert.ok(JSON.stringify(messages).length < 64 * 2_200 + 6 * 40 * 400, 'refused arguments are not told again');
});

test('makes no more calls once results have reached the limit of a reply', async () => {
	const deployment = await shop({ method: 'GET' });
	peer.respond = (response) => void response.setHeader('content-type', 'text/plain').end('x'.repeat(32_000));
	models.setDefault(({ body }) => {
		const rounds = body.messages.filter(({ role }: { role: string }) => role === 'assistant').length;
		if (rounds === 4) return [{ say: 'Done.' }];
		return Array.from({ length: 10 }, (_, at) => order('x', `call ${rounds}.${at}`));
	});
	const { body } = await send(deployment);
	models.setDefault([{ say: 'Hello.' }]);
	assert.deepEqual([body.content, body.tool_calls.length, peer.requests.length], ['Done.', 20, 20]);
});
