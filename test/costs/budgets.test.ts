import assert from 'node:assert/strict';
import test, { after } from 'node:test';
import { createLog, systemClock } from '../../src/base/index.ts';
import { Budgets } from '../../src/costs/index.ts';
import { signWithSecret } from '../access/signers.ts';
import { openStoreDirectly } from '../api/direct-store.ts';
import { createApiFixture } from '../api/fixture.ts';
import { ManualModel } from '../conversations/manual-model.ts';
import { withOverrides } from '../store/overrides.ts';
import { startTestApp } from '../support/app.ts';
import { manualWallClock } from '../support/manual-clock.ts';
import { until } from '../support/until.ts';

const DAY = 86_400_000;
const RESERVED = 500;
const MESSAGES = '/api/v1/messages';
/** The store compares the expiry of a receipt with the time of the system. */
const clock = manualWallClock(Math.floor(Date.now() / DAY) * DAY + DAY / 2);
/** A micro for an input token, two for an output token. */
const model = new ManualModel({ price: { input: 1_000_000, output: 2_000_000, reserved_micros: RESERVED } });
const unpriced = new ManualModel({ autoReply: () => ['Yes.'] });
const options = { overrides: { clock, providers: [model.provider, { ...unpriced.provider, id: 'unpriced' }] } };
let app = await startTestApp(options);
after(() => app[Symbol.asyncDispose]());

type Body = Record<string, unknown>;
const budgetOf = (amount_micros: number, more: Body = {}) => ({ amount_micros, period: 'day', ...more });
const newDeployment = async (deployment: Body) =>
	(await createApiFixture(app, { model: 'scripted/any', texts: [], deployment })).deployment;
const post = (deployment_id: string, body: Body = {}, headers: Record<string, string> = {}) =>
	app.call('POST', MESSAGES, { deployment_id, content: 'Hello', ...body }, headers);
const totalOf = async (deployment: string) => {
	const { total } = (await app.call('GET', `/api/v1/costs?deployment_id=${deployment}`)).body;
	return [total.cost_micros, total.reserved_micros];
};
/** Answers the n-th request of the model with these tokens. */
async function answer(index: number, input = 100, output = 10) {
	const { say, report, end } = await model.reply(index);
	say('Yes.');
	report(input, output);
	end();
}
async function exchange(deployment: string, input = 100, output = 10, body: Body = {}) {
	const asked = model.replies.length;
	const response = post(deployment, body);
	await answer(asked, input, output);
	return response;
}
const eventsOf = async (deployment: string) => {
	const { data } = (await app.call('GET', '/api/v1/events?types=budget.warning,budget.reached&limit=100')).body;
	return data.filter(({ data: { deployment_id } }: { data: Body }) => deployment_id === deployment);
};
const typesOf = async (deployment: string) => (await eventsOf(deployment)).map(({ type }: { type: string }) => type);

test('of 50 messages at once under a budget for three, exactly three are answered', async () => {
	const deployment = await newDeployment({ budget: budgetOf(3 * RESERVED + 499) });
	const asked = model.replies.length;
	const sent = Array.from({ length: 50 }, () => post(deployment));
	const statuses: number[] = [];
	for (const each of sent) void each.then(({ status }) => statuses.push(status));
	await until('the others are refused', () => statuses.length === 47);
	await model.reply(asked + 2);
	assert.equal(model.replies.length, asked + 3);
	assert.deepEqual(await totalOf(deployment), [0, 3 * RESERVED]);
	for (const n of [0, 1, 2]) await answer(asked + n);
	const refused = (await Promise.all(sent)).filter(({ status }) => status !== 201);
	assert.deepEqual(
		new Set(refused.map(({ status, body }) => `${status} ${body.error.code}`)),
		new Set(['403 usage_limit_reached']),
	);
	assert.match(refused[0]?.body.error.message, /The budget of the deployment has not enough left/);
	assert.equal(refused.length, 47);
	assert.deepEqual(await totalOf(deployment), [360, 0]);
	assert.equal((await exchange(deployment)).status, 201, 'what was not used is free again');
});

