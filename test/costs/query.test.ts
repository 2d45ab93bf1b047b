import assert from 'node:assert/strict';
import test, { after } from 'node:test';
import { deferred } from '../../src/base/index.ts';
import { tokensOf } from '../../src/models/index.ts';
import { createApiFixture } from '../api/fixture.ts';
import { startTestApp, type TestApp } from '../support/app.ts';
import { type ModelCall, ModelServer } from '../support/model-server.ts';
import { until } from '../support/until.ts';

/** What the call for a reply may cost at most: 8,000 tokens of context and 100 of the answer, a micro each. */
const CALL = 8_100;
/** What the call for a query may cost at most: 4,000 tokens of the prompt and 100 of the answer. */
const QUERY = 4_100;
/** What each call that ends costs: 11 tokens and 7. */
const USED = 18;

const prices = new Map([['*', { input: 1_000_000, output: 1_000_000 }]]);
const models = await ModelServer.start();
const providers = [
	models.provider({ id: 'small', prices, context_tokens: 8_000, max_output_tokens: 100 }),
	models.provider({ id: 'large', prices, context_tokens: 128_000, max_output_tokens: null }),
];
const startApp = (rewriteTimeoutMs: number) =>
	startTestApp({ settings: { providers }, overrides: { rewriteTimeoutMs } });
const app = await startApp(120_000);
/** It waits hardly at all for a query. */
const hasty = await startApp(100);
after(async () => {
	await app[Symbol.asyncDispose]();
	await hasty[Symbol.asyncDispose]();
	await models[Symbol.asyncDispose]();
});

const totalOf = async (on: TestApp, deployment: string) => {
	const { total } = (await on.call('GET', `/api/v1/costs?deployment_id=${deployment}`)).body;
	return [total.cost_micros, total.reserved_micros];
};
const isQuery = ({ body }: ModelCall) => body.messages[0].content.startsWith('You write queries');
const FOLLOW_UP = 'And how much does it cost?';

/** A shop whose model writes a query for a message that depends on the one before. */
async function shop(on = app, model = 'small/any') {
	const { assistant, deployment } = await createApiFixture(on, { model, texts: ['The kettle costs forty euros.'] });
	const configure = (query_rewrite: string) =>
		on.call('PATCH', `/api/v1/assistants/${assistant}`, { rag_settings: { query_rewrite } });
	assert.equal((await configure('auto')).status, 200);
	const setBudget = async (amount_micros: number | null) => {
		const budget = amount_micros === null ? null : { amount_micros, period: 'day' };
		assert.equal((await on.call('PATCH', `/api/v1/deployments/${deployment}`, { budget })).status, 200);
	};
	const send = (content: string, conversation_id?: string) =>
		on.call('POST', '/api/v1/messages', { deployment_id: deployment, content, conversation_id });
	const begin = async (content = 'What is the kettle made of?') => (await send(content)).body.conversation_id as string;
	const total = () => totalOf(on, deployment);
	const suggest = (id: string) => on.call('POST', `/api/v1/conversations/${id}/suggest-reply`);
	models.calls.length = 0;
	models.setDefault([{ say: 'kettle' }]);
	const calls = () => models.calls.map((call) => (isQuery(call) ? 'query' : 'reply'));
	return { setBudget, configure, send, begin, total, suggest, calls };
}

test('the call that writes a query is made only after its reservation, which the end of the reply settles', async () => {
	const { setBudget, begin, send, suggest, total, calls } = await shop();
	await setBudget(USED + CALL + QUERY);
	const id = await begin();
	const written = deferred<void>();
	models.setDefault((call) => [...(isQuery(call) ? [{ wait: written.promise }] : []), { say: 'kettle' }]);
	const sent = send(FOLLOW_UP, id);
	await until('a query is written', () => calls().includes('query'));
	assert.deepEqual(await total(), [USED, CALL + QUERY]);
	await setBudget(USED + 2 * (CALL + QUERY));
	const suggested = suggest(id);
	await until('another is written for a suggestion', () => calls().filter((call) => call === 'query').length === 2);
	assert.deepEqual(await total(), [USED, 2 * (CALL + QUERY)]);
	written.resolve();
	assert.deepEqual([(await sent).body.cost_micros, (await suggested).body.cost_micros], [2 * USED, 2 * USED]);
	assert.deepEqual(await total(), [5 * USED, 0]);
});

