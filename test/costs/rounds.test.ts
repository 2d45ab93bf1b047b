import assert from 'node:assert/strict';
import test, { after } from 'node:test';
import { deferred } from '../../src/base/index.ts';
import { createApiFixture, createResource } from '../api/fixture.ts';
import { startTestApp, type TestApp } from '../support/app.ts';
import { ModelServer, type ModelStep } from '../support/model-server.ts';
import { until } from '../support/until.ts';
import { apiPeer } from '../tools/api-peer.ts';

/** What a call of the model may cost at most: 8,000 tokens of context and 100 of the answer, a micro each. */
const RESERVED = 8_100;
/** What each call costs: 11 tokens and 7. */
const CALL = 18;

const models = await ModelServer.start();
const peer = await apiPeer();
const settings = {
	allow_private_network: true,
	providers: [
		models.provider({
			...{ id: 'local', context_tokens: 8_000, max_output_tokens: 100 },
			prices: new Map([['*', { input: 1_000_000, output: 1_000_000 }]]),
		}),
	],
	default_model: 'local/small',
};
let app: TestApp = await startTestApp({ settings });
after(async () => {
	await app[Symbol.asyncDispose]();
	await models[Symbol.asyncDispose]();
	await peer[Symbol.asyncDispose]();
});

/** A deployment with a budget, whose assistant can order. */
async function shop(budget: object | null): Promise<string> {
	const { assistant, deployment } = await createApiFixture(app, { deployment: { budget } });
	const config = {
		...{ url: `${peer.origin}/orders`, method: 'POST', body: { item: '{item}' } },
		parameters: { type: 'object', properties: { item: { type: 'string' } } },
	};
	const tool_id = await createResource(app, '/api/v1/tools', { name: 'order', type: 'api', config });
	await app.call('POST', `/api/v1/assistants/${assistant}/tools`, { tool_id });
	peer.requests.length = 0;
	models.calls.length = 0;
	return deployment;
}

const budgetOf = (amount_micros: number, more: object = {}) => ({ amount_micros, period: 'day', ...more });
const order = (n: number): ModelStep => ({ call: { id: `call ${n}`, name: 'order', arguments: { item: `cup ${n}` } } });
const rounds = (count: number) => Array.from({ length: count }, (_, n) => [order(n)]);
const send = (deployment_id: string, headers: Record<string, string> = {}) =>
	app.call('POST', '/api/v1/messages', { deployment_id, content: 'Cups, please.' }, headers);
const totalOf = async (deployment: string) => {
	const { total } = (await app.call('GET', `/api/v1/costs?deployment_id=${deployment}`)).body;
	return [total.cost_micros, total.reserved_micros];
};
const replyOf = async (deployment: string) => {
	const { body } = await app.call('GET', `/api/v1/conversations?deployment_id=${deployment}`);
	return (await app.call('GET', `/api/v1/conversations/${body.data[0].id}/messages`)).body.data[1];
};
const eventsOf = async (deployment: string) => {
	const { data } = (await app.call('GET', '/api/v1/events?types=budget.reached&limit=100')).body;
	return data.filter((event: { data: { deployment_id: string } }) => event.data.deployment_id === deployment);
};

test('a reply with eight rounds under a budget that is just large enough is answered, and settled once', async () => {
	const deployment = await shop(budgetOf(RESERVED + 8 * CALL));
	models.enqueue(...rounds(8), [{ say: 'All are ordered.' }]);
	const { status, body } = await send(deployment);
	assert.deepEqual([status, body.content, body.tool_calls.length], [201, 'All are ordered.', 8]);
	assert.equal(body.cost_micros, 9 * CALL);
	assert.deepEqual(await totalOf(deployment), [9 * CALL, 0]);
});

test('a reply ends before the round that a budget does not allow, and a repeat continues from its rounds', async () => {
	const deployment = await shop(budgetOf(RESERVED + 8 * CALL - 1));
	models.enqueue(...rounds(8));
	const headers = { 'idempotency-key': `cups of ${deployment}` };
	const { status, body } = await send(deployment, headers);
	assert.deepEqual([status, body.error.code], [403, 'usage_limit_reached']);
	assert.match(body.error.message, /^The budget of the deployment has not enough left/);
	assert.deepEqual([models.calls.length, peer.requests.length], [8, 7]);
	const reply = await replyOf(deployment);
	assert.deepEqual([reply.status, reply.error.code, reply.tool_calls.length], ['failed', 'usage_limit_reached', 7]);
	assert.equal(reply.cost_micros, 8 * CALL);
	assert.deepEqual(await totalOf(deployment), [8 * CALL, 0]);
	await until('the webhooks have the event', async () => (await eventsOf(deployment)).length === 1);

	await app.call('PATCH', `/api/v1/deployments/${deployment}`, { budget: null });
	models.enqueue([order(7)], [{ say: 'All are ordered.' }]);
	const repeated = await send(deployment, headers);
	assert.deepEqual([repeated.status, repeated.body.content], [201, 'All are ordered.']);
	assert.deepEqual([repeated.body.tool_calls.length, peer.requests.length], [8, 8]);
	// The call that asked for the refused round was made again.
	assert.deepEqual(await totalOf(deployment), [10 * CALL, 0]);
});

