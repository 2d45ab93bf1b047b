import assert from 'node:assert/strict';
import test from 'node:test';
import { ModelServer, type ModelStep } from '../support/model-server.ts';
import { openProvider, outcomeOf } from './fixtures/provider.ts';

const WEATHER = { name: 'weather', description: null, parameters: { type: 'object', properties: {} } };

function event(type: string, more: object = {}): ModelStep {
	return { raw: `event: ${type}\ndata: ${JSON.stringify({ type, ...more })}\n\n` };
}
const start = (id = 'msg_1') =>
	event('message_start', { message: { id, usage: { input_tokens: 5, output_tokens: 1 } } });
const block = (index: number, content_block: object) => event('content_block_start', { index, content_block });
const delta = (index: number, content: object) => event('content_block_delta', { index, delta: content });
const text = (words: string) => delta(0, { type: 'text_delta', text: words });
const stop = (stop_reason = 'end_turn') => [
	event('message_delta', { delta: { stop_reason }, usage: { output_tokens: 2 } }),
	event('message_stop'),
	{ end: true as const },
];

/** The outcome of an answer with these events. */
async function answered(...script: ModelStep[]) {
	await using server = await ModelServer.start();
	await using provider = openProvider(server.provider({ type: 'anthropic' }));
	server.setDefault(script);
	const outcome = await outcomeOf(provider.chat, { tools: [WEATHER] });
	return { ...outcome, asked: server.calls.length };
}

test('ignores unknown types of events, blocks and deltas', async () => {
	const {
		text: said,
		error,
		events,
	} = await answered(
		start(),
		event('progress', { percent: 5 }),
		block(0, { type: 'text', text: '' }),
		text('a'),
		delta(0, { type: 'mood_delta', mood: 'good' }),
		block(1, { type: 'picture', url: 'data:' }),
		delta(1, { type: 'picture_delta', bytes: '' }),
		event('content_block_stop', { index: 1 }),
		text('b'),
		...stop(),
	);
	assert.deepEqual([said, error], ['ab', undefined]);
	assert.deepEqual(events.at(-1), { type: 'usage', input_tokens: 5, output_tokens: 2 });
});

test('accepts a call whose arguments are complete at its start', async () => {
	const { events } = await answered(
		start(),
		block(0, { type: 'tool_use', id: 'toolu_1', name: 'weather', input: { city: 'Rome' } }),
		event('content_block_stop', { index: 0 }),
		...stop('tool_use'),
	);
	assert.deepEqual(events[1], { type: 'tool_call', id: 'toolu_1', name: 'weather', arguments: { city: 'Rome' } });
});

test('drops a call whose block does not end', async () => {
	const { events, error } = await answered(
		start(),
		block(0, { type: 'tool_use', id: 'toolu_1', name: 'weather', input: {} }),
		delta(0, { type: 'input_json_delta', partial_json: '{"city":' }),
		...stop('tool_use'),
	);
	assert.match(String(error), /The model gave an empty answer/);
	assert.ok(!events.some(({ type }) => type === 'tool_call'));
});

test('accepts a repeated beginning of the message, and ends the answer at the beginning of another', async () => {
	const repeated = await answered(start(), start(), text('a'), ...stop());
	assert.deepEqual([repeated.text, repeated.error], ['a', undefined]);
	const other = await answered(start(), text('a'), start('msg_2'), text('b'), ...stop());
	assert.equal(other.text, 'a');
	assert.match(String(other.error), /sent what is not part of its protocol/);
});

test('retries after an error of an unknown type before the answer, and ends an answer that has begun', async () => {
	const odd = event('error', { error: { type: 'odd', message: 'Odd.' } });
	const first = await answered(odd);
	assert.match(String(first.error), /failed with status 500/);
	assert.equal(first.asked, 3);
	const later = await answered(start(), text('a'), odd);
	assert.match(String(later.error), /reported an error/);
	assert.equal(later.asked, 1);
});

test('ends the answer at a refusal', async () => {
	const { text: said, error } = await answered(start(), text('a'), ...stop('refusal'));
	assert.equal(said, 'a');
	assert.match(String(error), /content filter ended the answer/);
});
