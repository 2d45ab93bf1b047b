import assert from 'node:assert/strict';
import test, { after } from 'node:test';
import { createApiFixture } from '../api/fixture.ts';
import { ManualModel } from '../conversations/manual-model.ts';
import { startTestApp } from '../support/app.ts';
import { manualWallClock } from '../support/manual-clock.ts';
import { until } from '../support/until.ts';

const DAY = 86_400_000;
/** The store compares the expiry of a receipt with the time of the system. */
const TODAY = Math.floor(Date.now() / DAY) * DAY;
const NOON = TODAY + DAY / 2;
const MESSAGES = '/api/v1/messages';
const clock = manualWallClock(NOON);
/** A micro for an input token, two for an output token. */
const model = new ManualModel({ price: { input: 1_000_000, output: 2_000_000, reserved_micros: 500 } });
const unpriced = new ManualModel({ autoReply: () => ['Yes.'] });
const providers = [model.provider, { ...unpriced.provider, id: 'unpriced' }];
const app = await startTestApp({ overrides: { clock, providers } });
after(() => app[Symbol.asyncDispose]());

const newFixture = () => createApiFixture(app, { model: 'scripted/any' });
const { deployment } = await newFixture();

type Body = Record<string, unknown>;
const send = (body: Body, headers: Record<string, string> = {}) => {
	const asked = model.replies.length;
	const response = app.call('POST', MESSAGES, { deployment_id: deployment, content: 'Hello', ...body }, headers);
	return { response, reply: model.reply(asked) };
};
/** Sends a message whose reply uses these tokens. */
async function exchange(body: Body, input: number, output: number) {
	const { response, reply } = send(body);
	const { say, report, end } = await reply;
	say('Yes.');
	report(input, output);
	end();
	return (await response).body;
}
const conversationOf = async (id: string) => (await app.call('GET', `/api/v1/conversations/${id}`)).body;
const costs = async (query: string) => (await app.call('GET', `/api/v1/costs?${query}`)).body;
const costOf = async (id: string) => (await costs(`deployment_id=${id}`)).total.cost_micros;

test('a reply has its cost, its conversation the sum, and the question none', async () => {
	const first = await exchange({}, 100, 10);
	assert.deepEqual([first.cost_micros, first.user_message.cost_micros], [120, null]);
	const { conversation_id } = first;
	await exchange({ conversation_id }, 5, 1);
	const { cost_micros, visitor_id } = await conversationOf(conversation_id);
	assert.deepEqual([cost_micros, visitor_id], [127, null]);
	const { data } = (await app.call('GET', '/api/v1/events?types=message.created&limit=100')).body;
	const ended = data.filter(
		({ data: { role, conversation_id: id } }: never) => role === 'assistant' && id === conversation_id,
	);
	assert.deepEqual(
		ended.map(({ data: { cost_micros: cost } }: never) => cost),
		[120, 7],
	);
});

test('the built-in model costs nothing, and the cost of a model without a price is not known', async () => {
	const costWith = async (name: string | undefined) => {
		const fixture = await createApiFixture(app, name === undefined ? {} : { model: name });
		const { body } = await app.call('POST', MESSAGES, { deployment_id: fixture.deployment, content: 'Hello' });
		const { cost_micros } = await conversationOf(body.conversation_id);
		assert.equal((await costs(`deployment_id=${fixture.deployment}`)).data.length, 0);
		return [body.cost_micros, cost_micros];
	};
	assert.deepEqual(await costWith(undefined), [0, 0]);
	assert.deepEqual(await costWith('unpriced/any'), [null, null]);
});

test('visitors see no cost', async () => {
	const asked = model.replies.length;
	const sent = app.callAsVisitor('POST', '/api/v1/widget/messages', { deployment_id: deployment, content: 'Hi' });
	const { say, report, end } = await model.reply(asked);
	say('Yes.');
	report(10, 1);
	end();
	const { body } = await sent;
	const path = `/api/v1/widget/conversations/${body.conversation_id}/messages?deployment_id=${deployment}`;
	const history = await app.callAsVisitor('GET', path);
	assert.equal(history.body.data.length, 2);
	assert.doesNotMatch(JSON.stringify([body, history.body]), /cost|visitor_id|micros/);
	const { cost_micros, visitor_id } = await conversationOf(body.conversation_id);
	assert.equal(cost_micros, 12);
	assert.match(visitor_id, new RegExp(`^${deployment}:[\\w-]{22}$`));
	const { data } = await costs(`group_by=visitor&deployment_id=${deployment}`);
	const { deployment_id, cost_micros: spent } = data.find(
		(sum: { visitor_id: string }) => sum.visitor_id === visitor_id,
	);
	assert.deepEqual([deployment_id, spent], [deployment, 12]);
});

