import assert from 'node:assert/strict';
import test from 'node:test';
import { AsyncDisposableStack } from '../../src/base/index.ts';
import { createApiFixture } from '../api/fixture.ts';
import { startTestApp } from '../support/app.ts';
import { ModelServer } from '../support/model-server.ts';

async function start() {
	await using resources = new AsyncDisposableStack();
	const models = resources.use(await ModelServer.start());
	const app = resources.use(await startTestApp({ settings: { providers: [models.provider()] } }));
	const texts = ['The Lumen kettle is made of steel and costs forty euros.'];
	const { deployment, assistant } = await createApiFixture(app, { texts, model: 'stand-in/small' });
	const configure = async (rag_settings: object, more: object = {}) => {
		const changed = await app.call('PATCH', `/api/v1/assistants/${assistant}`, { rag_settings, ...more });
		assert.equal(changed.status, 200, JSON.stringify(changed.body));
		return changed.body.rag_settings;
	};
	const send = async (content: string) => {
		const { status, body } = await app.call('POST', '/api/v1/messages', { deployment_id: deployment, content });
		assert.equal(status, 201, JSON.stringify(body));
		return body;
	};
	const owned = resources.move();
	return { models, configure, send, [Symbol.asyncDispose]: () => owned[Symbol.asyncDispose]() };
}

test('an assistant that answers from documents only refuses without a call of its model where nothing is found', async () => {
	await using server = await start();
	await server.configure({ answer_policy: 'documents_only', min_score: 0.999 });
	const refused = await server.send('Was kostet der Wasserkocher?');
	assert.deepEqual([refused.status, refused.citations, refused.model], ['completed', [], 'stand-in/small']);
	assert.match(refused.content, /Dokumenten.*keine Antwort/, 'in the language of the question');
	assert.match((await server.send('Hello!')).content, /^Hello!/);
	assert.equal(server.models.calls.length, 0);
	await server.configure({ min_score: 0 });
	assert.equal((await server.send('What is the Lumen kettle made of?')).content, 'Hello.');
	assert.equal(server.models.calls.length, 1);
});

test('each policy is the last rule of the system message', async () => {
	await using server = await start();
	assert.equal((await server.configure({ top_k: 3 })).answer_policy, 'prefer_documents');
	for (const [answer_policy, rule] of [
		['prefer_documents', /say so plainly instead of guessing\.$/],
		['documents_only', /never from general knowledge/],
		['open', /you may answer from general knowledge/],
	] as const) {
		assert.deepEqual(await server.configure({ answer_policy }), {
			top_k: 3,
			min_score: 0,
			min_confidence: null,
			answer_policy,
			query_rewrite: 'never',
		});
		await server.send('What is the Lumen kettle made of?');
		const [system] = server.models.calls.at(-1)?.body.messages ?? [];
		assert.match(system.content.split('\n').at(-1), rule);
	}
});

test('the built-in model answers only with the least probability that its assistant asks for', async () => {
	await using server = await start();
	const ask = async (min_confidence: number | null) => {
		await server.configure({ min_confidence }, { model: 'builtin/extractive' });
		return (await server.send('What is the Lumen kettle made of?')).citations.length;
	};
	assert.deepEqual([await ask(null), await ask(1), await ask(0), await ask(null)], [1, 0, 1, 1]);
});
