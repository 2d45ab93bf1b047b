import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { ChatModel, ChatProvider, ModelPrice } from '../../src/models/index.ts';
import { startTestApp } from '../support/app.ts';
import { addKey, firstWorkspace, openStoreDirectly } from './direct-store.ts';

const MODELS = '/api/v1/models';
const FREE = { input_micros: 0, output_micros: 0, currency: 'USD' };
const silent: ChatModel = { stream: async () => {} };

test('a server without settings lists only the built-in model', async () => {
	await using app = await startTestApp();
	const { status, body } = await app.call('GET', MODELS);
	assert.equal(status, 200);
	const [{ description, ...model }] = body.data;
	const listed = { id: 'builtin/extractive', provider: 'builtin', name: 'extractive' };
	assert.deepEqual(model, { ...listed, context_tokens: null, price: FREE, default: true });
	assert.match(description, /^\S.*\.$/);
	assert.deepEqual([body.data.length, body.next_cursor], [1, null]);
});

test('lists the configured models, and an assistant accepts each listed name', async () => {
	const providers: ChatProvider[] = [
		{
			id: 'listed',
			chat: silent,
			models: [
				{ name: 'org/small', description: 'Small.' },
				{ name: 'large', description: 'Large.' },
			],
		},
		{ id: 'open', chat: silent, models: null },
	];
	await using app = await startTestApp({ settings: { default_model: 'listed/large' }, overrides: { providers } });
	const { body } = await app.call('GET', MODELS);
	assert.deepEqual(
		body.data.map((model: Record<string, unknown>) => [model.id, model.provider, model.name, model.default]),
		[
			['builtin/extractive', 'builtin', 'extractive', false],
			['listed/org/small', 'listed', 'org/small', false],
			['listed/large', 'listed', 'large', true],
			['open/*', 'open', null, false],
		],
	);
	for (const { id } of body.data) {
		const model = id.replace('*', 'any-name');
		const { status, body: assistant } = await app.call('POST', '/api/v1/assistants', { name: 'Guide', model });
		assert.deepEqual([status, assistant.model], [201, model]);
	}
	const { body: assistant } = await app.call('POST', '/api/v1/assistants', { name: 'Guide' });
	assert.equal(assistant.model, body.data.find((model: { default: boolean }) => model.default).id);
});

test('lists prices in the currency of the server, and the names that have prices of their own', async () => {
	const prices: Record<string, { input: number; output: number }> = {
		small: { input: 150_000, output: 600_000 },
		'*': { input: 2_500_000, output: 10_000_000 },
	};
	const priced = (id: string, more: Partial<ChatProvider>): ChatProvider => ({
		...{ id, chat: silent, models: null },
		priceOf: (name) => ({ ...(prices[name] ?? prices['*']), reserved_micros: 1 }) as ModelPrice,
		...more,
	});
	const providers: ChatProvider[] = [
		priced('open', { pricedModels: ['small'] }),
		priced('listed', { models: [{ name: 'small', description: 'Small.' }], pricedModels: ['other'] }),
		{ id: 'unpriced', chat: silent, models: null },
	];
	const settings = { default_model: 'open/small', currency: 'EUR' };
	await using app = await startTestApp({ settings, overrides: { providers } });
	const { body } = await app.call('GET', MODELS);
	const small = { input_micros: 150_000, output_micros: 600_000, currency: 'EUR' };
	assert.deepEqual(
		body.data.map((model: Record<string, unknown>) => [model.id, model.name, model.price, model.default]),
		[
			['builtin/extractive', 'extractive', { ...FREE, currency: 'EUR' }, false],
			['open/small', 'small', small, true],
			['open/*', null, { input_micros: 2_500_000, output_micros: 10_000_000, currency: 'EUR' }, false],
			['listed/small', 'small', small, false],
			['unpriced/*', null, null, false],
		],
	);
});

test('any key may read the models, and nothing is shown without a key', async () => {
	await using app = await startTestApp();
	await using store = await openStoreDirectly(app);
	const key = await addKey(store, await firstWorkspace(store), ['deployments:read']);
	const { status } = await app.call('GET', MODELS, undefined, { authorization: `Bearer ${key}` });
	assert.equal(status, 200);
	const nobody = await fetch(app.url + MODELS);
	assert.equal(nobody.status, 401);
	const unknown = await app.call('GET', `${MODELS}?provider=builtin`);
	assert.deepEqual([unknown.status, unknown.body.error.details[0].path], [400, '/provider']);
});
