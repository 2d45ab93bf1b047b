import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import type { ChatMessage, CompletedRound } from '../../src/models/index.ts';
import { maxMinFairShare } from '../../src/models/providers/max-min-fair-share.ts';
import { composePrompt } from '../../src/models/providers/prompt.ts';
import { firstTokens, tokensOf } from '../../src/models/providers/tokens.ts';
import { passage } from '../support/passage.ts';
import { blockOf, compose, LIMITS } from './fixtures/prompt.ts';
import { chatRequest } from './fixtures/provider.ts';

const turns = (count: number, words = 1): ChatMessage[] =>
	Array.from({ length: count }, (_, at): ChatMessage[] => [
		{ role: 'user', content: `Question ${at}. ${'word '.repeat(words)}` },
		{ role: 'assistant', content: `Answer ${at}.` },
	]).flat();

test('cuts the history by whole exchanges, keeps the newest and begins with a question', () => {
	for (const context_tokens of [1_500, 2_000, 3_000, 6_000]) {
		const { history } = compose({ history: turns(40, 100) }, { context_tokens });
		assert.equal(history.length % 2, 0);
		assert.deepEqual(
			history.map(([role]) => role),
			history.map((_, at) => (at % 2 === 0 ? 'user' : 'assistant')),
		);
		const first = 40 - history.length / 2;
		assert.ok(first > 0, 'it is more than fits');
		for (const [at, [, text]] of history.entries()) assert.ok(text.includes(` ${first + Math.floor(at / 2)}.`), text);
	}
	assert.equal(compose({ history: turns(40) }).history.length, 80, 'all of it where it fits');
});

test('leaves the limit of a reservation, and says how many tokens the prompt has at most', () => {
	const reserved_tokens = { input_tokens: 2_000, output_tokens: 100 };
	const request = { history: turns(40, 100), passages: [passage('word '.repeat(300))], reserved_tokens };
	const { tokens } = composePrompt(chatRequest(request), { ...LIMITS, context_tokens: 32_000 });
	assert.ok(tokens !== null && tokens <= 2_000, `${tokens} tokens`);
	assert.ok(compose(request).tokens <= tokens, 'all texts are counted');
	assert.equal(
		composePrompt(chatRequest({ history: turns(40) }), LIMITS).tokens,
		null,
		'counted only for a reservation',
	);
});

test('omits an exchange that is too long and those before it, never half of an exchange', () => {
	const long: ChatMessage[] = [
		{ role: 'user', content: 'Long?' },
		{ role: 'assistant', content: 'word '.repeat(50_000) },
	];
	const { history } = compose({ history: [...turns(2), ...long, ...turns(1)] }, { context_tokens: 8_000 });
	assert.deepEqual(
		history.map(([, text]) => text.trim()),
		['Question 0. word', 'Answer 0.'],
	);
});

test('alternates roles by joining questions without an answer with the next question', () => {
	const history: ChatMessage[] = [
		{ role: 'assistant', content: 'A greeting without a question.' },
		{ role: 'user', content: 'One?' },
		{ role: 'user', content: 'Two?' },
		{ role: 'assistant', content: 'Two.' },
		{ role: 'assistant', content: 'And more.' },
		{ role: 'user', content: 'Three?' },
	];
	const { history: kept, asked } = compose({ history, question: 'Four?' });
	assert.deepEqual(kept, [
		['user', 'One?\n\nTwo?'],
		['assistant', 'Two.\n\nAnd more.'],
	]);
	assert.equal(asked, 'Three?\n\nFour?');
});

test('omits history before passages', () => {
	const passages = Array.from({ length: 10 }, (_, at) => passage('word '.repeat(200), { index: at + 1 }));
	const wide = compose({ passages, history: turns(3) });
	assert.deepEqual([wide.asked.match(/^\[\d+\] /gm)?.length, wide.history.length], [10, 6]);
	const narrow = compose({ passages, history: turns(60, 100) }, { context_tokens: 8_000 });
	assert.equal(narrow.asked.match(/^\[\d+\] /gm)?.length, 10);
	assert.ok(narrow.history.length < 30);
	const tight = compose({ passages, history: turns(3) }, { context_tokens: 3_000 });
	const numbers = [...tight.asked.matchAll(/^\[(\d+)\] /gm)].map((match) => Number(match[1]));
	assert.ok(numbers.length > 0 && numbers.length < 10);
	assert.deepEqual(
		numbers,
		numbers.map((_, at) => at + 1),
		'the best are kept',
	);
});

test('gives the beginning of a passage that is longer than the model reads', () => {
	const { asked } = compose(
		{ passages: [passage(`${'start '.repeat(10)}${'word '.repeat(20_000)}`)] },
		{ context_tokens: 4_000 },
	);
	assert.ok(blockOf(asked)?.[1]?.startsWith('> start start'));
});

const step = (...results: string[]): CompletedRound => ({
	text: 'Let me see.',
	calls: results.map((result, at) => ({
		id: `call_${at}`,
		name: 'weather',
		arguments: { at },
		result,
		is_error: false,
	})),
});

const toolOf = (name: string, chars: number) => ({
	name,
	description: 'word '.repeat(chars / 5),
	parameters: { type: 'object' },
});

