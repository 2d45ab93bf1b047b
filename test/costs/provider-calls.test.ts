import assert from 'node:assert/strict';
import test, { after } from 'node:test';
import { tokensOf } from '../../src/models/index.ts';
import { createApiFixture } from '../api/fixture.ts';
import { startTestApp } from '../support/app.ts';
import { USAGE } from '../support/model-server/script.ts';
import { type ModelScript, ModelServer } from '../support/model-server.ts';
import { until } from '../support/until.ts';

/** Micros a token: one of the prompt, two of the answer. */
const prices = new Map([['*', { input: 1_000_000, output: 2_000_000 }]]);
/** Of the prompt without the question, and of the answer. */
const INPUT_TOKENS = 16_000;
const OUTPUT_TOKENS = 4_096;

const model = await ModelServer.start();
after(() => model[Symbol.asyncDispose]());
const provider = model.provider({ id: 'paid', prices, context_tokens: 128_000, max_output_tokens: null });
/** Gives up a call that has not begun to answer. */
const hasty = { ...provider, id: 'hasty', first_token_timeout_ms: 300 };
const app = await startTestApp({ settings: { providers: [provider, hasty], allow_private_network: true } });
after(() => app[Symbol.asyncDispose]());

const newDeployment = async (amount_micros: number, name = 'paid/any') => {
	const deployment = { budget: { amount_micros, period: 'day' } };
	return (await createApiFixture(app, { model: name, texts: [], deployment })).deployment;
};
const totalOf = async (deployment: string) =>
	(await app.call('GET', `/api/v1/costs?deployment_id=${deployment}`)).body.total;

test('a call under a budget gets no more than was reserved for it, however long the conversation is', async () => {
	const deployment = await newDeployment(100_000_000);
	const content = 'Where is my order, and why does it take so long? '.repeat(200);
	let conversation_id: string | undefined;
	for (let n = 0; n < 12; n++) {
		const sent = await app.call('POST', '/api/v1/messages', { deployment_id: deployment, conversation_id, content });
		assert.equal(sent.status, 201, JSON.stringify(sent.body));
		conversation_id = sent.body.conversation_id;
	}
	const { messages, max_tokens, max_completion_tokens } = (model.calls.at(-1) ?? assert.fail('it was not asked'))
		.body as {
		messages: Array<{ content: string }>;
		max_tokens?: number;
		max_completion_tokens?: number;
	};
	assert.ok(messages.length > 3, 'it has earlier exchanges');
	assert.ok(messages.length < 24, 'not all of them');
	const tokens = messages.reduce((sum, { content: text }) => sum + tokensOf(text), 0);
	assert.ok(tokens <= INPUT_TOKENS + tokensOf(content), `${tokens} tokens`);
	assert.equal(max_tokens ?? max_completion_tokens, OUTPUT_TOKENS);
});

test('a reply that was stopped costs what its prompt and its text may have cost, not all that was reserved', async () => {
	const deployment = await newDeployment(100_000_000);
	model.enqueue([{ say: 'It is on its way.' }, { hang: true }]);
	const before = model.calls.length;
	const sent = app.call('POST', '/api/v1/messages', { deployment_id: deployment, content: 'Where is my order?' });
	await until('the model is asked', () => model.calls.length > before);
	assert.ok((await totalOf(deployment)).reserved_micros > INPUT_TOKENS, 'the whole call is reserved');
	const [{ id }] = (await app.call('GET', `/api/v1/conversations?deployment_id=${deployment}`)).body.data;
	await app.call('POST', `/api/v1/conversations/${id}/stop`);
	assert.equal((await sent).status, 201);
	const { cost_micros, reserved_micros } = await totalOf(deployment);
	assert.equal(reserved_micros, 0);
	assert.ok(cost_micros > 0 && cost_micros < INPUT_TOKENS / 8, `${cost_micros} micros`);
});

test('a call that does not begin to answer in time costs its prompt', async () => {
	const deployment = await newDeployment(100_000_000, 'hasty/any');
	model.enqueue([{ hang: true }]);
	const body = { deployment_id: deployment, content: 'Where is my order?' };
	assert.equal((await app.call('POST', '/api/v1/messages', body)).status, 500);
	const { cost_micros, reserved_micros } = await totalOf(deployment);
	assert.equal(reserved_micros, 0);
	assert.ok(cost_micros > 0 && cost_micros < INPUT_TOKENS / 8, `${cost_micros} micros`);
});

test('a call that breaks off costs its prompt at each attempt, and a refused call costs nothing', async () => {
	const costAfter = async (...scripts: ModelScript[]) => {
		const deployment = await newDeployment(100_000_000);
		model.enqueue(...scripts);
		await app.call('POST', '/api/v1/messages', { deployment_id: deployment, content: 'Where is my order?' });
		return (await totalOf(deployment)).cost_micros;
	};
	const refused: ModelScript = [{ status: 503 }];
	const broken: ModelScript = [{ die: true }];
	assert.equal(await costAfter(refused, refused, refused), 0);
	const once = await costAfter(broken, [{ status: 400 }]);
	assert.ok(once > 0);
	assert.equal(await costAfter(broken, refused, broken), 2 * once);
	assert.equal(await costAfter(broken, [{ say: 'On its way.' }]), once + USAGE.input + 2 * USAGE.output);
	const call = { index: 0, id: 'call_a', function: { name: 'weather', arguments: '' } };
	const begun = `data: ${JSON.stringify({ choices: [{ index: 0, delta: { tool_calls: [call] } }] })}\n\n`;
	assert.equal(await costAfter([{ raw: begun }, { die: true }]), once, 'it began with a call, and is not repeated');
	assert.ok(
		(await costAfter([{ status: 504 }], [{ status: 400 }])) > 0,
		'the gateway waits no more, the provider may go on',
	);
});

test('a call that was stopped while it reasoned costs its reasoning', async () => {
	const reasoning = 'The order left on Monday. '.repeat(40);
	const costOf = async (script: ModelScript) => {
		const deployment = await newDeployment(100_000_000);
		model.enqueue(script);
		await app.call('POST', '/api/v1/messages', { deployment_id: deployment, content: 'Where is my order?' });
		return (await totalOf(deployment)).cost_micros;
	};
	const without = await costOf([{ say: 'On' }, { die: true }]);
	assert.equal(await costOf([{ think: reasoning }, { say: 'On' }, { die: true }]), without + 2 * reasoning.length);
	// No text came: the reasoning alone.
	assert.equal(await costOf([{ think: reasoning }, { die: true }]), without + 2 * (reasoning.length - 'On'.length));
});
