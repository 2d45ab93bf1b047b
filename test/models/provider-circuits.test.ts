import assert from 'node:assert/strict';
import { test } from 'node:test';
import { deferred } from '../../src/base/index.ts';
import type { ChatRequest } from '../../src/models/index.ts';
import { eventsOfAnswer } from '../support/model-events.ts';
import { type ModelScript, ModelServer } from '../support/model-server.ts';
import { HandClock } from './fixtures/hand-clock.ts';
import { chatRequest, type Outcome, openProvider, outcomeOf, type TestProvider } from './fixtures/provider.ts';

test('refuses calls to a failing provider at once, and permits them after it has recovered', async () => {
	await using server = await ModelServer.start();
	const clock = new HandClock();
	await using provider = openProvider(server.provider(), { clock });
	server.setDefault([{ status: 500, headers: { 'retry-after': '60' } }]);
	for (let at = 0; at < 5; at++) assert.match(String((await outcomeOf(provider.chat)).error), /failed with status 500/);
	assert.equal(server.calls.length, 5);
	const fast = await outcomeOf(provider.chat);
	assert.match(String(fast.error), /has failed several times in a row/);
	assert.deepEqual([(fast.error as { code?: string }).code, server.calls.length], ['model_error', 5]);
	server.setDefault([{ say: 'Back.' }]);
	assert.ok((await outcomeOf(provider.chat)).error, 'it is not known yet');
	clock.ms += 10_000;
	assert.equal((await outcomeOf(provider.chat)).text, 'Back.');
	assert.equal((await outcomeOf(provider.chat)).text, 'Back.');
	assert.match(provider.logged(), /"circuit":"open"[\s\S]*"circuit":"half-open"[\s\S]*"circuit":"closed"/);
});

test('refuses other calls during a trial call, and permits another trial call if that one is stopped', async () => {
	await using server = await ModelServer.start();
	const clock = new HandClock();
	await using provider = openProvider(server.provider(), { clock });
	server.setDefault([{ status: 500, headers: { 'retry-after': '60' } }]);
	for (let at = 0; at < 5; at++) await outcomeOf(provider.chat);
	clock.ms += 10_000;
	server.setDefault([{ hang: true }]);
	const controller = new AbortController();
	const probe = outcomeOf(provider.chat, {}, controller.signal);
	await server.call(5);
	assert.match(String((await outcomeOf(provider.chat)).error), /has failed several times/);
	controller.abort(new Error('stopped'));
	await probe;
	server.setDefault([{ say: 'Back.' }]);
	assert.equal((await outcomeOf(provider.chat)).text, 'Back.');
});

test('does not open the circuit after justified refusals', async () => {
	await using server = await ModelServer.start();
	await using provider = openProvider(server.provider());
	for (const status of [400, 401, 403, 404, 413, 422]) {
		server.setDefault([{ status }]);
		for (let at = 0; at < 6; at++) await outcomeOf(provider.chat);
	}
	for (const finish of ['length', 'content_filter', 'stop'] as const) {
		server.setDefault([{ finish }]);
		for (let at = 0; at < 6; at++) assert.ok((await outcomeOf(provider.chat)).error);
	}
	server.setDefault([{ say: 'Hello.' }]);
	assert.equal((await outcomeOf(provider.chat)).text, 'Hello.');
});

/** Sends a number of requests, one after the other. */
async function ask(provider: TestProvider, times: number, request: Partial<ChatRequest> = {}): Promise<Outcome[]> {
	const outcomes: Outcome[] = [];
	for (let at = 0; at < times; at++) outcomes.push(await outcomeOf(provider.chat, request));
	return outcomes;
}

test('does not open the circuit after a refusal within the stream', async () => {
	const message = "This model's maximum context length is 8192 tokens";
	const refusals = [
		{ message, type: 'invalid_request_error', code: 'context_length_exceeded' },
		{ message, type: 'invalid_request_error' },
		{ message, type: 'BadRequestError' },
		{ message, type: 'authentication_error' },
		{ message, type: 'not_found_error' },
	];
	for (const type of ['openai-compatible', 'anthropic'] as const) {
		for (const error of refusals) {
			await using server = await ModelServer.start();
			await using provider = openProvider(server.provider({ type }));
			const scripts: ModelScript[] = [[{ error }], [{ say: 'Well, ' }, { error }]];
			for (const script of scripts) {
				server.setDefault(script);
				const outcomes = await ask(provider, 5);
				for (const { error: thrown } of outcomes) {
					assert.match(String(thrown), /did not (accept|permit)|does not know the model/, JSON.stringify(error));
				}
			}
			assert.equal(server.calls.length, 10, 'none was tried again');
			server.setDefault([{ say: 'Hello.' }]);
			assert.equal((await outcomeOf(provider.chat)).text, 'Hello.');
		}
	}
});

