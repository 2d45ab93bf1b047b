import assert from 'node:assert/strict';
import { test } from 'node:test';
import { AppError } from '../../src/base/index.ts';
import type { ProviderSettings } from '../../src/models/index.ts';
import { type ModelScript, ModelServer } from '../support/model-server.ts';
import { chatRequest, openProvider, outcomeOf } from './fixtures/provider.ts';

/** The text of a provider about a failure. It is never shown, because it may contain keys and names. */
const SAID = 'Incorrect API key provided: sk-stand-in-0123456789abcdef for model small of org-4711';
const saying = (status: number) => ({ status, body: JSON.stringify({ error: { message: SAID, type: 'x' } }) });
const BIG = 'x'.repeat(10_000);

interface Fault {
	what: string;
	script: ModelScript;
	/** The whole sentence of the reply. */
	sentence: string;
	/** The text before the failure. */
	text?: string;
	/** The number of requests. */
	asked?: number;
	/** Only for these protocols. */
	types?: readonly ProviderSettings['type'][];
	settings?: Partial<ProviderSettings>;
}

const BROKE_OFF = 'The connection to the model provider broke off before the answer was complete.';
const PROTOCOL = 'The model provider sent what is not part of its protocol.';

const FAULTS: Fault[] = [
	{ what: 'refuses the key', script: [saying(401)], sentence: "The model provider did not accept this server's key." },
	{
		what: 'forbids the request',
		script: [saying(403)],
		sentence: "The model provider did not permit the request with this server's key.",
	},
	{ what: 'does not know the model', script: [saying(404)], sentence: 'The model provider does not know the model.' },
	{
		what: 'does not accept the request',
		script: [saying(400)],
		sentence: 'The model provider did not accept the request.',
	},
	{ what: 'asks for payment', script: [saying(402)], sentence: 'The model provider asks for payment.' },
	{
		what: 'refuses a request as too large',
		script: [saying(413)],
		sentence: 'The request was too large for the model provider.',
	},
	{ what: 'is a teapot', script: [saying(418)], sentence: 'The model provider answered with status 418.' },
	{
		what: 'takes no more requests',
		script: [saying(429)],
		sentence: 'The model provider takes no more requests for now.',
		asked: 3,
	},
	{
		what: 'times out behind a proxy',
		script: [saying(408)],
		sentence: 'The model provider failed with status 408.',
		asked: 3,
	},
	{ what: 'has a conflict', script: [saying(409)], sentence: 'The model provider failed with status 409.', asked: 3 },
	{ what: 'fails', script: [saying(500)], sentence: 'The model provider failed with status 500.', asked: 3 },
	{ what: 'is overloaded', script: [saying(529)], sentence: 'The model provider failed with status 529.', asked: 3 },
	{
		what: 'fails with a page instead of JSON',
		script: [{ status: 502, body: '<h1>Bad gateway</h1>' }],
		sentence: 'The model provider failed with status 502.',
		asked: 3,
	},
	{
		what: 'fails without a body',
		script: [{ status: 503 }],
		sentence: 'The model provider failed with status 503.',
		asked: 3,
	},
	{
		what: 'fails with ten megabytes',
		script: [{ status: 400, body: BIG.repeat(1_000) }],
		sentence: 'The model provider did not accept the request.',
	},
	{
		what: 'redirects to another URL',
		script: [{ status: 307, headers: { location: 'http://169.254.169.254/' } }],
		sentence: 'The model provider is not at the configured address.',
	},
	{ what: 'closes the connection at once', script: [{ die: true }], sentence: BROKE_OFF, asked: 3 },
	{
		what: 'closes the connection before the first word',
		script: [{ raw: ': hello\n\n' }, { die: true }],
		sentence: BROKE_OFF,
		asked: 3,
	},
	{
		what: 'closes the connection in the middle',
		script: [{ say: 'Half an ' }, { die: true }],
		sentence: BROKE_OFF,
		text: 'Half an ',
	},
	{
		what: 'closes the connection in the middle of a call',
		script: [{ say: 'Wait.' }, { raw: 'data: {"id' }, { die: true }],
		sentence: BROKE_OFF,
		text: 'Wait.',
	},
	{
		what: 'ends the stream before the end of the answer',
		script: [{ say: 'Half an ' }, { end: true }],
		sentence: BROKE_OFF,
		text: 'Half an ',
	},
	{
		what: 'ends the stream after a call without a finish reason',
		script: [{ call: { id: 'call_a', name: 'weather', arguments: { city: 'Rome' } } }, { end: true }],
		sentence: BROKE_OFF,
	},
	{ what: 'sends an empty stream', script: [{ end: true }], sentence: BROKE_OFF },
	{
		what: 'answers with a page',
		script: [{ status: 200, headers: { 'content-type': 'text/html' }, body: '<h1>Welcome</h1>' }],
		sentence: BROKE_OFF,
	},
	{
		what: 'sends broken JSON',
		script: [{ say: 'Half an ' }, { raw: 'data: {"id": "chatcmpl-1", \n\n' }, { say: 'answer.' }],
		sentence: PROTOCOL,
		text: 'Half an ',
	},
	{
		what: 'sends broken JSON first',
		script: [{ raw: 'data: {{{\n\n' }, { say: 'Hello.' }],
		sentence: PROTOCOL,
	},
	{ what: 'answers without a body', script: [{ status: 204 }], sentence: PROTOCOL },
	{
		what: 'answers with JSON instead of a stream',
		script: [{ status: 200, body: '{"id":"c","choices":[{"message":{"content":"Hello."}}]}' }],
		sentence: BROKE_OFF,
	},
	{
		what: 'answers with status 200 and an error as JSON',
		script: [{ status: 200, body: JSON.stringify({ error: { message: SAID, type: 'rate_limit_error' } }, null, 2) }],
		sentence: 'The model provider takes no more requests for now.',
		asked: 3,
	},
	{
		what: 'sends an event with the name error',
		script: [{ say: 'Half an ' }, { raw: `event: error\ndata: {"message":"${SAID}","code":"invalid_api_key"}\n\n` }],
		sentence: "The model provider did not accept this server's key.",
		text: 'Half an ',
	},
	{
		what: 'sends an event with the name error without JSON',
		script: [{ say: 'Half an ' }, { raw: `event: error\ndata: ${SAID}\n\n` }],
		sentence: 'The model provider reported an error.',
		text: 'Half an ',
	},
	{
		what: 'sends one event in lines of ten megabytes',
		script: [{ say: 'Once. ' }, { raw: `data: ${BIG}\n`.repeat(1_000) }],
		sentence: 'The answer of the model was too large.',
		text: 'Once. ',
	},
	{
		what: 'sends JSON of another kind',
		script: [{ say: 'Half an ' }, { raw: 'data: {"choices": "none"}\n\n' }],
		sentence: PROTOCOL,
		text: 'Half an ',
	},
	{
		what: 'sends bytes that are not text',
		script: [{ say: 'Half an ' }, { raw: 'data: \u0000\uFFFF\n\n' }],
		sentence: PROTOCOL,
		text: 'Half an ',
	},
	{
		what: 'reports an error in the middle',
		script: [{ say: 'Half an ' }, { error: { message: SAID, type: 'server_error' } }],
		sentence: 'The model provider failed with status 500.',
		text: 'Half an ',
	},
	{
		what: 'reports an error of an unknown type',
		script: [{ say: 'Half an ' }, { error: { message: SAID, type: 'odd' } }],
		sentence: 'The model provider reported an error.',
		text: 'Half an ',
	},
	{
		what: 'reports in the stream that it is overloaded',
		script: [{ error: { message: SAID, type: 'overloaded_error' } }],
		sentence: 'The model provider failed with status 529.',
		asked: 3,
	},
	{
		what: 'reports in the stream that the question is too long',
		script: [{ error: { message: SAID, type: 'invalid_request_error', code: 'context_length_exceeded' } }],
		sentence: 'The model provider did not accept the request.',
	},
	{
		what: 'filters the question in the stream',
		script: [{ error: { message: SAID, code: 'content_filter' } }],
		sentence: 'The model provider did not accept the request.',
		types: ['openai-compatible'],
	},
	{
		what: 'refuses the key in the stream',
		script: [{ error: { message: SAID, type: 'authentication_error' } }],
		sentence: "The model provider did not accept this server's key.",
	},
	{
		what: 'reports in the stream that it takes no more requests',
		script: [{ error: { message: SAID, type: 'rate_limit_error' } }],
		sentence: 'The model provider takes no more requests for now.',
		asked: 3,
	},
	{
		what: 'reports a status in the stream',
		script: [{ error: { message: SAID, code: 429 } }],
		sentence: 'The model provider takes no more requests for now.',
		asked: 3,
		types: ['openai-compatible'],
	},
	{
		what: 'stops at its limit',
		script: [{ say: 'Half an ' }, { finish: 'length' }],
		sentence: 'The answer was cut off: it reached the length that the model may write.',
		text: 'Half an ',
	},
	{
		what: 'stops at its limit within a call',
		script: [{ call: { id: 'call_a', name: 'weather', arguments: '{"ci' } }, { finish: 'length' }],
		sentence: 'The answer was cut off: it reached the length that the model may write.',
	},
	{
		what: 'filters the answer',
		script: [{ say: 'Half an ' }, { finish: 'content_filter' }],
		sentence: "The model provider's content filter ended the answer.",
		text: 'Half an ',
	},
	{ what: 'sends no text', script: [{ finish: 'stop' }], sentence: 'The model gave an empty answer.' },
	{ what: 'only thinks', script: [{ think: 'Hm.' }, { finish: 'stop' }], sentence: 'The model gave an empty answer.' },
	{
		what: 'writes ten megabytes',
		script: [{ say: 'Once. ' }, ...Array<{ say: string }>(1_000).fill({ say: BIG })],
		sentence: 'The model wrote too much.',
		text: `Once. ${BIG.repeat(20)}`.slice(0, 200_000),
	},
	{
		what: 'writes ten megabytes in one event',
		script: [{ say: 'Once. ' }, { say: BIG.repeat(1_000) }],
		sentence: 'The answer of the model was too large.',
		text: 'Once. ',
	},
	{
		what: 'writes ten megabytes without an event',
		script: [{ say: 'Once. ' }, { raw: BIG.repeat(1_000) }],
		sentence: 'The answer of the model was too large.',
		text: 'Once. ',
	},
	{
		what: 'thinks forty megabytes',
		script: Array<{ think: string }>(4_000).fill({ think: BIG }),
		sentence: 'The answer of the model was too large.',
	},
	{
		what: 'calls with arguments of a megabyte',
		script: [{ call: { id: 'call_a', name: 'weather', arguments: `"${BIG.repeat(100)}"` }, pieces: 100 }],
		sentence: 'The model asked for too many tools at once.',
	},
	{
		what: 'calls a hundred tools',
		script: Array.from({ length: 100 }, (_, at) => ({ call: { id: `call_${at}`, name: 'weather', arguments: {} } })),
		sentence: 'The model asked for too many tools at once.',
	},
	{
		what: 'hangs before the first word',
		script: [{ raw: ': wait\n\n' }, { hang: true }],
		sentence: 'The model did not begin to answer within 2 seconds.',
		settings: { first_token_timeout_ms: 2_000 },
	},
	{
		what: 'accepts the request and hangs',
		script: [{ hang: true }],
		sentence: 'The model did not begin to answer within 2 seconds.',
		settings: { first_token_timeout_ms: 2_000 },
	},
	{
		what: 'hangs in the middle',
		script: [{ say: 'Half an ' }, { hang: true }],
		sentence: 'The model stopped in the middle of its answer: nothing came for 1.5 seconds.',
		text: 'Half an ',
		settings: { idle_timeout_ms: 1_500 },
	},
	{
		what: 'hangs while it thinks',
		script: [{ think: 'Hm.' }, { hang: true }],
		sentence: 'The model stopped in the middle of its answer: nothing came for 1.5 seconds.',
		settings: { idle_timeout_ms: 1_500 },
	},
];

