import assert from 'node:assert/strict';
import test from 'node:test';
import { EMAIL, PHONE, RedactionScenario } from './redaction-scenario.ts';

const TEXTS = ['The Fenwick clock costs forty euros.', 'The Fenwick lamp costs thirty euros.'];

test('the embedder of a provider gets placeholders, with either kind of model', async () => {
	for (const model of ['stand-in/small', 'builtin/extractive']) {
		await using server = await RedactionScenario.start({ texts: TEXTS, model, embedder: 'stand-in/first' });
		const documents = server.models.embeddings.calls.length;
		const long = `${'I write a long letter. '.repeat(42)}${EMAIL}, ${PHONE}`;
		const { conversation_id } = await server.send(long);
		await server.send('And what does it cost?', conversation_id);
		const inputs = server.models.embeddings.calls.slice(documents).flatMap(({ body }) => body.input);
		assert.ok(inputs.some((input) => input.includes('[EMAIL_1]')));
		assert.ok(inputs.some((input) => input.endsWith('And what does it cost?')));
		server.assertNoCanary();
	}
});

test('the built-in model and the built-in embedder get the values', async () => {
	const texts = [...TEXTS, `Customer ${EMAIL} gets the Fenwick chair. It costs ten euros.`];
	await using server = await RedactionScenario.start({ texts, model: 'builtin/extractive' });
	const { content } = await server.send(`What does the customer ${EMAIL} get?`);
	assert.match(content, /Fenwick chair/);
	assert.equal(server.models.calls.length, 0);
});

test('an assistant that redacts nothing gives the embedder the message itself', async () => {
	await using server = await RedactionScenario.start({ texts: TEXTS, embedder: 'stand-in/first', redaction: [] });
	await server.send(`Clock for ${EMAIL}`);
	const inputs = server.models.embeddings.calls.flatMap(({ body }) => body.input);
	assert.ok(inputs.includes(`Clock for ${EMAIL}`));
});
