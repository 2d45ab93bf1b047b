import assert from 'node:assert/strict';
import { test } from 'node:test';
import { deferred } from '../../src/base/index.ts';
import type { ModelEvent } from '../../src/models/index.ts';
import { eventsOfAnswer } from '../support/model-events.ts';
import { ModelServer } from '../support/model-server.ts';
import { chatRequest, openProvider, outcomeOf } from './fixtures/provider.ts';

const TYPES = ['openai-compatible', 'openai', 'anthropic'] as const;
const WEATHER = {
	name: 'weather',
	description: 'Tells the weather.',
	parameters: { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] },
};
const CLOCK = { name: 'clock', description: null, parameters: { type: 'object', properties: {} } };
const tools = [WEATHER, CLOCK];

for (const type of TYPES) {
	test(`${type}: yields text piece by piece, the length of the reasoning, and the usage at the end`, async () => {
		await using server = await ModelServer.start();
		await using provider = openProvider(server.provider({ type }));
		const heard = deferred<void>();
		server.enqueue([
			{ think: 'Hm.' },
			{ say: 'Good ' },
			{ wait: heard.promise },
			{ say: 'day ✓' },
			{ finish: 'stop', usage: { input: 21, output: 5 } },
		]);
		const events: ModelEvent[] = [];
		let reasoning = 0;
		for await (const event of eventsOfAnswer(provider.chat, chatRequest())) {
			if (event.type === 'unseen_output') reasoning += event.characters;
			else events.push(event);
			if (event.type === 'delta') heard.resolve();
		}
		assert.equal(reasoning, 'Hm.'.length);
		assert.deepEqual(events, [
			{ type: 'delta', text: 'Good ' },
			{ type: 'delta', text: 'day ✓' },
			{ type: 'usage', input_tokens: 21, output_tokens: 5 },
		]);
	});

	test(`${type}: yields whole tool calls in order, even from very small pieces`, async () => {
		await using server = await ModelServer.start();
		await using provider = openProvider(server.provider({ type }));
		server.enqueue([
			{ say: 'Let me see.' },
			{ call: { id: 'call_a', name: 'weather', arguments: { city: 'Århus "süd"' } }, pieces: 9 },
			{ call: { id: 'call_b', name: 'weather', arguments: { city: 'Rome' } }, pieces: 1 },
			{ call: { id: 'call_c', name: 'clock', arguments: '' } },
		]);
		const { events, text, error } = await outcomeOf(provider.chat, { tools });
		assert.equal(error, undefined);
		assert.equal(text, 'Let me see.');
		assert.deepEqual(
			events.filter((event) => event.type === 'tool_call'),
			[
				{ type: 'tool_call', id: 'call_a', name: 'weather', arguments: { city: 'Århus "süd"' } },
				{ type: 'tool_call', id: 'call_b', name: 'weather', arguments: { city: 'Rome' } },
				{ type: 'tool_call', id: 'call_c', name: 'clock', arguments: {} },
			],
		);
	});

	test(`${type}: yields arguments that are not JSON as their text`, async () => {
		await using server = await ModelServer.start();
		await using provider = openProvider(server.provider({ type }));
		server.enqueue([{ call: { id: 'call_a', name: 'weather', arguments: '{"city": "Ro' } }]);
		const { events, error } = await outcomeOf(provider.chat, { tools });
		assert.equal(error, undefined);
		assert.deepEqual(events[1], { type: 'tool_call', id: 'call_a', name: 'weather', arguments: '{"city": "Ro' });
	});

	test(`${type}: uses a free connection again for the next request`, async () => {
		await using server = await ModelServer.start();
		await using provider = openProvider(server.provider({ type }));
		for (let at = 0; at < 5; at++) assert.equal((await outcomeOf(provider.chat)).text, 'Hello.');
		assert.equal(server.calls.length, 5);
		assert.ok(server.connections <= 2, `${server.connections} connections`);
	});

	test(`${type}: keeps the texts of concurrent answers apart`, async () => {
		await using server = await ModelServer.start();
		await using provider = openProvider(server.provider({ type }));
		server.setDefault(({ body }) => {
			const number = /number (\d+)/.exec(JSON.stringify(body))?.[1] ?? '';
			return [{ say: 'It was ' }, { pause: 5 }, { say: number }];
		});
		const asked = Array.from({ length: 100 }, (_, number) =>
			outcomeOf(provider.chat, { question: `Which is number ${number}?` }),
		);
		const texts = (await Promise.all(asked)).map(({ text }) => text);
		assert.deepEqual(
			texts,
			asked.map((_, number) => `It was ${number}`),
		);
	});
}