test('of two messages at once the one without a reservation for a query is searched for as it was written', async () => {
	const { setBudget, begin, send, total, calls } = await shop();
	const [first, second] = [await begin(), await begin()];
	await setBudget(2 * USED + 2 * CALL + QUERY);
	const asked = calls().length;
	const held = deferred<void>();
	models.setDefault([{ wait: held.promise }, { say: 'kettle' }]);
	const sent = [first, second].map((id) => send(FOLLOW_UP, id));
	await until('both models are asked', () => calls().length === asked + 2);
	assert.deepEqual(calls().slice(asked).toSorted(), ['query', 'reply']);
	assert.deepEqual(await total(), [2 * USED, 2 * CALL + QUERY]);
	held.resolve();
	assert.deepEqual(
		(await Promise.all(sent)).map(({ status }) => status),
		[201, 201],
	);
	assert.deepEqual(calls().slice(asked).toSorted(), ['query', 'reply', 'reply']);
	assert.deepEqual(await total(), [5 * USED, 0]);
});

test('of two messages at once under a budget for one reply and its query, one is refused', async () => {
	const { setBudget, begin, send, total, calls } = await shop();
	const conversations = [await begin(), await begin()];
	await setBudget(2 * USED + CALL + QUERY);
	const asked = calls().length;
	const held = deferred<void>();
	models.setDefault([{ wait: held.promise }, { say: 'kettle' }]);
	const sent = conversations.map((id) => send(FOLLOW_UP, id));
	assert.equal((await Promise.race(sent)).status, 403);
	await until('the query is written', () => calls().length === asked + 1);
	assert.deepEqual(calls().slice(asked), ['query']);
	held.resolve();
	assert.deepEqual((await Promise.all(sent)).map(({ status }) => status).toSorted(), [201, 403]);
	assert.deepEqual(await total(), [4 * USED, 0]);
});

test('a message that stands alone, or a setting without queries, reserves the reply alone', async () => {
	const { setBudget, begin, send, configure, total, calls } = await shop();
	await setBudget(USED + CALL);
	const id = await begin();
	assert.equal((await send('What is the kettle made of?', id)).status, 201);
	await setBudget(10 * (CALL + QUERY));
	await configure('never');
	const asked = calls().length;
	const held = deferred<void>();
	models.setDefault([{ wait: held.promise }, { say: 'Forty.' }]);
	const sent = send(FOLLOW_UP, id);
	await until('the model is asked', () => calls().length > asked);
	assert.equal((await total())[1], CALL);
	held.resolve();
	await sent;
	assert.equal(calls().includes('query'), false);
});

test('a query that was not written in time costs what it may have cost', async () => {
	const { setBudget, begin, send, total } = await shop(hasty);
	await setBudget(10 * (CALL + QUERY));
	const id = await begin();
	models.setDefault((call) => (isQuery(call) ? [{ hang: true }] : [{ say: 'Forty.' }]));
	const { status, body } = await send(FOLLOW_UP, id);
	assert.equal(status, 201);
	const ofQuery = body.cost_micros - USED;
	assert.ok(ofQuery > 100 && ofQuery < QUERY, `${ofQuery} micros`);
	assert.deepEqual(await total(), [2 * USED + ofQuery, 0]);
});

test('a query under a budget gets no more than was reserved for it, in any script', async () => {
	const { setBudget, begin, send, calls } = await shop(app, 'large/any');
	await setBudget(100_000_000);
	const id = await begin('这个水壶是什么做的？'.repeat(150));
	for (let n = 0; n < 3; n++) await send('这个水壶多少钱？'.repeat(180), id);
	await send(FOLLOW_UP, id);
	assert.equal(calls().at(-2), 'query');
	const { messages, max_tokens, max_completion_tokens } = (models.calls.at(-2) ?? assert.fail()).body;
	const tokens = messages.reduce((sum: number, { content }: { content: string }) => sum + tokensOf(content), 0);
	assert.ok(tokens > 3_000 && tokens <= 4_000, `${tokens} tokens`);
	assert.match(messages[1].content, /And how much does it cost\?$/);
	assert.equal(max_tokens ?? max_completion_tokens, 1_024);
});