test('a budget that falls back lets the built-in model answer', async () => {
	const deployment = await newDeployment({ budget: budgetOf(RESERVED - 1, { at_limit: 'fallback' }) });
	const asked = model.replies.length;
	const { status, body } = await post(deployment);
	assert.deepEqual([status, body.model, body.cost_micros], [201, 'builtin/extractive', 0]);
	assert.equal(model.replies.length, asked);
	assert.deepEqual(await totalOf(deployment), [0, 0]);
});

test('a budget with refuse has precedence over one with fallback', async () => {
	const deployment = await newDeployment({
		budget: budgetOf(0, { at_limit: 'fallback' }),
		visitor_budget: budgetOf(0),
	});
	const body = { deployment_id: deployment, content: 'Hello' };
	assert.equal((await app.callAsVisitor('POST', '/api/v1/widget/messages', body)).status, 403);
	assert.equal((await post(deployment)).status, 201);
});

test('the budget of a visitor limits visitors, with a sentence that does not speak of money', async () => {
	const deployment = await newDeployment({ visitor_budget: budgetOf(RESERVED) });
	const asked = model.replies.length;
	const body = { deployment_id: deployment, content: 'Hello' };
	const first = app.callAsVisitor('POST', '/api/v1/widget/messages', body);
	await answer(asked);
	assert.equal((await first).status, 201);
	for (const stream of [true, false]) {
		const { status, body: refused } = await app.callAsVisitor('POST', '/api/v1/widget/messages', { ...body, stream });
		assert.deepEqual([status, refused.error.code], [403, 'usage_limit_reached']);
		assert.equal(refused.error.message, 'The assistant cannot answer at present. Try again later.');
	}
	assert.equal((await exchange(deployment)).status, 201, 'clients of the API are no visitors');
});

test('a model without a price and the built-in model are not limited', async () => {
	for (const name of ['unpriced/any', 'builtin/extractive']) {
		const { deployment } = await createApiFixture(app, { model: name, deployment: { budget: budgetOf(0) } });
		assert.equal((await post(deployment)).status, 201);
	}
});

test('a reply whose usage is not known costs what was reserved: stopped, taken over or erased', async () => {
	for (const end of ['stop', 'takeover', 'erase'] as const) {
		const deployment = await newDeployment({ budget: budgetOf(10 * RESERVED) });
		const asked = model.replies.length;
		const sent = post(deployment, { stream: false });
		(await model.reply(asked)).say('On');
		const { id } = (await app.call('GET', `/api/v1/conversations?deployment_id=${deployment}`)).body.data[0];
		if (end === 'erase') await app.call('DELETE', `/api/v1/conversations/${id}?purge=true`);
		else await app.call('POST', `/api/v1/conversations/${id}/${end}`);
		await sent;
		assert.deepEqual(await totalOf(deployment), [RESERVED, 0], end);
		if (end !== 'erase')
			assert.equal((await app.call('GET', `/api/v1/conversations/${id}`)).body.cost_micros, RESERVED);
	}
});

test('a failed reply that is written again reserves again, and is settled once for each attempt', async () => {
	const deployment = await newDeployment({ budget: budgetOf(2 * RESERVED) });
	const key = { 'idempotency-key': 'again' };
	const asked = model.replies.length;
	const failed = post(deployment, {}, key);
	(await model.reply(asked)).fail(new Error('It refused.'));
	assert.equal((await failed).status, 500);
	assert.deepEqual(await totalOf(deployment), [0, 0]);
	const repeated = post(deployment, {}, key);
	await model.reply(asked + 1);
	assert.deepEqual(await totalOf(deployment), [0, RESERVED]);
	await answer(asked + 1);
	assert.equal((await repeated).body.cost_micros, 120);
	assert.deepEqual(await totalOf(deployment), [120, 0]);
});

test('a repeat of a refused message is tried again', async () => {
	const deployment = await newDeployment({ budget: budgetOf(0) });
	const key = { 'idempotency-key': 'refused before' };
	assert.equal((await post(deployment, {}, key)).status, 403);
	await app.call('PATCH', `/api/v1/deployments/${deployment}`, { budget: { amount_micros: RESERVED } });
	const asked = model.replies.length;
	const repeated = post(deployment, {}, key);
	await answer(asked);
	assert.equal((await repeated).status, 201);
});

