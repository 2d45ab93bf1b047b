import assert from 'node:assert/strict';
import test from 'node:test';
import fc from 'fast-check';
import type { ProviderSettings } from '../../src/models/index.ts';
import { sdkReader } from './fixtures/ai-sdk.ts';
import {
	ANTHROPIC_MESSAGE,
	CHAT_COMPLETION,
	cutBytes,
	type Sent,
	WRITING,
	type Writing,
	written,
} from './fixtures/generated-streams.ts';
import { parleyReads, type Received } from './fixtures/received.ts';

const PROTOCOLS = [
	['openai-compatible', CHAT_COMPLETION],
	['anthropic', ANTHROPIC_MESSAGE],
] as const;

function settings(type: ProviderSettings['type']): ProviderSettings {
	return {
		id: 'stand-in',
		type,
		base_url: 'http://stand-in.invalid/v1',
		api_key: 'key',
		models: null,
		context_tokens: 32_000,
		max_output_tokens: null,
		first_token_timeout_ms: 1_000,
		idle_timeout_ms: 1_000,
		temperature: null,
		prices: new Map(),
	};
}

/** Replaces the ids that a reader made by one constant. */
function withoutMadeIds({ parts, ...others }: Received): Received {
	const ids = parts.flatMap(({ call }) => (call === undefined ? [] : [call]));
	assert.equal(new Set(ids).size, ids.length, 'ids are unique');
	const known = (id: string | null | undefined) => /^(call|toolu)_\d$/.test(String(id));
	return {
		...others,
		parts: parts.map((part) => (part.call === undefined || known(part.call) ? part : { ...part, call: 'made' })),
	};
}

const FLAT: Writing = { lineEnd: '\n', hasMark: false, isWide: false, hasBlank: true };
const WINDOWS: Writing = { lineEnd: '\r\n', hasMark: true, isWide: false, hasBlank: false };

for (const [type, streams] of PROTOCOLS) {
	const sdkReads = sdkReader(settings(type));

	test(`${type}: reads the same as the AI SDK in a generated stream, however it is written and split`, async () => {
		await fc.assert(
			fc.asyncProperty(streams, WRITING, fc.array(fc.nat(2_000), { maxLength: 8 }), async (stream, writing, places) => {
				const bytes = written(stream, writing);
				const expected = withoutMadeIds(await sdkReads(bytes));
				const read = withoutMadeIds(await parleyReads(type, cutBytes(bytes, places)));
				// Of a stream that breaks off before the name of a call, the SDK reports the call, and Parley the break.
				if (read.end === 'broken off' && expected.end === 'not the protocol') expected.end = read.end;
				assert.deepEqual(read, expected);
			}),
			{ numRuns: 200 },
		);
	});

	test(`${type}: reads the same in a stream that is split at any byte`, async () => {
		const stream = RECORDED[type];
		for (const writing of [FLAT, WINDOWS]) {
			const bytes = written(stream, writing);
			const expected = await sdkReads(bytes);
			assert.equal(expected.end, 'tool_calls');
			for (let at = 0; at <= bytes.length; at++) {
				assert.deepEqual(await parleyReads(type, cutBytes(bytes, [at])), expected, `cut at ${at}`);
			}
			const each = Array.from({ length: bytes.length }, (_, at) => at);
			assert.deepEqual(await parleyReads(type, cutBytes(bytes, each)), expected, 'cut at every byte');
		}
	});
}

const chunk = (delta: object, finish_reason: string | null = null) => ({
	data: {
		id: 'chatcmpl-1',
		object: 'chat.completion.chunk',
		created: 1,
		choices: [{ index: 0, delta, finish_reason }],
	},
});
const named = (type: string, more: object = {}) => ({ event: type, data: { type, ...more } });

/** Streams in the form of services. */
const RECORDED: Record<(typeof PROTOCOLS)[number][0], Sent[]> = {
	'openai-compatible': [
		': OPENROUTER PROCESSING\n\n',
		chunk({ role: 'assistant', content: '', reasoning_content: null }),
		chunk({ reasoning_content: 'Größe?' }),
		chunk({ content: '日本 ' }),
		chunk({ content: '👍 "✓"' }),
		chunk({ tool_calls: [{ index: 0, id: 'call_1', type: 'function', function: { name: 'weather', arguments: '' } }] }),
		chunk({ tool_calls: [{ index: 1, id: 'call_2', type: 'function', function: { name: 'clock', arguments: '' } }] }),
		chunk({ tool_calls: [{ index: 0, function: { arguments: '{"city":"Å' } }] }),
		chunk({ tool_calls: [{ index: 1, function: { arguments: '{}' } }] }),
		chunk({ tool_calls: [{ index: 0, function: { arguments: 'rhus"}' } }] }),
		chunk({}, 'tool_calls'),
		{ data: { id: 'chatcmpl-1', choices: [], usage: { prompt_tokens: 21, completion_tokens: 9, total_tokens: 30 } } },
		'data: [DONE]\n\n',
	],
	anthropic: [
		named('message_start', {
			message: {
				id: 'msg_1',
				type: 'message',
				role: 'assistant',
				content: [],
				usage: { input_tokens: 21, output_tokens: 1 },
			},
		}),
		named('ping'),
		named('content_block_start', { index: 0, content_block: { type: 'thinking', thinking: '', signature: '' } }),
		named('content_block_delta', { index: 0, delta: { type: 'thinking_delta', thinking: 'Größe?' } }),
		named('content_block_delta', { index: 0, delta: { type: 'signature_delta', signature: 'c2lnbmVk' } }),
		named('content_block_stop', { index: 0 }),
		named('content_block_start', { index: 1, content_block: { type: 'redacted_thinking', data: 'c2VjcmV0' } }),
		named('content_block_stop', { index: 1 }),
		named('content_block_start', { index: 2, content_block: { type: 'text', text: '' } }),
		named('content_block_delta', { index: 2, delta: { type: 'text_delta', text: '日本 👍 "✓"' } }),
		named('content_block_stop', { index: 2 }),
		named('content_block_start', {
			index: 3,
			content_block: { type: 'tool_use', id: 'toolu_1', name: 'weather', input: {} },
		}),
		named('content_block_delta', { index: 3, delta: { type: 'input_json_delta', partial_json: '' } }),
		named('content_block_delta', { index: 3, delta: { type: 'input_json_delta', partial_json: '{"city":"År' } }),
		named('content_block_delta', { index: 3, delta: { type: 'input_json_delta', partial_json: 'hus"}' } }),
		named('content_block_stop', { index: 3 }),
		named('message_delta', { delta: { stop_reason: 'tool_use', stop_sequence: null }, usage: { output_tokens: 9 } }),
		named('message_stop'),
	],
};
