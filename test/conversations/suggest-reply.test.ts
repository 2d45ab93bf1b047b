import assert from 'node:assert/strict';
import test, { after } from 'node:test';
import { createApiFixture } from '../api/fixture.ts';
import { startTestApp } from '../support/app.ts';
import { ManualModel } from './manual-model.ts';

const held = new ManualModel({
	autoReply: ({ question }) => (question.startsWith('Fail') ? undefined : ['It is three years [1].']),
});
const app = await startTestApp({ overrides: { providers: [held.provider] } });
after(() => app[Symbol.asyncDispose]());
const { deployment } = await createApiFixture(app, {
	model: 'scripted/any',
	texts: ['The warranty of the kettle is three years.'],
	deployment: { features: { handoff: true } },
});

const suggest = (id: string) => app.call('POST', `/api/v1/conversations/${id}/suggest-reply`);
const send = (content: string, conversation_id?: string) =>
	app.call('POST', '/api/v1/messages', { deployment_id: deployment, content, conversation_id });

test('the assistant suggests a reply to the last message of the visitor, and nothing is stored', async () => {
	const { conversation_id: id } = (await send('Hello')).body;
	await app.call('POST', `/api/v1/conversations/${id}/takeover`);
	await send('How long is the warranty of the kettle?', id);
	await app.call('POST', `/api/v1/conversations/${id}/messages`, { content: 'One moment.' });
	const before = (await app.call('GET', `/api/v1/conversations/${id}/messages`)).body;
	const asked = held.replies.length;
	const { status, body } = await suggest(id);
	assert.deepEqual([status, body.content, body.model], [200, 'It is three years [1].', 'scripted/any']);
	assert.equal(body.citations[0].text, 'The warranty of the kettle is three years.');
	const { request } = await held.reply(asked);
	assert.equal(request.question, 'How long is the warranty of the kettle?');
	assert.deepEqual(request.tools, []);
	assert.deepEqual((await app.call('GET', `/api/v1/conversations/${id}/messages`)).body, before);
	const { data } = (await app.call('GET', '/api/v1/events?limit=100')).body;
	assert.equal(data.filter(({ type }: { type: string }) => type === 'message.created').length, before.data.length);
});

test('a model that fails is an error, and an unknown conversation is a 404', async () => {
	const { conversation_id: id } = (await send('Hello')).body;
	await app.call('POST', `/api/v1/conversations/${id}/takeover`);
	await send('Fail, please', id);
	const asked = held.replies.length;
	const suggesting = suggest(id);
	(await held.reply(asked)).fail(new Error('It failed.'));
	assert.equal((await suggesting).body.error.code, 'model_error');
	assert.equal((await suggest('conv_unknown')).status, 404);
});

test('a person or key gets a bounded number of suggestions a minute', async () => {
	const { conversation_id: id } = (await send('Hello')).body;
	const statuses = new Set<number>();
	for (let n = 0; n < 70; n++) statuses.add((await suggest(id)).status);
	assert.deepEqual([...statuses].sort(), [200, 429]);
});