test('a visitor gets a sentence that does not speak of money', async () => {
	const deployment = await shop(budgetOf(RESERVED));
	const body = { deployment_id: deployment, content: 'A cup, please.' };
	const general = 'The assistant cannot answer at present. Try again later.';
	models.enqueue([order(1)]);
	const { status, body: refused } = await app.callAsVisitor('POST', '/api/v1/widget/messages', body);
	assert.deepEqual([status, refused.error.message], [403, general]);
	const { id } = (await app.call('GET', `/api/v1/conversations?deployment_id=${deployment}`)).body.data[0];
	const path = `/api/v1/widget/conversations/${id}/messages?deployment_id=${deployment}`;
	const [, reply] = (await app.callAsVisitor('GET', path)).body.data;
	assert.deepEqual(reply.error, { code: 'usage_limit_reached', message: general });
});

test('of two replies at once, only one has what another round needs', async () => {
	const deployment = await shop(budgetOf(2 * RESERVED + CALL));
	const bothAsked = deferred<void>();
	models.enqueue([{ wait: bothAsked.promise }, order(1)], [{ wait: bothAsked.promise }, order(1)]);
	const sent = [send(deployment), send(deployment)];
	await models.call(1);
	assert.deepEqual(await totalOf(deployment), [0, 2 * RESERVED]);
	models.enqueue([{ say: 'It is ordered.' }]);
	bothAsked.resolve();
	const responses = await Promise.all(sent);
	assert.deepEqual(responses.map(({ status }) => status).toSorted(), [201, 403]);
	assert.deepEqual([models.calls.length, peer.requests.length], [3, 1]);
	assert.deepEqual(await totalOf(deployment), [3 * CALL, 0]);
});

test('a reply that a crash interrupts between two rounds keeps its reservation, and is settled once', async () => {
	const deployment = await shop(budgetOf(10 * RESERVED));
	models.enqueue([order(1)], [{ say: 'It' }, { hang: true }]);
	const lost = send(deployment).catch(() => null);
	await models.call(1);
	assert.deepEqual(await totalOf(deployment), [0, RESERVED + CALL]);
	models.enqueue([order(2)], [{ hang: true }]);
	app = await app.restart();
	await lost;
	await models.call(3);
	// The call that was cut off may have cost as much as was reserved for it.
	assert.deepEqual(await totalOf(deployment), [0, 2 * CALL + 2 * RESERVED]);
	const { id } = (await app.call('GET', `/api/v1/conversations?deployment_id=${deployment}`)).body.data[0];
	await app.call('POST', `/api/v1/conversations/${id}/stop`);
	// The call that was stopped costs by its prompt and its text.
	const { cost_micros } = await replyOf(deployment);
	assert.ok(cost_micros > 2 * CALL + RESERVED && cost_micros < 2 * CALL + 1.5 * RESERVED, cost_micros);
	assert.deepEqual(await totalOf(deployment), [cost_micros, 0]);
	assert.equal(peer.requests.length, 2);
});

test('a reply whose last call was cut off costs what is known and what that call may have cost', async () => {
	const deployment = await shop(budgetOf(10 * RESERVED));
	models.enqueue([order(1)], [{ say: 'It' }, { hang: true }]);
	const lost = send(deployment).catch(() => null);
	await models.call(1);
	models.enqueue([order(2)], [{ say: 'Both are ordered.' }]);
	app = await app.restart();
	await lost;
	await until('the reply is written', async () => (await replyOf(deployment)).status === 'completed');
	assert.deepEqual(await totalOf(deployment), [3 * CALL + RESERVED, 0]);
});

test('rounds of a reply without a budget reserve nothing', async () => {
	const deployment = await shop(null);
	const isRead = deferred<void>();
	models.enqueue(...rounds(2), [{ wait: isRead.promise }, { say: 'Ordered.' }]);
	const sent = send(deployment);
	await models.call(2);
	assert.deepEqual(await totalOf(deployment), [0, 0]);
	isRead.resolve();
	assert.equal((await sent).body.cost_micros, 3 * CALL);
	assert.deepEqual(await totalOf(deployment), [3 * CALL, 0]);
});
