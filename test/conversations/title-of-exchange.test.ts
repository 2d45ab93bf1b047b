import assert from 'node:assert/strict';
import test from 'node:test';
import { createApiFixture, untilConversation } from '../api/fixture.ts';
import { startTestApp } from '../support/app.ts';
import { ManualModel } from './manual-model.ts';

test('takes the title of a conversation that starts without a word from the reply, once', async () => {
	const held = new ManualModel({
		autoReply: ({ question }) =>
			question.startsWith('Wait') || question.startsWith('?!') ? undefined : [`**Hello**, this is ${question}`],
	});
	await using app = await startTestApp({ overrides: { providers: [held.provider] } });
	const { deployment } = await createApiFixture(app, { model: 'scripted/any' });
	const send = (content: string, conversation_id?: string) =>
		app.call('POST', '/api/v1/messages', { deployment_id: deployment, content, conversation_id });
	const titleOf = async (id: string) => (await app.call('GET', `/api/v1/conversations/${id}`)).body.title;

	const waved = (await send('👋')).body.conversation_id;
	assert.equal(await titleOf(waved), 'Hello, this is 👋');
	const { body: log } = await app.call('GET', '/api/v1/events?types=conversation.updated');
	assert.deepEqual(
		log.data.map(({ data }: { data: { id: string; title: string } }) => [data.id, data.title]),
		[[waved, 'Hello, this is 👋']],
	);
	await send('Anna', waved);
	assert.equal(await titleOf(waved), 'Hello, this is 👋');

	const asked = (await send('Where is my order?')).body.conversation_id;
	assert.equal(await titleOf(asked), 'Where is my order?');

	const count = held.replies.length;
	const sending = send('?!');
	const reply = await held.reply(count);
	const named = await untilConversation(app, null);
	await app.call('PATCH', `/api/v1/conversations/${named.id}`, { title: 'By hand' });
	reply.say('Pardon?');
	reply.end();
	await sending;
	assert.equal(await titleOf(named.id), 'By hand');
});
