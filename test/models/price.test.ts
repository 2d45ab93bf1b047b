import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type ChatProvider, costOf, createModels, type ProviderSettings } from '../../src/models/index.ts';
import { ModelServer } from '../support/model-server.ts';
import { openProvider } from './fixtures/provider.ts';

const usage = (input_tokens: number, output_tokens: number) => ({ input_tokens, output_tokens });

/** The registry with one provider of these settings. */
async function modelsWith(more: Partial<ProviderSettings>) {
	await using server = await ModelServer.start();
	await using opened = openProvider(server.provider(more));
	return createModels({ providers: [opened.provider] });
}

test('a cost is exact and rounded up to the next micro', () => {
	const price = { input: 150_000, output: 600_000 };
	assert.equal(costOf(price, usage(0, 0)), 0);
	assert.equal(costOf(price, usage(1_000_000, 0)), 150_000);
	assert.equal(costOf(price, usage(1, 0)), 1, '0.15 micros');
	assert.equal(costOf(price, usage(20, 5)), 6, '3 and 3, without a remainder');
	assert.equal(costOf(price, usage(21, 5)), 7, '6.15 micros');
	assert.equal(costOf({ input: 0, output: 0 }, usage(1_000_000, 1_000_000)), 0);
});

test('a cost beyond the integers of a double is bounded, and one below them is exact', () => {
	const price = { input: 999_999_999_999, output: 0 };
	assert.equal(costOf(price, usage(9_000_000_000, 0)), 8_999_999_999_991_000);
	assert.equal(costOf(price, usage(Number.MAX_SAFE_INTEGER, 0)), Number.MAX_SAFE_INTEGER);
});

test('a model has its own price, else that of *, else none; the built-in model is free', async () => {
	const prices = new Map([
		['small', { input: 1, output: 2 }],
		['*', { input: 3, output: 4 }],
	]);
	const models = await modelsWith({ id: 'priced', prices });
	const priceOf = (name: string) => {
		const { input, output } = models.priceOf(name) ?? {};
		return [input, output];
	};
	assert.deepEqual(priceOf('priced/small'), [1, 2]);
	assert.deepEqual(priceOf('priced/org/large'), [3, 4]);
	assert.deepEqual(priceOf('builtin/extractive'), [0, 0]);
	assert.equal(models.priceOf('other/small'), null);
	assert.equal(models.priceOf('priced'), null);
	const named = await modelsWith({ id: 'named', prices: new Map([['small', { input: 1, output: 2 }]]) });
	assert.equal(named.priceOf('named/other'), null);
	const provider: ChatProvider = { id: 'unpriced', models: null, chat: { stream: async () => {} } };
	assert.equal(createModels({ providers: [provider] }).priceOf('unpriced/any'), null);
});

test('reserves the longest answer, and the context up to 16,000 tokens', async () => {
	const prices = new Map([['*', { input: 1_000_000, output: 1_000_000 }]]);
	const reservedBy = async (more: Partial<ProviderSettings>) =>
		(await modelsWith({ id: 'priced', prices, ...more })).priceOf('priced/any')?.reserved_micros;
	assert.equal(await reservedBy({ context_tokens: 128_000, max_output_tokens: 1_000 }), 17_000);
	assert.equal(await reservedBy({ context_tokens: 8_000, max_output_tokens: null }), 12_096);
	const limited = { name: 'any', description: null, context_tokens: 2_000, max_output_tokens: 50 };
	assert.equal(await reservedBy({ models: [limited] }), 2_050);
});