const tools = [{ name: 'weather', description: null, parameters: { type: 'object' } }];

/** The type openai has the same reader as openai-compatible. */
for (const type of ['openai-compatible', 'anthropic'] as const) {
	test(`${type}: ends the reply with a sentence that reveals nothing, whatever the provider does`, {
		concurrency: 8,
	}, async (t) => {
		const faults = FAULTS.filter(({ types = [type] }) => types.includes(type));
		await Promise.all(faults.map((fault) => t.test(`a provider that ${fault.what}`, () => suffer(type, fault))));
	});
}

async function suffer(type: ProviderSettings['type'], fault: Fault): Promise<void> {
	const { script, sentence, text = '', asked = 1, settings } = fault;
	await using server = await ModelServer.start();
	await using provider = openProvider(server.provider({ type, ...settings }));
	server.setDefault(script);
	const outcome = await outcomeOf(provider.chat, { tools });
	const { error } = outcome;
	assert.ok(error instanceof AppError, String(error));
	assert.deepEqual([error.code, error.message], ['model_error', sentence]);
	assert.equal(outcome.text, text, 'what came before stays as it is');
	assert.equal(server.calls.length, asked, 'how often it was asked');
	assert.ok(!outcome.events.some((event) => event.type === 'tool_call'), 'no call of an answer that failed');
	const { api_key } = server.provider();
	for (const told of [error.message, String(error.cause), JSON.stringify(error.cause), provider.logged()]) {
		assert.ok(!told.includes(String(api_key)), told);
	}
	assert.ok(!error.message.includes('org-4711'));
	assert.match(provider.logged(), /"a model provider failed"/, 'the operator is told');
	// No connection stays open.
	await Promise.all(server.calls.map(({ callerLeft }) => callerLeft));
	server.setDefault([{ say: 'Back.' }]);
	assert.equal((await outcomeOf(provider.chat)).text, 'Back.', 'the next reply is not harmed');
}

