import assert from 'node:assert/strict';
import test, { after } from 'node:test';
import { eventsSoFar, firstWorkspace, openStoreDirectly } from '../api/direct-store.ts';
import { createApiFixture, untilConversation } from '../api/fixture.ts';
import { ORIGIN, startTestApp } from '../support/app.ts';
import { eventsOf } from '../support/event-stream.ts';
import { until } from '../support/until.ts';
import { ManualModel } from './manual-model.ts';

const held = new ManualModel({
	autoReply: ({ question }) => (question.startsWith('Wait') ? undefined : ['Said the model.']),
});
const app = await startTestApp({ overrides: { providers: [held.provider] } });
after(() => app[Symbol.asyncDispose]());
const { deployment } = await createApiFixture(app, { model: 'scripted/any' });

const CONVERSATIONS = '/api/v1/conversations';

const send = (content: string, conversation_id?: string, more: object = {}, headers: Record<string, string> = {}) =>
	app.callAsVisitor(
		'POST',
		'/api/v1/widget/messages',
		{ deployment_id: deployment, content, ...(conversation_id ? { conversation_id } : {}), stream: false, ...more },
		headers,
	);
const takeOver = (id: string) => app.call('POST', `${CONVERSATIONS}/${id}/takeover`);
const say = (id: string, content: string, more: object = {}, headers: Record<string, string> = {}) =>
	app.call('POST', `${CONVERSATIONS}/${id}/messages`, { content, ...more }, headers);

async function talk(): Promise<string> {
	const { status, body } = await send('Hello?');
	assert.equal(status, 201, JSON.stringify(body));
	return body.conversation_id;
}

async function contentsOf(id: string): Promise<string[]> {
	const { body } = await app.call('GET', `${CONVERSATIONS}/${id}/messages`);
	return body.data.map(({ content }: { content: string }) => content);
}

test('a taken-over conversation keeps what the visitor says, and no model answers', async () => {
	const id = await talk();
	const taken = await takeOver(id);
	assert.deepEqual([taken.status, taken.body.handled_by], [200, 'human']);
	const asked = held.replies.length;
	const { status, body } = await send('Is anybody there?', id);
	assert.deepEqual([status, body.role, body.content], [201, 'user', 'Is anybody there?']);
	assert.deepEqual(body.user_message.id, body.id);
	assert.equal(held.replies.length, asked);
	assert.deepEqual(await contentsOf(id), ['Hello?', 'Said the model.', 'Is anybody there?']);
	assert.equal((await takeOver(id)).body.updated_at, (await takeOver(id)).body.updated_at, 'again is no change');
});

test('the visitor sees what a person says on the stream that they have open, and in the history', async () => {
	const id = await talk();
	const stream = await fetch(`${app.url}/api/v1/widget/conversations/${id}/events?deployment_id=${deployment}`, {
		headers: { origin: ORIGIN },
	});
	const events = eventsOf(stream);
	await takeOver(id);
	const said = await say(id, 'This is Kim. How can I help?', { name: 'Kim' });
	assert.deepEqual([said.status, said.body.role, said.body.author], [201, 'assistant', { type: 'human', name: 'Kim' }]);
	const taken = (await events.next()).value;
	assert.deepEqual([taken?.event, taken?.data.person], ['presence', { name: null, typing: false }]);
	const seen = [(await events.next()).value, (await events.next()).value];
	assert.deepEqual(
		seen.map((event) => [event?.event, event?.data.message.content, event?.data.message.author.name]),
		[
			['message.created', 'This is Kim. How can I help?', 'Kim'],
			['message.completed', 'This is Kim. How can I help?', 'Kim'],
		],
	);
	await events.return(undefined);
	const history = await app.callAsVisitor(
		'GET',
		`/api/v1/widget/conversations/${id}/messages?deployment_id=${deployment}`,
	);
	assert.equal(history.body.data.at(-1).author.type, 'human');
	assert.equal((await say(id, 'Still here.')).body.author.name, null, 'visitors do not see the name of a key');
});

