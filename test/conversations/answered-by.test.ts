import assert from 'node:assert/strict';
import test, { after } from 'node:test';
import { createApiFixture } from '../api/fixture.ts';
import { startTestApp } from '../support/app.ts';
import { ManualModel } from './manual-model.ts';

/** A model that says what the question tells it to say. */
const echo = new ManualModel({
	autoReply: ({ question }) => {
		if (question === 'fail') throw new Error('no answer');
		return [question.replace('say ', '')];
	},
});
const app = await startTestApp({ overrides: { providers: [echo.provider] } });
after(() => app[Symbol.asyncDispose]());

const texts = ['The Lumen kettle is made of steel and costs forty euros.'];

async function open(model: string, rag_settings: object = {}) {
	const { deployment, assistant } = await createApiFixture(app, { texts, model });
	const changed = await app.call('PATCH', `/api/v1/assistants/${assistant}`, { rag_settings });
	assert.equal(changed.status, 200);
	const send = (content: string, more: object = {}) =>
		app.call('POST', '/api/v1/messages', { deployment_id: deployment, content, ...more });
	return { send, ask: async (content: string) => (await send(content)).body.answered_by };
}

test('a reply says whether it answers from documents, or found nothing', async () => {
	const { ask } = await open('builtin/extractive');
	assert.equal(await ask('What is the Lumen kettle made of?'), 'documents');
	assert.equal(await ask('Do you deliver to Mars by rocket?'), 'none');
	assert.equal(await ask('Hello!'), 'model', 'a greeting needs no document');
});

test('a model that cites nothing has answered by itself, unless only documents may answer', async () => {
	const free = await open('scripted/any');
	assert.equal(await free.ask('say Steel. [1]'), 'documents');
	assert.equal(await free.ask('say Steel, I think.'), 'model');
	const bound = await open('scripted/any', { answer_policy: 'documents_only' });
	assert.equal(await bound.ask('say Steel, I think.'), 'none');
	assert.equal(await bound.ask('Thank you!'), 'model');
});

test('a failed reply has no answer, and what a person handles is answered by a human', async () => {
	const { send } = await open('scripted/any');
	assert.equal((await send('fail')).status, 500);
	const { body: reply } = await send('say Steel. [1]');
	const conversation = `/api/v1/conversations/${reply.conversation_id}`;
	const [, failed] = (await app.call('GET', '/api/v1/conversations?limit=2')).body.data;
	const { data: unanswered } = (await app.call('GET', `/api/v1/conversations/${failed.id}/messages`)).body;
	assert.deepEqual([unanswered[1].status, unanswered[1].answered_by], ['failed', null]);
	await app.call('POST', `${conversation}/takeover`);
	await send('Is anybody there?', { conversation_id: reply.conversation_id });
	await app.call('POST', `${conversation}/messages`, { content: 'Yes.' });
	const { data } = (await app.call('GET', `${conversation}/messages`)).body;
	assert.deepEqual(
		data.map(({ role, answered_by }: { role: string; answered_by: string | null }) => [role, answered_by]),
		[
			['user', null],
			['assistant', 'documents'],
			['user', 'human'],
			['assistant', 'human'],
		],
	);
});
