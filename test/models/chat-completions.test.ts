import assert from 'node:assert/strict';
import test from 'node:test';
import { deferred } from '../../src/base/index.ts';
import type { ModelEvent } from '../../src/models/index.ts';
import { eventsOfAnswer } from '../support/model-events.ts';
import { ModelServer, type ModelStep } from '../support/model-server.ts';
import { chatRequest, openProvider, outcomeOf } from './fixtures/provider.ts';

const WEATHER = { name: 'weather', description: null, parameters: { type: 'object', properties: {} } };

/** A chunk of a chat completion in the form of the service. */
function piece(choice: object, more: object = {}): ModelStep {
	const chunk = { id: 'c', object: 'chat.completion.chunk', created: 1, model: 'small', ...more };
	return { raw: `data: ${JSON.stringify({ ...chunk, choices: [{ index: 0, ...choice }] })}\n\n` };
}
const text = (content: unknown) => piece({ delta: { content } });

/** The outcome of an answer with these chunks. */
async function answered(script: ModelStep[], tools: (typeof WEATHER)[] = []) {
	await using server = await ModelServer.start();
	await using provider = openProvider(server.provider({ type: 'openai-compatible' }));
	server.enqueue(script);
	return await outcomeOf(provider.chat, { tools });
}

test('yields the text of an answer in order, even if its pieces contain other members', async () => {
	const { text: said, error } = await answered([
		piece({ delta: { role: 'assistant', content: '' } }),
		text('a'),
		piece({ delta: { content: 'b' }, finish_reason: null, logprobs: null }),
		piece({ delta: { content: null } }),
		text('c'),
		piece({ delta: { content: 'd', reasoning_content: 'Hm.' } }),
		text('e'),
		text([{ type: 'text', text: 'f' }]),
		text('g'),
		piece({ delta: { content: 'h' }, finish_reason: 'stop' }),
		{ raw: 'data: [DONE]\n\n' },
		{ end: true },
	]);
	assert.equal(error, undefined);
	assert.equal(said, 'abcdefgh');
});

test('yields the same text however the stream is split', async () => {
	const whole = [
		'data: {"id":"c","choices":[{"index":0,"delta":{"role":"assistant","content":"Größe: "}}]}\n\n',
		': awake\r\n\r\n',
		'event: message\ndata: {"id":"c",\ndata: "choices":[{"index":0,"delta":{"content":"日本 ✓"}}]}\n\n',
		'data:{"id":"c","choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}\n\ndata: [DONE]\n\n',
	].join('');
	const bytes = Buffer.from(whole);
	for (let size = 1; size < 40; size += 7) {
		const script: ModelStep[] = [];
		for (let at = 0; at < bytes.length; at += size) script.push({ raw: bytes.subarray(at, at + size) });
		const { text: said, error } = await answered([...script, { end: true }]);
		assert.equal(error, undefined);
		assert.equal(said, 'Größe: 日本 ✓', `cut every ${size} bytes`);
	}
});

test('yields text before and after a tool call, and stores it in order with its thinking', async () => {
	const { events, text: said } = await answered(
		[
			piece({ delta: { reasoning_content: 'I should look.' } }),
			text('Let me '),
			text('see.'),
			piece({
				delta: { tool_calls: [{ index: 0, id: 'call_a', function: { name: 'weather', arguments: '{}' } }] },
			}),
			text(' One moment.'),
			piece({ delta: {}, finish_reason: 'tool_calls' }),
			{ raw: 'data: [DONE]\n\n' },
			{ end: true },
		],
		[WEATHER],
	);
	assert.equal(said, 'Let me see. One moment.');
	const memory = events.find((event) => event.type === 'memory')?.memory as { type: string; text?: string }[];
	assert.deepEqual(
		memory.map(({ type, text: of = '' }) => [type, of]),
		[
			['reasoning', 'I should look.'],
			['text', 'Let me see. One moment.'],
			['call', ''],
		],
	);
});

test('yields the first word before the next piece arrives', async () => {
	await using server = await ModelServer.start();
	await using provider = openProvider(server.provider({ type: 'openai-compatible' }));
	const heard = deferred<void>();
	server.enqueue([text('First'), { wait: heard.promise }, text(' second'), { finish: 'stop' }]);
	const events: ModelEvent[] = [];
	for await (const event of eventsOfAnswer(provider.chat, chatRequest())) {
		events.push(event);
		heard.resolve();
	}
	assert.deepEqual(
		events.filter(({ type }) => type === 'delta'),
		[
			{ type: 'delta', text: 'First' },
			{ type: 'delta', text: ' second' },
		],
	);
});