test('fails after three attempts if the provider cannot be reached', async () => {
	const server = await ModelServer.start();
	const settings = server.provider();
	await server[Symbol.asyncDispose]();
	await using provider = openProvider(settings);
	const { error } = await outcomeOf(provider.chat);
	assert.ok(error instanceof AppError);
	assert.deepEqual([error.code, error.message], ['model_error', 'The model provider could not be reached.']);
	assert.equal(provider.logged().match(/retrying a request to a model provider/g)?.length, 2);
});

test('reports the usage of an answer that was cut off', async () => {
	await using server = await ModelServer.start();
	await using provider = openProvider(server.provider());
	server.enqueue([{ say: 'Half' }, { finish: 'length', usage: { input: 5, output: 6 } }]);
	const { events, error } = await outcomeOf(provider.chat);
	assert.ok(error instanceof AppError);
	assert.deepEqual(events.at(-1), { type: 'usage', input_tokens: 5, output_tokens: 6 });
});

test('accepts a complete answer whose stream does not end', async () => {
	await using server = await ModelServer.start();
	await using provider = openProvider(server.provider({ type: 'anthropic' }));
	let end = () => {};
	server.enqueue(() => {
		const events = [{ say: 'Hello.' }, { finish: 'stop' }] as const;
		const wait = new Promise<void>((resolve) => {
			end = resolve;
		});
		return [events[0], { raw: lastEvents() }, { wait }, { end: true }];
	});
	const { text, error } = await outcomeOf(provider.chat);
	assert.deepEqual([text, error], ['Hello.', undefined]);
	assert.equal(await server.calls[0]?.callerLeft, true, 'the connection was closed from here');
	end();
});

/** The end of an answer in the messages protocol. */
function lastEvents(): string {
	const events = [
		{ type: 'content_block_stop', index: 0 },
		{ type: 'message_delta', delta: { stop_reason: 'end_turn', stop_sequence: null }, usage: { output_tokens: 2 } },
		{ type: 'message_stop' },
	];
	return events.map((event) => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`).join('');
}

test('refuses a request that is longer than the model can read without sending it', async () => {
	await using server = await ModelServer.start();
	await using provider = openProvider(server.provider({ context_tokens: 1_000 }));
	const { error } = await outcomeOf(provider.chat, { question: 'word '.repeat(2_000) });
	assert.ok(error instanceof AppError);
	assert.equal(error.code, 'model_error');
	assert.match(error.message, /longer than the model can read/);
	assert.equal(server.calls.length, 0);
});

test('changes neither the request nor the settings', async () => {
	await using server = await ModelServer.start();
	const settings = Object.freeze(server.provider());
	await using provider = openProvider(settings);
	const request = Object.freeze(chatRequest());
	assert.equal((await outcomeOf(provider.chat, request)).text, 'Hello.');
});
