import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { ChatModel, ChatProvider } from '../../src/models/index.ts';
import { startTestApp } from '../support/app.ts';
import { addKey, firstWorkspace, openStoreDirectly } from './direct-store.ts';

const MODELS = '/api/v1/models';
const silent: ChatModel = { stream: async () => {} };

test('a server without settings lists only the built-in model', async () => {
	await using app = await startTestApp();
	const { status, body } = await app.call('GET', MODELS);
	assert.equal(status, 200);
	const [{ description, ...model }] = body.data;
	const listed = { id: 'builtin/extractive', provider: 'builtin', name: 'extractive' };
	assert.deepEqual(model, { ...listed, context_tokens: null, default: true });
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