test('accepts a very deeply nested member', async () => {
	const deep = `${'['.repeat(20_000)}${']'.repeat(20_000)}`;
	const raw = `data: {"choices":[{"index":0,"delta":{"content":"a"}}],"extra":${deep}}\n\n`;
	const { text: said, error } = await answered([{ raw }, { raw: END }, { end: true }]);
	assert.deepEqual([said, error], ['a', undefined]);
});

test('keeps the text of an answer that breaks off', async () => {
	const { text: said, error } = await answered([text('Half an '), text('answer'), { die: true }]);
	assert.equal(said, 'Half an answer');
	assert.match(String(error), /broke off/);
});

const END = `${(piece({ delta: {}, finish_reason: 'stop' }) as { raw: string }).raw}data: [DONE]\n\n`;

/** The calls of an answer with these pieces. */
async function called(...pieces: object[]) {
	const script = pieces.map((tool_call) => piece({ delta: { tool_calls: [tool_call] } }));
	const { events, error } = await answered([...script, { raw: END }, { end: true }], [WEATHER]);
	assert.equal(error, undefined);
	return events.flatMap((event) => (event.type === 'tool_call' ? [event] : []));
}

test('accepts arguments as an object instead of a text', async () => {
	const [call] = await called({ index: 0, id: 'call_a', function: { name: 'weather', arguments: { city: 'Rome' } } });
	assert.deepEqual(call?.arguments, { city: 'Rome' });
});

test('gives each call without an id an id, and adds pieces without id, index and name to the last call', async () => {
	const begin = { function: { name: 'weather', arguments: '{"city":' } };
	const calls = await called(begin, { function: { arguments: '"Rome"}' } }, begin, { function: { arguments: '1}' } });
	assert.deepEqual(
		calls.map((call) => call.arguments),
		[{ city: 'Rome' }, { city: 1 }],
	);
	const ids = calls.map(({ id }) => id);
	assert.equal(new Set(ids).size, 2);
	for (const id of ids) assert.match(id, /^[a-zA-Z0-9_-]{1,64}$/);
});

test('gives two calls with the same id different ids', async () => {
	const call = (index: number) => ({ index, id: 'call_a', function: { name: 'weather', arguments: '{}' } });
	const [first, second] = await called(call(0), call(1));
	assert.equal(first?.id, 'call_a');
	assert.notEqual(second?.id, 'call_a');
});

test('accepts the id of a call after its name', async () => {
	const [call] = await called(
		{ index: 0, function: { name: 'weather' } },
		{ index: 0, id: 'call_a', function: { arguments: '{}' } },
	);
	assert.deepEqual(call, { type: 'tool_call', id: 'call_a', name: 'weather', arguments: {} });
});

test('ends the answer at a call without a name or without a beginning', async () => {
	const pieces = [{ index: 0, id: 'call_a', function: { arguments: '{}' } }, { function: { arguments: '{}' } }];
	for (const tool_call of pieces) {
		const script = [piece({ delta: { tool_calls: [tool_call] } }), { raw: END }, { end: true as const }];
		const { error, events } = await answered(script, [WEATHER]);
		assert.match(String(error), /sent what is not part of its protocol/);
		assert.ok(!events.some(({ type }) => type === 'delta' || type === 'tool_call'));
	}
});

test('accepts any type for members that it does not read', async () => {
	const {
		text: said,
		error,
		events,
	} = await answered([
		piece({ delta: { role: 'model', content: 'a' } }, { id: 5, created: 'now', model: null, error: null }),
		piece({ delta: { content: 'b' } }, { usage: { prompt_tokens: 'many', completion_tokens: 3 } }),
		{ raw: END },
		{ end: true },
	]);
	assert.deepEqual([said, error], ['ab', undefined]);
	assert.deepEqual(events.at(-1), { type: 'usage', input_tokens: 0, output_tokens: 3 });
});

test('takes an answer with a finish reason as complete if the stream ends without [DONE]', async () => {
	const script = [text('a'), piece({ delta: {}, finish_reason: 'stop' }), { end: true as const }];
	const { text: said, error } = await answered(script);
	assert.deepEqual([said, error], ['a', undefined]);
});

test('takes [DONE] without a finish reason as the end of an answer that broke off', async () => {
	const { text: said, error } = await answered([text('a'), { raw: 'data: [DONE]\n\n' }, { hang: true }]);
	assert.equal(said, 'a');
	assert.match(String(error), /broke off/);
});

test('takes the text of a refusal as the answer', async () => {
	const { text: said, error } = await answered([piece({ delta: { content: null, refusal: 'No.' } }), { raw: END }]);
	assert.deepEqual([said, error], ['No.', undefined]);
});

test('reads an error that is a text', async () => {
	const { error } = await answered([{ raw: 'data: {"error":"model runner has stopped"}\n\n' }]);
	assert.match(String(error), /The model provider reported an error/);
});
