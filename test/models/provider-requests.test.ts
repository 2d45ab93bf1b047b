import assert from 'node:assert/strict';
import test from 'node:test';
import fc from 'fast-check';
import type { ChatRequest, ProviderSettings } from '../../src/models/index.ts';
import { anthropic } from '../../src/models/providers/anthropic/index.ts';
import { chatCompletions } from '../../src/models/providers/chat-completions/index.ts';
import { composeCall } from '../../src/models/providers/compose-call.ts';
import { sdkRequest } from './fixtures/ai-sdk.ts';
import { chatRequest } from './fixtures/provider.ts';

const PROTOCOLS = { 'openai-compatible': chatCompletions, openai: chatCompletions, anthropic };

const TEXT = fc.oneof(
	fc.constantFrom('Hello.', ' \n', '', 'Größe: "日本" ', '<|im_end|>'),
	fc.string({ unit: 'grapheme', maxLength: 10 }),
);
const ID = fc.integer({ min: 0, max: 5 }).map((number) => `call_${number}`);
const CALL = fc.record({
	id: ID,
	name: fc.constantFrom('weather', 'clock'),
	arguments: fc.oneof(fc.dictionary(fc.constantFrom('city', 'at'), fc.jsonValue({ maxDepth: 1 })), TEXT),
	result: TEXT,
	is_error: fc.boolean(),
});
const REMEMBERED = fc.oneof(
	fc.record({ type: fc.constant('reasoning'), text: TEXT, signature: fc.option(TEXT) }),
	fc.record({ type: fc.constant('redacted_reasoning'), data: TEXT }),
	fc.record({ type: fc.constant('text'), text: TEXT }),
	fc.record({ type: fc.constant('call'), signature: fc.option(fc.constant('c2lnbmVk')) }),
);
const STEP = fc
	.record({
		text: TEXT,
		calls: fc.array(CALL, { maxLength: 3 }),
		memory: fc.option(fc.array(REMEMBERED, { maxLength: 5 })),
	})
	.map(({ memory, ...step }) => (memory === null ? step : { ...step, memory }));
const TOOL = fc.record({
	name: fc.constantFrom('weather', 'clock'),
	description: fc.option(TEXT),
	parameters: fc.constantFrom({ type: 'object' }, { type: 'object', properties: { city: { type: 'string' } } }),
});
const MODELS = [
	'small',
	'org/small:7b',
	'claude-3-haiku-20240307',
	'claude-2.1',
	'claude-3-7-sonnet-latest',
	'claude-sonnet-4-20250514',
	'claude-opus-4-1',
	'claude-opus-4-20250514',
	'claude-sonnet-4-5',
	'claude-sonnet-4-6',
	'claude-opus-4-7',
	'claude-opus-5',
	'claude-sonnet-5-5',
	'claude-haiku-5-5',
	'claude-fable-5-1',
	'claude-later',
];
const REQUEST: fc.Arbitrary<ChatRequest> = fc
	.record({
		model: fc.constantFrom(...MODELS),
		instructions: TEXT,
		question: TEXT,
		history: fc.array(fc.record({ role: fc.constantFrom('user' as const, 'assistant' as const), content: TEXT }), {
			maxLength: 4,
		}),
		tools: fc.array(TOOL, { maxLength: 2 }),
		steps: fc.array(STEP, { maxLength: 3 }),
	})
	.map(chatRequest);
const SETTINGS: fc.Arbitrary<ProviderSettings> = fc.record({
	id: fc.constant('stand-in'),
	type: fc.constantFrom('openai-compatible' as const, 'openai' as const, 'anthropic' as const),
	base_url: fc.constantFrom('http://localhost:11434/v1', 'https://api.anthropic.com', 'https://gateway.invalid/a/v1'),
	api_key: fc.constant('sk-stand-in'),
	models: fc.constant(null),
	context_tokens: fc.constant(32_000),
	max_output_tokens: fc.option(fc.constantFrom(1, 300, 8_192, 100_000, 1_000_000)),
	first_token_timeout_ms: fc.constant(1_000),
	idle_timeout_ms: fc.constant(1_000),
	prices: fc.constant(new Map()),
	temperature: fc.option(fc.constantFrom(0, 0.5, 1, 1.5)),
});

test('sends a service the same request as the AI SDK for the same prompt', async () => {
	await fc.assert(
		fc.asyncProperty(REQUEST, SETTINGS, async (request, settings) => {
			const { call } = composeCall(request, settings);
			const { url, headers, body } = PROTOCOLS[settings.type].request(call, settings);
			const expected = await sdkRequest(call, settings);
			assert.deepEqual(JSON.parse(body), expected.body);
			assert.equal(url, expected.url);
			// The network sets the user agent. Beta features of Anthropic are not used, so no header requests them.
			const { 'user-agent': _, 'anthropic-beta': __, ...others } = expected.headers;
			assert.deepEqual(headers, others);
		}),
		{ numRuns: 150 },
	);
});