test('gives tools half of the tokens at most, and skips tools that do not fit', () => {
	const tools = [toolOf('first', 100), toolOf('huge', 20_000), toolOf('second', 100)];
	const { tools: offered, omittedTools } = composePrompt(chatRequest({ tools }), { ...LIMITS, context_tokens: 8_192 });
	assert.deepEqual([offered.map(({ name }) => name), omittedTools], [['first', 'second'], ['huge']]);
	const all = composePrompt(chatRequest({ tools }), LIMITS);
	assert.deepEqual([all.tools.length, all.omittedTools], [3, []]);
	const many = Array.from({ length: 100 }, (_, at) => toolOf(`tool_${at}`, 500));
	const history = turns(10);
	const some = composePrompt(chatRequest({ tools: many, history }), { ...LIMITS, context_tokens: 8_192 });
	assert.deepEqual(
		some.tools.map(({ name }) => name),
		many.slice(0, some.tools.length).map(({ name }) => name),
		'the first ones are kept',
	);
	assert.ok(some.tools.length > 5 && some.omittedTools.length === 100 - some.tools.length);
	assert.ok(tokensOf(JSON.stringify(some.tools)) < 4_000, 'there is room for what else is to be read');
});

test('reports the numbers of the passages in the prompt', () => {
	const passages = Array.from({ length: 10 }, (_, at) => passage('word '.repeat(200), { index: at + 1 }));
	const all = composePrompt(chatRequest({ passages }), LIMITS).passages;
	assert.deepEqual(all, [1, 2, 3, 4, 5, 6, 7, 8, 9, 10]);
	const some = composePrompt(chatRequest({ passages }), { ...LIMITS, context_tokens: 3_000 }).passages;
	assert.deepEqual(some, all.slice(0, some.length));
	assert.ok(some.length > 0 && some.length < 10);
	const [cut] = [passage('word '.repeat(20_000), { index: 7 })];
	assert.deepEqual(composePrompt(chatRequest({ passages: [cut] }), { ...LIMITS, context_tokens: 4_000 }).passages, [7]);
});

test('cuts the longest results of tools, and marks the cut', () => {
	const long = 'word '.repeat(10_000);
	const { rounds } = compose({ rounds: [step('Short.', long), step(long)] }, { context_tokens: 8_000 });
	const text = JSON.stringify(rounds);
	assert.match(text, /"Short\."/);
	assert.equal(text.match(/The rest is left out/g)?.length, 2);
	assert.equal(rounds.length, 4, 'every round and every call stays');
});

test('never sends more than the model reads', () => {
	const words = fc.integer({ min: 0, max: 3_000 }).map((count) => 'word '.repeat(count));
	const asian = fc.integer({ min: 0, max: 1_000 }).map((count) => '漢字。'.repeat(count));
	const text = fc.oneof(words, asian);
	const request = fc.record({
		history: fc.array(fc.record({ role: fc.constantFrom('user' as const, 'assistant' as const), content: text }), {
			maxLength: 20,
		}),
		passages: fc.array(
			text.map((content) => passage(content)),
			{ maxLength: 20 },
		),
		steps: fc.array(
			fc.array(text, { minLength: 1, maxLength: 4 }).map((results) => step(...results)),
			{ maxLength: 4 },
		),
	});
	fc.assert(
		fc.property(request, fc.integer({ min: 2_500, max: 20_000 }), (given, context_tokens) => {
			const { tokens } = compose(given, { context_tokens });
			const input = context_tokens - Math.min(4_096, Math.floor(context_tokens / 4));
			assert.ok(tokens <= input, `${tokens} of ${input}`);
		}),
		{ numRuns: 200 },
	);
});

test('reserves the limit of the answer, at most half of the context', () => {
	const history = turns(400, 40);
	const sent = (max_output_tokens: number | null) =>
		composePrompt(chatRequest({ history }), { context_tokens: 10_000, max_output_tokens }).prompt.length;
	assert.ok(sent(100) > sent(2_000));
	assert.ok(sent(2_000) > sent(4_900));
	assert.equal(sent(9_999), sent(5_000));
});

test('cuts a text to a number of tokens, and never within a character', () => {
	fc.assert(
		fc.property(fc.string({ unit: 'grapheme', maxLength: 200 }), fc.nat(100), (text, tokens) => {
			const cut = firstTokens(text, tokens);
			assert.ok(text.startsWith(cut) && tokensOf(cut) <= tokens);
			assert.ok(!/[\ud800-\udbff]$/.test(cut) || cut === text);
			if (tokensOf(text) <= tokens) assert.equal(cut, text);
		}),
	);
});

test('uses the whole room with the fair limit', () => {
	assert.equal(maxMinFairShare([1, 2, 3], 6), Number.POSITIVE_INFINITY);
	assert.equal(maxMinFairShare([10, 1, 10], 11), 5);
	assert.equal(maxMinFairShare([], 0), Number.POSITIVE_INFINITY);
	assert.equal(maxMinFairShare([5, 5], -3), 0);
	fc.assert(
		fc.property(fc.array(fc.nat(1_000), { maxLength: 20 }), fc.nat(5_000), (sizes, room) => {
			const bound = maxMinFairShare(sizes, room);
			const used = sizes.reduce((sum, size) => sum + Math.min(size, bound), 0);
			assert.ok(used <= room || bound === 0);
			if (bound !== Number.POSITIVE_INFINITY) assert.ok(used > room - sizes.length - 1);
		}),
	);
});