test('a reservation survives the end of the process, and grows by another call when the reply is written again', async () => {
	const deployment = await newDeployment({ budget: budgetOf(2 * RESERVED) });
	const asked = model.replies.length;
	const lost = post(deployment).catch(() => null);
	await model.reply(asked);
	app = await app.restart();
	await lost;
	await model.reply(asked + 1);
	assert.deepEqual(await totalOf(deployment), [0, 2 * RESERVED]);
	await answer(asked + 1, 10, 1);
	// What the call before the end of the process has cost is not known.
	await until('it is settled', async () => (await totalOf(deployment))[1] === 0);
	assert.deepEqual(await totalOf(deployment), [RESERVED + 12, 0]);
});

test('a reply is not written again after the end of the process where a budget does not allow another call', async () => {
	const deployment = await newDeployment({ budget: budgetOf(2 * RESERVED - 1) });
	const asked = model.replies.length;
	const lost = post(deployment).catch(() => null);
	await model.reply(asked);
	app = await app.restart();
	await lost;
	await until('it is settled', async () => (await totalOf(deployment))[1] === 0);
	assert.deepEqual(await totalOf(deployment), [RESERVED, 0]);
	assert.equal(model.replies.length, asked + 1);
	const { data } = (await app.call('GET', `/api/v1/conversations?deployment_id=${deployment}`)).body;
	const messages = (await app.call('GET', `/api/v1/conversations/${data[0].id}/messages`)).body.data;
	const reply = messages.find(({ role }: Body) => role === 'assistant');
	assert.deepEqual([reply.status, reply.error.code], ['failed', 'usage_limit_reached']);
});

test('a daily budget is whole again at midnight UTC, and used again when the clock is set back', async () => {
	const deployment = await newDeployment({ budget: budgetOf(RESERVED) });
	await exchange(deployment);
	assert.equal((await post(deployment)).status, 403);
	clock.advance(DAY / 2 - 1);
	assert.equal((await post(deployment)).status, 403);
	clock.advance(1);
	const asked = model.replies.length;
	const sent = post(deployment);
	await model.reply(asked);
	clock.advance(-DAY / 2);
	assert.equal((await post(deployment)).status, 403);
	await answer(asked);
	assert.equal((await sent).status, 201);
	const to = new Date(clock.now() + DAY).toISOString();
	const { data } = (await app.call('GET', `/api/v1/costs?deployment_id=${deployment}&to=${to}`)).body;
	assert.deepEqual(
		data.map(({ cost_micros, reserved_micros }: Body) => [cost_micros, reserved_micros]),
		[
			[120, 0],
			[120, 0],
		],
	);
});

test('webhooks get one event at 80 percent and one when the budget is reached', async () => {
	const deployment = await newDeployment({ budget: budgetOf(1_000) });
	await exchange(deployment, 400, 0);
	await exchange(deployment, 50, 0);
	assert.deepEqual(await typesOf(deployment), []);
	await exchange(deployment, 350, 0);
	await until('the warning is there', async () => (await typesOf(deployment)).length === 1);
	const [{ data }] = await eventsOf(deployment);
	const { period_start, ...rest } = data;
	assert.deepEqual(rest, {
		scope: 'deployment',
		deployment_id: deployment,
		visitor_id: null,
		period: 'day',
		amount_micros: 1_000,
		cost_micros: 800,
		reserved_micros: 0,
		currency: 'USD',
		at_limit: 'refuse',
	});
	assert.equal(period_start, new Date(Math.floor(clock.now() / DAY) * DAY).toISOString());
	for (let n = 0; n < 3; n++) assert.equal((await post(deployment)).status, 403);
	await until('the end is there', async () => (await typesOf(deployment)).length === 2);
	assert.deepEqual(await typesOf(deployment), ['budget.warning', 'budget.reached']);
});

test('a refusal that is due to running replies is not reported as the end of the budget', async () => {
	const deployment = await newDeployment({ budget: budgetOf(2 * RESERVED + 499) });
	const asked = model.replies.length;
	const running = [post(deployment), post(deployment)];
	await model.reply(asked + 1);
	assert.equal((await post(deployment)).status, 403);
	await answer(asked, 900, 0);
	await answer(asked + 1, 300, 0);
	for (const each of running) assert.equal((await each).status, 201);
	await until('the warning is there', async () => (await typesOf(deployment)).length > 0);
	assert.deepEqual(await typesOf(deployment), ['budget.warning']);
});

