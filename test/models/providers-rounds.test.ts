import assert from 'node:assert/strict';
import test, { after } from 'node:test';
import type { ProviderSettings } from '../../src/models/index.ts';
import { FaultHarness } from '../conversations/faults/fault-harness.ts';
import { ToolServer } from '../conversations/faults/tool-server.ts';
import type { ModelScript } from '../support/model-server.ts';

const tools = await ToolServer.start();
const TYPES: ProviderSettings['type'][] = [
	'anthropic',
	'anthropic',
	'openai-compatible',
	'openai-compatible',
	'openai-compatible',
	'anthropic',
];
const bench = await FaultHarness.start(TYPES.map((type) => ({ type })));
after(async () => {
	await bench[Symbol.asyncDispose]();
	await tools[Symbol.asyncDispose]();
});

const CALL = { id: 'call_a', name: 'order', arguments: { path: '1' } };

/** Runs a reply in two rounds. @returns the message that sent the first round back to the provider */
async function reminderOf(first: ModelScript) {
	const scene = await bench.scenario();
	await tools.attach(bench.app, scene.assistant, scene.deployment);
	scene.model.enqueue(first, [{ say: 'Shipped.' }]);
	const { status, body } = await scene.send('whole', 'Where is my order?');
	assert.equal(status, 201, JSON.stringify(body));
	assert.equal(scene.model.calls.length, 2);
	const { messages } = scene.model.calls[1]?.body ?? {};
	return messages.find(({ role }: { role: string }) => role === 'assistant');
}

test('sends signed thinking back unchanged, in its position, with its calls', async () => {
	const { content } = await reminderOf([
		{ think: 'Which ' },
		{ think: 'order?', signature: 'c2lnbmVk' },
		{ say: 'Let me look.' },
		{ think: 'It is 1.', signature: 'YWdhaW4=' },
		{ call: CALL },
	]);
	assert.deepEqual(content, [
		{ type: 'thinking', thinking: 'Which order?', signature: 'c2lnbmVk' },
		{ type: 'text', text: 'Let me look.' },
		{ type: 'thinking', thinking: 'It is 1.', signature: 'YWdhaW4=' },
		{ type: 'tool_use', id: 'call_a', name: 'order', input: { path: '1' } },
	]);
});

test('sends encrypted thinking back too', async () => {
	const block = { type: 'redacted_thinking', data: 'c2VjcmV0' };
	const event = (type: string, more: object) => `event: ${type}\ndata: ${JSON.stringify({ type, ...more })}\n\n`;
	const usage = { input_tokens: 1, output_tokens: 1 };
	const { content } = await reminderOf([
		{
			raw: [
				event('message_start', {
					message: {
						id: 'msg_1',
						type: 'message',
						role: 'assistant',
						model: 'small',
						content: [],
						stop_reason: null,
						usage,
					},
				}),
				event('content_block_start', { index: 0, content_block: block }),
				event('content_block_stop', { index: 0 }),
				event('content_block_start', { index: 1, content_block: { type: 'tool_use', ...CALL, input: {} } }),
				event('content_block_delta', { index: 1, delta: { type: 'input_json_delta', partial_json: '{"path":"1"}' } }),
				event('content_block_stop', { index: 1 }),
				event('message_delta', { delta: { stop_reason: 'tool_use', stop_sequence: null }, usage }),
				event('message_stop', {}),
			].join(''),
		},
		{ end: true },
	]);
	assert.deepEqual(content, [block, { type: 'tool_use', id: 'call_a', name: 'order', input: { path: '1' } }]);
});

test('sends thinking from reasoning_content back under that name', async () => {
	const message = await reminderOf([{ think: 'Which ' }, { think: 'order?' }, { say: 'Let me look.' }, { call: CALL }]);
	assert.deepEqual([message.reasoning_content, message.content], ['Which order?', 'Let me look.']);
	assert.equal(message.tool_calls[0].id, 'call_a');
});

test('does not send thinking with another name back, because some services refuse it', async () => {
	const delta = { choices: [{ index: 0, delta: { reasoning: 'Which order?' } }] };
	const message = await reminderOf([
		{ raw: `data: ${JSON.stringify({ id: 'chatcmpl-1', ...delta })}\n\n` },
		{ call: CALL },
	]);
	assert.deepEqual(Object.keys(message).sort(), ['content', 'role', 'tool_calls']);
});

test('sends the signature of a call back with the call', async () => {
	const { tool_calls } = await reminderOf([{ call: CALL, signature: 'c2lnbmVk' }, { call: { ...CALL, id: 'call_b' } }]);
	assert.deepEqual(
		tool_calls.map(({ id, extra_content }: Record<string, unknown>) => [id, extra_content]),
		[
			['call_a', { google: { thought_signature: 'c2lnbmVk' } }],
			['call_b', undefined],
		],
	);
});

test('does not send thinking without a signature back to a provider that signs it', async () => {
	const { content } = await reminderOf([{ think: 'Which order?' }, { say: ' \n' }, { call: CALL }]);
	assert.deepEqual(content, [{ type: 'tool_use', id: 'call_a', name: 'order', input: { path: '1' } }]);
});