test("opens the circuit of a failing model and not those of the provider's other models", async () => {
	await using server = await ModelServer.start();
	const clock = new HandClock();
	await using provider = openProvider(server.provider(), { clock });
	const failing: ModelScript = [{ status: 500, headers: { 'retry-after': '60' } }];
	server.setDefault(({ body }) => (body.model === 'broken' ? failing : [{ say: 'Fine.' }]));
	await ask(provider, 5, { model: 'broken' });
	assert.match(
		String((await outcomeOf(provider.chat, { model: 'broken' })).error),
		/has failed several times in a row/,
	);
	assert.equal(server.calls.length, 5);
	assert.equal((await outcomeOf(provider.chat, { model: 'good' })).text, 'Fine.');
	clock.ms += 10_000;
	await ask(provider, 3, { model: 'good' });
	assert.match(String((await outcomeOf(provider.chat, { model: 'broken' })).error), /status 500/);
	assert.match(provider.logged(), /"model":"broken","circuit":"open"/);
});

test('shows the circuits that refuse calls now, and none that was evicted', async () => {
	await using server = await ModelServer.start();
	const clock = new HandClock();
	await using provider = openProvider(server.provider(), { clock });
	const unclosed = () => provider.provider.unclosedCircuits?.();
	const failing: ModelScript = [{ status: 500, headers: { 'retry-after': '60' } }];
	server.setDefault(({ body }) => (body.model === 'broken' ? failing : [{ say: 'Fine.' }]));
	await ask(provider, 4, { model: 'broken' });
	assert.deepEqual(unclosed(), []);
	await ask(provider, 1, { model: 'broken' });
	assert.deepEqual(unclosed(), [{ model: 'broken', state: 'open' }]);
	clock.ms += 10_000;
	assert.deepEqual(unclosed(), [{ model: 'broken', state: 'half-open' }]);
	// As many other models as have circuits.
	for (let at = 0; at < 256; at++) await outcomeOf(provider.chat, { model: `model-${at}` });
	assert.deepEqual(unclosed(), []);
});

test('opens the circuit of all models if the provider takes no more requests or cannot be reached', async () => {
	await using server = await ModelServer.start();
	const clock = new HandClock();
	await using provider = openProvider(server.provider(), { clock });
	server.setDefault([{ status: 429, headers: { 'retry-after': '60' } }]);
	for (let at = 0; at < 5; at++) await outcomeOf(provider.chat, { model: `model-${at}` });
	assert.match(
		String((await outcomeOf(provider.chat, { model: 'another' })).error),
		/has failed several times in a row/,
	);
	assert.equal(server.calls.length, 5);
	clock.ms += 10_000;
	server.setDefault([{ say: 'Back.' }]);
	assert.equal((await outcomeOf(provider.chat, { model: 'another' })).text, 'Back.');

	const gone = await ModelServer.start();
	await gone[Symbol.asyncDispose]();
	await using absent = openProvider(gone.provider({ first_token_timeout_ms: 5_000 }));
	for (let at = 0; at < 5; at++) await outcomeOf(absent.chat, { model: `model-${at}` });
	assert.match(String((await outcomeOf(absent.chat, { model: 'another' })).error), /has failed several times in a row/);
});

test('opens the circuit of a provider that sends one word and hangs, and again after its next failure', async () => {
	await using server = await ModelServer.start();
	const clock = new HandClock();
	await using provider = openProvider(server.provider({ idle_timeout_ms: 100 }), { clock });
	server.setDefault([{ say: 'Well' }, { hang: true }]);
	const outcomes = await ask(provider, 12);
	assert.equal(server.calls.length, 5);
	assert.match(String(outcomes[4]?.error), /stopped in the middle/);
	assert.match(String(outcomes[5]?.error), /has failed several times in a row/);
	clock.ms += 10_000;
	await ask(provider, 5);
	assert.equal(server.calls.length, 6, 'one try is enough');
	clock.ms += 19_999;
	await ask(provider, 1);
	assert.equal(server.calls.length, 6, 'for twice as long');
	clock.ms += 1;
	server.setDefault([{ say: 'Back.' }]);
	assert.equal((await outcomeOf(provider.chat)).text, 'Back.');
});

test('permits other calls as soon as the answer of the trial call has begun', async () => {
	await using server = await ModelServer.start();
	const clock = new HandClock();
	await using provider = openProvider(server.provider(), { clock });
	server.setDefault([{ status: 500, headers: { 'retry-after': '60' } }]);
	await ask(provider, 5);
	clock.ms += 10_000;
	const told = deferred<void>();
	server.setDefault([{ say: 'Hello.' }]);
	server.enqueue([{ say: 'A long ' }, { wait: told.promise }, { say: 'story.' }]);
	const story = eventsOfAnswer(provider.chat, chatRequest());
	assert.deepEqual((await story.next()).value, { type: 'delta', text: 'A long ' });
	assert.equal((await outcomeOf(provider.chat)).text, 'Hello.');
	told.resolve();
	assert.deepEqual((await story.next()).value, { type: 'delta', text: 'story.' });
	await story.return();
});

test('opens the circuit although stopped calls are between the failures', async () => {
	await using server = await ModelServer.start();
	await using provider = openProvider(server.provider());
	for (let at = 0; at < 5; at++) {
		server.enqueue([{ say: 'Well' }, { hang: true }], [{ status: 500, headers: { 'retry-after': '60' } }]);
		for await (const _ of eventsOfAnswer(provider.chat, chatRequest())) break;
		await outcomeOf(provider.chat);
	}
	assert.match(String((await outcomeOf(provider.chat)).error), /has failed several times in a row/);
});