test('taking over ends the reply that is being written, and only one of both answers', async () => {
	const asked = held.replies.length;
	const sending = send('Wait, model?');
	const reply = await held.reply(asked);
	reply.say('I was saying');
	const conversation = await untilConversation(app, 'Wait, model?');
	await until('the text is there', async () => {
		const stream = await fetch(`${app.url}${CONVERSATIONS}/${conversation.id}/events`, {
			headers: { authorization: `Bearer ${app.key}` },
		});
		for await (const { event } of eventsOf(stream)) if (event === 'message.delta') return true;
		return false;
	});
	const waiting = send('And Wait this?', conversation.id);
	await takeOver(conversation.id);
	reply.say(' something else');
	reply.end();
	const first = await sending;
	assert.deepEqual([first.status, first.body.status, first.body.content], [201, 'stopped', 'I was saying']);
	assert.equal(reply.signal.aborted, true);
	assert.equal((await waiting).body.role, 'user', 'what waited is kept for the person');
	assert.equal((await say(conversation.id, 'Me now.')).status, 201);
	assert.deepEqual(await contentsOf(conversation.id), ['Wait, model?', 'I was saying', 'And Wait this?', 'Me now.']);

	await using store = await openStoreDirectly(app);
	const log = (await eventsSoFar(store, await firstWorkspace(store))).filter(({ data }) =>
		JSON.stringify(data).includes(conversation.id),
	);
	assert.deepEqual(
		log.map(({ type }) => type),
		[
			'conversation.created',
			'message.created',
			'message.created',
			'conversation.updated',
			'message.created',
			'message.created',
		],
	);
});

test('given back, the model answers again, and knows what the person said', async () => {
	const id = await talk();
	await takeOver(id);
	await send('Can I talk to somebody?', id);
	await say(id, 'You are.');
	const released = await app.call('POST', `${CONVERSATIONS}/${id}/release`);
	assert.deepEqual([released.status, released.body.handled_by], [200, 'model']);
	const asked = held.replies.length;
	assert.equal((await send('Thanks!', id)).body.content, 'Said the model.');
	assert.deepEqual(
		(await held.reply(asked)).request.history.map(({ content }) => content),
		['Hello?', 'Said the model.', 'Can I talk to somebody?', 'You are.'],
	);
	assert.equal((await say(id, 'Me?')).body.error.code, 'conversation_not_taken_over');
});

test('what a person says is said once under an Idempotency-Key', async () => {
	const id = await talk();
	await takeOver(id);
	const key = { 'idempotency-key': 'said once' };
	const answers = await Promise.all([1, 2, 3].map(() => say(id, 'Once.', {}, key)));
	assert.equal(new Set(answers.map(({ body }) => body.id)).size, 1);
	assert.equal((await contentsOf(id)).filter((content) => content === 'Once.').length, 1);
});

test('a visitor’s message to a person is streamed as itself, and a repeat finds it again', async () => {
	const id = await talk();
	await takeOver(id);
	const stream = async () => {
		const response = await fetch(`${app.url}/api/v1/widget/messages`, {
			method: 'POST',
			headers: { origin: ORIGIN, 'content-type': 'application/json', 'idempotency-key': 'noted' },
			body: JSON.stringify({ deployment_id: deployment, content: 'Hello, Kim', conversation_id: id, stream: true }),
		});
		const events = [];
		for await (const { event, data } of eventsOf(response)) events.push([event, data.message.content]);
		return events;
	};
	assert.deepEqual(await stream(), [['message.created', 'Hello, Kim']]);
	assert.deepEqual(await stream(), [['message.created', 'Hello, Kim']]);
	assert.equal((await contentsOf(id)).filter((content) => content === 'Hello, Kim').length, 1);
});

test('an archived conversation takes nothing from a person, and an unknown one is a 404', async () => {
	const id = await talk();
	await takeOver(id);
	await app.call('DELETE', `${CONVERSATIONS}/${id}`);
	assert.equal((await say(id, 'Hm?')).body.error.code, 'conversation_archived');
	for (const action of ['takeover', 'release']) {
		assert.equal((await app.call('POST', `${CONVERSATIONS}/conv_unknown/${action}`)).status, 404);
	}
	assert.equal((await say('conv_unknown', 'Hm?')).status, 404);
});