test('a reply that is stopped before its usage is known has no known cost, and the next one has', async () => {
	const { deployment: own } = await newFixture();
	const { response, reply } = send({ deployment_id: own, content: 'Wait' });
	(await reply).say('On');
	let id = '';
	// The model is asked while the question is written.
	await until('the conversation is listed', async () => {
		id = (await app.call('GET', `/api/v1/conversations?deployment_id=${own}`)).body.data[0]?.id ?? '';
		return id !== '';
	});
	await app.call('POST', `/api/v1/conversations/${id}/stop`);
	assert.equal((await response).body.cost_micros, null);
	assert.equal((await exchange({ deployment_id: own, conversation_id: id }, 3, 1)).cost_micros, 5);
	assert.deepEqual([(await conversationOf(id)).cost_micros, await costOf(own)], [5, 5]);
});

test('a request that a provider refuses costs nothing, and an answer that breaks off after its usage costs that', async () => {
	const { deployment: own } = await newFixture();
	const refused = send({ deployment_id: own });
	(await refused.reply).fail(new Error('It refused.'));
	assert.equal((await refused.response).status, 500);
	const broken = send({ deployment_id: own });
	const { say, report, fail } = await broken.reply;
	say('Ye');
	report(40, 1);
	fail(new Error('It broke off.'));
	await broken.response;
	const { data } = (await app.call('GET', `/api/v1/conversations?deployment_id=${own}`)).body;
	assert.deepEqual(data.map(({ cost_micros }: { cost_micros: number }) => cost_micros).sort(), [0, 42]);
	assert.equal(await costOf(own), 42);
});

test('a failed reply that is written again costs both attempts, each once', async () => {
	const { deployment: own } = await newFixture();
	const key = { 'idempotency-key': 'again' };
	const failed = send({ deployment_id: own }, key);
	const { say, report, fail } = await failed.reply;
	say('Ye');
	report(40, 1);
	fail(new Error('It broke off.'));
	assert.equal((await failed.response).status, 500);
	const repeated = send({ deployment_id: own }, key);
	const second = await repeated.reply;
	second.say('Yes.');
	second.report(50, 2);
	second.end();
	const { body } = await repeated.response;
	assert.deepEqual([body.cost_micros, body.usage.input_tokens], [96, 50]);
	assert.deepEqual([(await conversationOf(body.conversation_id)).cost_micros, await costOf(own)], [96, 96]);
});

test('lists costs by day, deployment and model, in pages', async () => {
	const [one, two] = [await newFixture(), await newFixture()];
	await exchange({ deployment_id: one.deployment }, 1_000_000, 0);
	await exchange({ deployment_id: two.deployment }, 2_000_000, 0);
	clock.advance(DAY);
	await exchange({ deployment_id: two.deployment }, 7, 0);
	clock.advance(-DAY);
	const at = (ms: number) => new Date(TODAY + ms).toISOString();
	const range = `from=${at(DAY - 1)}&to=${at(DAY + 1)}`;
	const days = await costs(`${range}&deployment_id=${two.deployment}`);
	assert.deepEqual([days.from, days.to, days.currency], [at(0), at(2 * DAY), 'USD']);
	assert.deepEqual(days.total, { cost_micros: 2_000_007, reserved_micros: 0 });
	assert.deepEqual(
		days.data.map(({ day, cost_micros }: Body) => [day, cost_micros]),
		[
			[at(DAY), 7],
			[at(0), 2_000_000],
		],
	);
	const page = await costs(`${range}&group_by=deployment&limit=1`);
	assert.deepEqual([page.data[0].deployment_id, page.data[0].cost_micros], [two.deployment, 2_000_007]);
	const next = await costs(`${range}&group_by=deployment&limit=1&cursor=${page.next_cursor}`);
	assert.deepEqual([next.data[0].deployment_id, next.data[0].cost_micros], [one.deployment, 1_000_000]);
	const models = await costs(`${range}&group_by=model&deployment_id=${one.deployment}`);
	assert.deepEqual(
		models.data.map(({ model: name, cost_micros }: Body) => [name, cost_micros]),
		[['scripted/any', 1_000_000]],
	);
	const dayPage = await costs(`${range}&limit=1&deployment_id=${two.deployment}`);
	const dayNext = await costs(`${range}&limit=1&deployment_id=${two.deployment}&cursor=${dayPage.next_cursor}`);
	assert.deepEqual([dayNext.data[0].cost_micros, dayNext.next_cursor], [2_000_000, null]);
});

test('refuses ranges that are empty, too long or too late, and shows nothing of another workspace', async () => {
	assert.equal((await app.call('GET', '/api/v1/costs?from=2026-11-20T00:00:00Z&to=2026-11-19T00:00:00Z')).status, 400);
	assert.equal((await app.call('GET', '/api/v1/costs?from=2020-11-20T00:00:00Z')).status, 400);
	// The end would be in the year 10000.
	const last = await app.call('GET', '/api/v1/costs?from=9999-12-30T00:00:00Z&to=9999-12-31T12:00:00Z');
	assert.deepEqual([last.status, last.body.error.details[0].path], [400, '/to']);
	assert.equal((await app.call('GET', '/api/v1/costs?to=0000-01-05T00:00:00Z')).status, 400);
	assert.equal((await costs('from=9999-12-29T00:00:00Z&to=9999-12-30T12:00:00Z')).to, '9999-12-31T00:00:00.000Z');
	assert.equal((await costs('group_by=deployment&deployment_id=dep_unknown')).data.length, 0);
});