test('sends the key, the model, the limits and the tools in the form of each protocol', async () => {
	await using server = await ModelServer.start();
	const settings = { max_output_tokens: 300, temperature: 0.5 };
	for (const type of TYPES) {
		await using provider = openProvider(server.provider({ type, ...settings }));
		await outcomeOf(provider.chat, { model: 'org/small:7b', instructions: 'You sell kettles.', tools });
	}
	const [compatible, openai, anthropic] = server.calls;
	const parameters = WEATHER.parameters;
	const key = server.provider().api_key;
	for (const call of [compatible, openai]) {
		assert.equal(call?.headers.authorization, `Bearer ${key}`);
		const { model, stream, temperature, tools: given, messages } = call?.body ?? {};
		assert.deepEqual([model, stream, temperature], ['org/small:7b', true, 0.5]);
		assert.deepEqual(given[0].function, { name: 'weather', description: 'Tells the weather.', parameters });
		assert.match(messages[0].content, /^You sell kettles\.\n\n# Rules/);
		assert.deepEqual(messages[1], { role: 'user', content: 'How are you?' });
	}
	assert.deepEqual([compatible?.body.max_tokens, compatible?.body.max_completion_tokens], [300, undefined]);
	assert.deepEqual([openai?.body.max_tokens, openai?.body.max_completion_tokens], [undefined, 300]);
	assert.deepEqual([anthropic?.headers['x-api-key'], anthropic?.headers.authorization], [key, undefined]);
	assert.deepEqual([anthropic?.body.max_tokens, anthropic?.body.temperature], [300, 0.5]);
	assert.equal(anthropic?.body.tools[0].name, 'weather');
	assert.deepEqual(anthropic?.body.tools[0].input_schema, parameters);
});

test('sends no key to a service that needs none', async () => {
	await using server = await ModelServer.start();
	await using provider = openProvider(server.provider({ api_key: null }));
	assert.equal((await outcomeOf(provider.chat)).text, 'Hello.');
	assert.equal(server.calls[0]?.headers.authorization, undefined);
});

const STEPS = [
	{
		text: 'Let me see.',
		calls: [
			{ id: 'call_a', name: 'weather', arguments: { city: 'Rome' }, result: 'Sunny', is_error: false },
			{ id: 'call_b', name: 'weather', arguments: '{"ci', result: 'The arguments are not JSON.', is_error: true },
		],
	},
];

test('sends finished rounds back as messages with their calls and results', async () => {
	await using server = await ModelServer.start();
	await using compatible = openProvider(server.provider());
	await using anthropic = openProvider(server.provider({ type: 'anthropic' }));
	for (const { chat } of [compatible, anthropic]) await outcomeOf(chat, { tools, rounds: STEPS });
	const [first, second] = server.calls;
	assert.deepEqual(first?.body.messages.slice(2), [
		{
			role: 'assistant',
			content: 'Let me see.',
			tool_calls: [
				{ id: 'call_a', type: 'function', function: { name: 'weather', arguments: '{"city":"Rome"}' } },
				{ id: 'call_b', type: 'function', function: { name: 'weather', arguments: '{"not_an_object":"{\\"ci"}' } },
			],
		},
		{ role: 'tool', tool_call_id: 'call_a', content: 'Sunny' },
		{ role: 'tool', tool_call_id: 'call_b', content: 'The arguments are not JSON.' },
	]);
	const [, assistant, user] = second?.body.messages ?? [];
	assert.deepEqual(
		assistant.content.map((block: { type: string }) => block.type),
		['text', 'tool_use', 'tool_use'],
	);
	assert.deepEqual(assistant.content[1].input, { city: 'Rome' });
	assert.deepEqual(
		user.content.map(({ type, tool_use_id, is_error }: Record<string, unknown>) => [
			type,
			tool_use_id,
			is_error ?? false,
		]),
		[
			['tool_result', 'call_a', false],
			['tool_result', 'call_b', true],
		],
	);
});

test('sends a round that an earlier version stored back with its signatures', async () => {
	await using server = await ModelServer.start();
	await using compatible = openProvider(server.provider());
	await using anthropic = openProvider(server.provider({ type: 'anthropic' }));
	const [step] = STEPS as [(typeof STEPS)[number]];
	const signed = [
		{ type: 'reasoning', text: 'Hm.', metadata: { anthropic: { signature: 'c2lnbmVk' } } },
		{ type: 'reasoning', text: '', metadata: { anthropic: { redactedData: 'c2VjcmV0' } } },
		{ type: 'call', metadata: null },
		{ type: 'call', metadata: null },
	];
	await outcomeOf(anthropic.chat, { tools, rounds: [{ ...step, memory: signed }] });
	assert.deepEqual(server.calls[0]?.body.messages[1].content.slice(0, 2), [
		{ type: 'thinking', thinking: 'Hm.', signature: 'c2lnbmVk' },
		{ type: 'redacted_thinking', data: 'c2VjcmV0' },
	]);
	const plain = [
		{ type: 'reasoning', text: 'Hm.', metadata: null },
		{ type: 'text', text: 'Let me see.' },
		{ type: 'call', metadata: { 'stand-in': { thoughtSignature: 'c2lnbmVk' } } },
		{ type: 'call', metadata: null },
	];
	await outcomeOf(compatible.chat, { tools, rounds: [{ ...step, memory: plain }] });
	const { reasoning_content, tool_calls } = server.calls[1]?.body.messages[2] ?? {};
	assert.equal(reasoning_content, 'Hm.');
	assert.deepEqual(tool_calls[0].extra_content, { google: { thought_signature: 'c2lnbmVk' } });
	assert.equal(tool_calls[1].extra_content, undefined);
});

test('forbids further calls in the form of each protocol, and drops calls that the model makes anyway', async () => {
	await using server = await ModelServer.start();
	await using compatible = openProvider(server.provider());
	await using anthropic = openProvider(server.provider({ type: 'anthropic' }));
	const again = { call: { id: 'call_c', name: 'weather', arguments: { city: 'Oslo' } } };
	for (const { chat } of [compatible, anthropic]) {
		server.enqueue([{ say: 'Sunny.' }, again], [again]);
		const { events, error } = await outcomeOf(chat, { rounds: STEPS });
		assert.deepEqual([error, events.map(({ type }) => type)], [undefined, ['delta', 'usage']]);
		const silent = await outcomeOf(chat, { rounds: [{ ...(STEPS[0] as (typeof STEPS)[0]), text: '' }] });
		assert.match(String(silent.error), /asked for tools that it was not given/);
	}
	assert.equal(server.calls[0]?.body.tools, undefined);
	assert.deepEqual(
		server.calls[2]?.body.tools.map(({ name }: { name: string }) => name),
		['weather'],
		'this protocol has no calls without their tools',
	);
	assert.deepEqual(server.calls[2]?.body.tool_choice, { type: 'none' });
});

test('accepts an empty answer after a round with text', async () => {
	await using server = await ModelServer.start();
	await using provider = openProvider(server.provider({ type: 'anthropic' }));
	server.setDefault([{ finish: 'stop' }]);
	const { events, error } = await outcomeOf(provider.chat, { tools, rounds: STEPS });
	assert.deepEqual([error, events.length], [undefined, 1]);
	assert.match(String((await outcomeOf(provider.chat)).error), /The model gave an empty answer/);
});