test('webhooks learn of the use of a budget on the day on which the reply began', async () => {
	const deployment = await newDeployment({ budget: budgetOf(1_000) });
	const day = Math.floor(clock.now() / DAY) * DAY;
	const asked = model.replies.length;
	const sent = post(deployment);
	await model.reply(asked);
	clock.advance(DAY);
	await answer(asked, 800, 0);
	assert.equal((await sent).status, 201);
	await until('the warning is there', async () => (await typesOf(deployment)).length === 1);
	const [{ type, data }] = await eventsOf(deployment);
	assert.deepEqual([type, data.period_start, data.cost_micros], ['budget.warning', new Date(day).toISOString(), 800]);
	clock.advance(-DAY);
});

test('a notice that could not be stored is made up for, and two at once make one', async () => {
	const deployment = await newDeployment({ budget: budgetOf(1_000) });
	await using store = await openStoreDirectly(app);
	const record = await store.get('deployments', deployment);
	assert.ok(record);
	const spender = {
		workspace_id: record.workspace_id,
		deployment_id: deployment,
		visitor_id: null,
		model: 'scripted/any',
	};
	const day = Math.floor(clock.now() / DAY) * DAY;
	await store.commit({
		write: [{ op: 'spending.settle', message_id: 'msg', cost: 900, unreserved: { spender, day } }],
	});
	const failing = withOverrides(store, { commit: async () => Promise.reject(new Error('The disk is full.')) });
	const parts = { clock: { ...systemClock, now: () => clock.now() }, log: createLog('silent'), currency: 'USD' };
	await new Budgets({ ...parts, store: failing }).report(spender, clock.now());
	assert.deepEqual(await typesOf(deployment), []);
	const budgets = new Budgets({ ...parts, store });
	await Promise.all([
		budgets.report(spender, clock.now()),
		budgets.report(spender, clock.now()),
		budgets.report(spender, clock.now()),
	]);
	assert.deepEqual(await typesOf(deployment), ['budget.warning']);
});

test('the erasure of an end user reaches the events about the budget', async () => {
	const secret = 'a secret of the shop, long enough';
	const deployment = await newDeployment({
		visitor_budget: budgetOf(RESERVED),
		features: { jwt_required: true },
		jwt: { algorithm: 'HS256', secret },
	});
	const send = (sub: string) => {
		const token = signWithSecret(secret, { sub, exp: Math.floor(clock.now() / 1_000) + 3_600 });
		const body = { deployment_id: deployment, content: 'Hello' };
		return app.callAsVisitor('POST', '/api/v1/widget/messages', body, { authorization: `Bearer ${token}` });
	};
	for (const sub of ['erased', 'kept']) {
		const asked = model.replies.length;
		const first = send(sub);
		await answer(asked, RESERVED, 0);
		assert.equal((await first).status, 201);
		assert.equal((await send(sub)).status, 403);
	}
	await until('both have reached it', async () => (await typesOf(deployment)).length === 2);
	const visitorsIn = async () => (await eventsOf(deployment)).map(({ data }: { data: Body }) => data.visitor_id);
	const visitors = await visitorsIn();
	const headers = { authorization: `Bearer ${app.key}` };
	const exported = await fetch(`${app.url}/api/v1/end-users/export?end_user_id=erased`, { headers });
	const lines = (await exported.text()).trimEnd().split('\n');
	const told = lines.map((line) => JSON.parse(line)).filter(({ resource }) => resource.type === 'budget.reached');
	assert.equal(told.length, 1);
	const { visitor_id } = told[0].resource.data;
	const { id } = (await app.call('POST', '/api/v1/erasures', { end_user_id: 'erased' })).body;
	await until('it is erased', async () => (await app.call('GET', `/api/v1/erasures/${id}`)).body.status === 'done');
	assert.deepEqual(
		await visitorsIn(),
		visitors.filter((other: string) => other !== visitor_id),
	);
	assert.ok(visitors.includes(visitor_id));
	assert.equal((await visitorsIn()).length, 1);
});

