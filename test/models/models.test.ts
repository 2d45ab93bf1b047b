import assert from 'node:assert/strict';
import { test } from 'node:test';
import { AppError } from '../../src/base/index.ts';
import { BUILTIN_MODEL, type ChatModel, type ChatProvider, createModels } from '../../src/models/index.ts';
import { passage } from '../support/passage.ts';
import { outcomeOf } from './fixtures/provider.ts';

const silent: ChatModel = { stream: async () => {} };
const remote: ChatProvider = { id: 'remote', chat: silent, models: null };

test('uses the built-in model without settings', () => {
	const models = createModels();
	assert.equal(models.defaultModel, BUILTIN_MODEL);
	const { id, name } = models.resolve(null);
	assert.deepEqual({ id, name }, { id: 'builtin/extractive', name: 'extractive' });
	assert.equal(models.resolve('builtin/extractive').model, models.resolve(null).model);
	assert.deepEqual(
		models.list().map((model) => [model.id, model.provider, model.default]),
		[['builtin/extractive', 'builtin', true]],
	);
});

test('quotes the passages with the built-in model and reports no usage', async () => {
	const { model, name } = createModels().resolve(null);
	const passages = [passage('Salaries are paid on the 25th of each month.')];
	const { events, text } = await outcomeOf(model, {
		model: name,
		question: 'When are salaries paid?',
		passages,
		confidence: 0.6,
	});
	assert.match(text, /25th of each month.*\[1\]/);
	assert.deepEqual(new Set(events.map((event) => event.type)), new Set(['delta']));
});

test('finds a model by its provider, the first slash and its name there', () => {
	const models = createModels({ defaultModel: 'remote/meta/llama-3', providers: [remote] });
	const { id, name, model } = models.resolve('remote/org/name:7b');
	assert.deepEqual({ id, name }, { id: 'remote/org/name:7b', name: 'org/name:7b' });
	assert.equal(model, silent);
	assert.equal(models.resolve(null).name, 'meta/llama-3');
	assert.deepEqual(
		models.list().map((listed) => [listed.id, listed.name, listed.default]),
		[
			['builtin/extractive', 'extractive', false],
			['remote/*', null, true],
		],
	);
});

test('refuses a model that is not configured with a sentence that lists the configured ones', () => {
	const models = createModels({ providers: [remote] });
	const wrong = [
		'builtin/other',
		'builtin',
		'builtin/',
		'/extractive',
		'',
		'openai/gpt',
		'constructor/x',
		'x'.repeat(9_999),
	];
	for (const name of wrong) {
		assert.throws(
			() => models.resolve(name),
			(error) => {
				assert.ok(error instanceof AppError);
				assert.equal(error.code, 'unknown_model');
				assert.match(error.message, /Configured: builtin\/extractive, remote\/\*\./);
				assert.ok(error.message.length < 300);
				return true;
			},
		);
	}
});

test('refuses a default model that is not configured', () => {
	assert.throws(() => createModels({ defaultModel: 'openai/gpt' }), { code: 'unknown_model' });
});

test('refuses two providers with one id, and an id with a slash', () => {
	assert.throws(() => createModels({ providers: [remote, remote] }), /Two model providers are called 'remote'/);
	assert.throws(() => createModels({ providers: [{ ...remote, id: 'a/b' }] }), /without a slash/);
});
