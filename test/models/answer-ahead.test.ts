import assert from 'node:assert/strict';
import test from 'node:test';
import { createOpenAICompatible } from '@ai-sdk/openai-compatible';
import fc from 'fast-check';
import { deferred } from '../../src/base/index.ts';
import type { ModelEvent } from '../../src/models/index.ts';
import type { AnswerInbox } from '../../src/models/providers/answer-parts.ts';
import { passOn } from '../../src/models/providers/answer-parts.ts';
import { Inbox } from '../../src/models/providers/inbox.ts';
import { type LanguageModel, loadLanguageModels } from '../../src/models/providers/language-model.ts';
import { ModelServer, type ModelStep } from '../support/model-server.ts';
import { chatRequest, openProvider, outcomeOf } from './fixtures/provider.ts';

const WEATHER = { name: 'weather', description: null, parameters: { type: 'object', properties: {} } };

/** A piece of a chat completion, as the service writes it. */
function piece(choice: object, more: object = {}): ModelStep {
	const chunk = { id: 'c', object: 'chat.completion.chunk', created: 1, model: 'small', ...more };
	return { raw: `data: ${JSON.stringify({ ...chunk, choices: [{ index: 0, ...choice }] })}\n\n` };
}
const text = (content: unknown) => piece({ delta: { content } });

/** What comes of an answer that is written like this. */
async function answered(script: ModelStep[], tools: (typeof WEATHER)[] = []) {
	await using server = await ModelServer.start();
	await using provider = openProvider(server.provider({ type: 'openai-compatible' }));
	server.next(script);
	return await outcomeOf(provider.chat, { tools });
}

test('the text of an answer is told in the order in which it came, whatever else is in its pieces', async () => {
	const { text: said, error } = await answered([
		piece({ delta: { role: 'assistant', content: '' } }),
		text('a'),
		piece({ delta: { content: 'b' }, finish_reason: null, logprobs: null }),
		piece({ delta: { content: null } }),
		text('c'),
		// From here on the library tells it.
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

test('text that comes in pieces of every cut is the same text', async () => {
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

test('text before and after the call of a tool is told, and remembered with its thinking, in order', async () => {
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

test('the first word is told before anything follows it', async () => {
	await using server = await ModelServer.start();
	await using provider = openProvider(server.provider({ type: 'openai-compatible' }));
	const heard = deferred<void>();
	server.next([text('First'), { wait: heard.promise }, text(' second'), { finish: 'stop' }]);
	const events: ModelEvent[] = [];
	for await (const event of provider.chat.stream(chatRequest(), new AbortController().signal)) {
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

test('a field that is nested as deep as can be does not end an answer', async () => {
	const deep = `${'['.repeat(20_000)}${']'.repeat(20_000)}`;
	const raw = `data: {"choices":[{"index":0,"delta":{"content":"a"}}],"extra":${deep}}\n\n`;
	const { text: said, error } = await answered([{ raw }, { raw: END }, { end: true }]);
	assert.deepEqual([said, error], ['a', undefined]);
});

test('an answer that breaks off keeps the text that had come', async () => {
	const { text: said, error } = await answered([text('Half an '), text('answer'), { die: true }]);
	assert.equal(said, 'Half an answer');
	assert.match(String(error), /broke off/);
});

const END = `${(piece({ delta: {}, finish_reason: 'stop' }) as { raw: string }).raw}data: [DONE]\n\n`;
const call = (index: number) => ({ index, id: `call_${index}`, function: { name: 'weather', arguments: '{}' } });
const PIECES = fc.constantFrom<ModelStep>(
	text('a'),
	text('b '),
	text('日本'),
	text(''),
	text(null),
	text(7),
	text([{ type: 'text', text: 'c' }]),
	piece({ delta: { role: 'assistant', content: 'd' } }),
	piece({ delta: { content: 'e', reasoning_content: 'Hm.' } }),
	piece({ delta: { reasoning: 'Hm.' } }),
	piece({ delta: { content: 'f', tool_calls: [call(0)] } }),
	piece({ delta: { tool_calls: [call(1)] } }),
	piece({ delta: {}, finish_reason: 'stop' }),
	piece({ delta: { content: 'g' }, finish_reason: 'stop' }),
	piece({ delta: {}, finish_reason: 'length' }),
	piece({ delta: null }, { usage: { prompt_tokens: 3, completion_tokens: 4 } }),
	piece({ delta: {} }, { usage: { prompt_tokens: 'many' } }),
	{ raw: 'data: {"choices":[],"usage":{"prompt_tokens":5,"completion_tokens":6}}\n\n' },
	{ raw: 'data: {"choices":[],"usage":{}}\n\n' },
	piece({ delta: { content: 'i' } }, { id: 5 }),
	piece({ delta: {} }, { created: 'now', usage: null }),
	{ raw: 'data: {"error":{"message":"no more"}}\n\n' },
	{ raw: 'data: {"choices":null}\n\n' },
	{ raw: 'data: [1]\n\n' },
	{ raw: 'data: {"choi\n\n' },
	{ raw: ': awake\n\n' },
	{ raw: 'data: [DONE]\n\n' },
);

test('whatever an answer is made of, it says the same as where the library alone reads it', async () => {
	await using server = await ModelServer.start();
	const settings = server.provider({ type: 'openai-compatible' });
	await fc.assert(
		fc.asyncProperty(fc.array(PIECES, { maxLength: 8 }), fc.boolean(), async (pieces, isCutOff) => {
			const raw = pieces.map((each) => (each as { raw: string }).raw).join('');
			const answer = async () => new Response(raw + (isCutOff ? '' : END));
			const readAhead = (await loadLanguageModels(settings, answer))('small');
			const library = createOpenAICompatible({ name: settings.id, baseURL: settings.base_url, fetch: answer });
			const alone: LanguageModel = async (options, inbox) => {
				void passOn((await library.chatModel('small').doStream(options)).stream, inbox);
			};
			assert.deepEqual(await heard(readAhead), await heard(alone));
		}),
		{ numRuns: 400 },
	);
});

/** What a reader is told up to the first error or the end. */
async function heard(model: LanguageModel) {
	const inbox: AnswerInbox = new Inbox();
	const told = { text: '', calls: [] as string[], usage: [] as unknown[], end: '' };
	await model({ prompt: [], abortSignal: new AbortController().signal }, inbox);
	while (told.end === '') {
		const item = await inbox.next();
		if (item === null) told.end = 'broken off';
		else if (typeof item === 'string') told.text += item;
		else if (item.type === 'tool-call') told.calls.push(item.toolName);
		else if (item.type === 'error') told.end = 'error';
		else if (item.type === 'finish') {
			told.end = item.finishReason.unified;
			told.usage = [item.usage.inputTokens.total, item.usage.outputTokens.total];
		}
	}
	// What comes in the same piece as a fault may be told or not: a reader is told of the fault either way.
	return told;
}