test('the removal of a conversation does not renew the budget of its visitor, and an erasure reaches what stays', async () => {
	const secret = 'a secret of the shop, long enough';
	const deployment = await newDeployment({
		visitor_budget: budgetOf(RESERVED),
		features: { jwt_required: true },
		jwt: { algorithm: 'HS256', secret },
	});
	const send = () => {
		const token = signWithSecret(secret, { sub: 'anna', exp: Math.floor(clock.now() / 1_000) + 3_600 });
		const body = { deployment_id: deployment, content: 'Hello' };
		return app.callAsVisitor('POST', '/api/v1/widget/messages', body, { authorization: `Bearer ${token}` });
	};
	const visitorSums = async () =>
		(await app.call('GET', `/api/v1/costs?group_by=visitor&deployment_id=${deployment}`)).body.data.length;
	const asked = model.replies.length;
	const sent = send();
	await answer(asked, RESERVED, 0);
	const { conversation_id } = (await sent).body;
	await until('it has reached the budget', async () => (await typesOf(deployment)).length === 1);
	await app.call('DELETE', `/api/v1/conversations/${conversation_id}?purge=true`);
	assert.equal((await send()).status, 403);
	assert.deepEqual([await visitorSums(), (await eventsOf(deployment)).length], [1, 1]);
	const { id } = (await app.call('POST', '/api/v1/erasures', { end_user_id: 'anna' })).body;
	await until('it is erased', async () => (await app.call('GET', `/api/v1/erasures/${id}`)).body.status === 'done');
	assert.deepEqual([await visitorSums(), (await eventsOf(deployment)).length], [0, 0]);
	assert.equal((await app.call('GET', `/api/v1/erasures/${id}`)).body.counts.events, 1);
});

test('a suggested reply reserves and costs, and is refused without a budget for it', async () => {
	const deployment = await newDeployment({ budget: budgetOf(2 * RESERVED - 1) });
	const { conversation_id } = (await exchange(deployment)).body;
	const suggest = () => app.call('POST', `/api/v1/conversations/${conversation_id}/suggest-reply`);
	const asked = model.replies.length;
	const first = suggest();
	await model.reply(asked);
	assert.deepEqual(await totalOf(deployment), [120, RESERVED]);
	assert.equal((await suggest()).body.error.code, 'usage_limit_reached');
	await answer(asked, 30, 5);
	assert.deepEqual([(await first).status, (await first).body.cost_micros], [200, 40]);
	assert.deepEqual(await totalOf(deployment), [160, 0]);
});

test('a budget of the workspace limits all its deployments', async () => {
	const [one, two] = [await newDeployment({}), await newDeployment({})];
	const set = await app.call('PATCH', '/api/v1/workspace', { budget: { amount_micros: 0, period: 'month' } });
	assert.deepEqual(set.body.budget, { amount_micros: 0, period: 'month', at_limit: 'refuse' });
	for (const deployment of [one, two]) assert.equal((await post(deployment)).status, 403);
	await app.call('PATCH', '/api/v1/workspace', { budget: null });
	assert.equal((await exchange(one)).status, 201);
});

test('a change of a budget keeps its other members, and a new one needs an amount', async () => {
	const deployment = await newDeployment({ budget: { amount_micros: 7 } });
	const path = `/api/v1/deployments/${deployment}`;
	const budgets = async (patch: Body) => {
		const { status, body } = await app.call('PATCH', path, patch);
		return status === 200 ? [body.budget, body.visitor_budget] : body.error.details;
	};
	const monthly = { amount_micros: 7, period: 'month', at_limit: 'refuse' };
	assert.deepEqual(await budgets({ budget: { at_limit: 'fallback' } }), [{ ...monthly, at_limit: 'fallback' }, null]);
	assert.deepEqual(await budgets({ visitor_budget: { period: 'day' } }), [
		{ path: '/visitor_budget', message: 'must have amount_micros' },
	]);
	assert.deepEqual(await budgets({ budget: null, visitor_budget: { amount_micros: 1 } }), [
		null,
		{ ...monthly, amount_micros: 1 },
	]);
});
