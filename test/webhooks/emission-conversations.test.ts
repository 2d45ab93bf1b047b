import assert from 'node:assert/strict';
import test, { after } from 'node:test';
import { createApiFixture, createResource, untilConversation } from '../api/fixture.ts';
import { ManualModel } from '../conversations/manual-model.ts';
import { startTestApp } from '../support/app.ts';
import { recordEvents, typesAndIds } from './event-recorder.ts';
import { startReceiver } from './receiver.ts';

const held = new ManualModel({
	autoReply: ({ question }) => (question.startsWith('Wait') ? undefined : ['Said the model.']),
});
const app = await startTestApp({
	settings: { allow_private_network: true },
	overrides: { providers: [held.provider] },
});
const { deployment } = await createApiFixture(app, { model: 'scripted/any' });
const ears = await recordEvents(app);
after(async () => {
	await app[Symbol.asyncDispose]();
	await ears[Symbol.asyncDispose]();
});

const CONVERSATIONS = '/api/v1/conversations';

const send = (content: string, conversation_id?: string) =>
	app.call('POST', '/api/v1/messages', { deployment_id: deployment, content, conversation_id });
const visit = (content: string, conversation_id?: string) =>
	app.callAsVisitor('POST', '/api/v1/widget/messages', {
		deployment_id: deployment,
		content,
		stream: false,
		...(conversation_id ? { conversation_id } : {}),
	});
const messagesOf = async (id: string) => (await app.call('GET', `${CONVERSATIONS}/${id}/messages`)).body.data;

/** A conversation with one answered message. */
async function talk(): Promise<string> {
	const { status, body } = await send('Hello?');
	assert.equal(status, 201, JSON.stringify(body));
	return body.conversation_id;
}

for (const [who, by] of [
	['a client', send],
	['a visitor', visit],
] as const) {
	test(`a first message of ${who} emits the conversation, the message, and the reply when it has ended`, async () => {
		let id = '';
		const events = await ears.eventsFrom(async () => {
			id = (await by('Hello?')).body.conversation_id;
		});
		const [question, reply] = await messagesOf(id);
		assert.deepEqual(typesAndIds(events), [
			['conversation.created', id],
			['message.created', question.id],
			['message.created', reply.id],
		]);
		const { body: conversation } = await app.call('GET', `${CONVERSATIONS}/${id}`);
		const { data } = events[0] ?? assert.fail('nothing was told');
		const later = { last_message_at: conversation.last_message_at, updated_at: conversation.updated_at };
		assert.deepEqual({ ...data, ...later }, conversation);
		assert.equal(data.channel, by === visit ? 'widget' : 'api');
		assert.deepEqual(events[1]?.data, question, 'whole, as whoever has a key sees it');
		assert.deepEqual(events[2]?.data, reply);
		assert.deepEqual([reply.status, reply.content], ['completed', 'Said the model.']);

		const next = await ears.eventsFrom(() => by('And now?', id));
		const [, , second, answer] = await messagesOf(id);
		assert.deepEqual(
			next.map(({ type, data }) => [type, data]),
			[
				['message.created', second],
				['message.created', answer],
			],
		);
	});
}

test('emits a stopped or failed reply once, with its text so far', async () => {
	const ended = async (content: string, end: (id: string, index: number) => Promise<unknown>) => {
		const index = held.replies.length;
		const events = await ears.eventsFrom(async () => {
			const answer = send(content);
			const reply = await held.reply(index);
			reply.say('So far');
			const { id } = await untilConversation(app, content);
			await end(id, index);
			await answer;
		});
		const [question, reply] = await messagesOf(events[0]?.data.id);
		assert.deepEqual(
			events.map(({ type, data }) => [type, data.id]),
			[
				['conversation.created', question.conversation_id],
				['message.created', question.id],
				['message.created', reply.id],
			],
		);
		assert.deepEqual(events[2]?.data, reply);
		return reply;
	};
	const stopped = await ended('Wait for the stop', (id) => app.call('POST', `${CONVERSATIONS}/${id}/stop`));
	assert.equal(stopped.status, 'stopped');
	const failed = await ended('Wait for the failure', async (_id, index) => {
		(await held.reply(index)).fail(new Error('The model is gone.'));
	});
	assert.deepEqual([failed.status, failed.error.code], ['failed', 'model_error']);
});

test('emits a changed conversation as it is then, and nothing without a change', async () => {
	const id = await talk();
	const path = `${CONVERSATIONS}/${id}`;
	const changes: Array<[method: string, path: string, body: unknown, types: string[]]> = [
		['PATCH', path, { title: 'A talk' }, ['conversation.updated']],
		['PATCH', path, { metadata: { order: '4711' } }, ['conversation.updated']],
		['PATCH', path, {}, []],
		['PATCH', path, { status: 'active' }, []],
		['POST', `${path}/takeover`, undefined, ['conversation.updated']],
		['POST', `${path}/takeover`, undefined, []],
		['POST', `${path}/release`, undefined, ['conversation.updated']],
		['POST', `${path}/release`, undefined, []],
		['PATCH', path, { status: 'archived' }, ['conversation.updated', 'conversation.closed']],
		['PATCH', path, { status: 'archived' }, []],
		['DELETE', path, undefined, []],
		['PATCH', path, { status: 'active', title: null }, ['conversation.updated']],
		['DELETE', path, undefined, ['conversation.updated', 'conversation.closed']],
		['DELETE', path, undefined, []],
		['POST', `${path}/stop`, undefined, []],
		['GET', path, undefined, []],
	];
	for (const [method, at, body, types] of changes) {
		let shown: unknown;
		const events = await ears.eventsFrom(async () => {
			const answer = await app.call(method, at, body);
			assert.equal(answer.status, 200, JSON.stringify(answer.body));
			shown = answer.body;
		});
		assert.deepEqual(
			events.map(({ type, data }) => [type, data]),
			types.map((type) => [type, shown]),
			`${method} ${at} ${JSON.stringify(body)}`,
		);
	}
});

test('emits the title that comes with the first reply', async () => {
	let id = '';
	const events = await ears.eventsFrom(async () => {
		id = (await send('?')).body.conversation_id;
	});
	const { body: conversation } = await app.call('GET', `${CONVERSATIONS}/${id}`);
	assert.deepEqual(
		events.map(({ type }) => type),
		['conversation.created', 'message.created', 'message.created', 'conversation.updated'],
	);
	assert.deepEqual([events[0]?.data.title, events[3]?.data], [null, conversation]);
	assert.equal(conversation.title, 'Said the model.');
});

test('emits a failed reply again when it was rewritten', async () => {
	const key = { 'idempotency-key': 'anew-1' };
	const body = { deployment_id: deployment, content: 'Wait for a second try' };
	const index = held.replies.length;
	const failed = await ears.eventsFrom(async () => {
		const answer = app.call('POST', '/api/v1/messages', body, key);
		(await held.reply(index)).fail(new Error('The model is gone.'));
		assert.equal((await answer).status, 500);
	});
	const anew = await ears.eventsFrom(async () => {
		const answer = app.call('POST', '/api/v1/messages', body, key);
		const reply = await held.reply(index + 1);
		reply.say('Here it is.');
		reply.end();
		assert.equal((await answer).status, 201);
	});
	const [, reply] = await messagesOf(failed[0]?.data.id);
	const told = failed.find(({ data }) => data.role === 'assistant');
	assert.deepEqual([told?.data.id, told?.data.status], [reply.id, 'failed']);
	assert.deepEqual(
		anew.map(({ type, data }) => [type, data]),
		[['message.created', reply]],
	);
	assert.notEqual(anew[0]?.id, told?.id, 'another event, about the same message');
	assert.equal(reply.content, 'Here it is.');
});

test('emits the messages of an agent and a visitor, and the reply that a takeover ends', async () => {
	const index = held.replies.length;
	let id = '';
	const taken = await ears.eventsFrom(async () => {
		const answer = visit('Wait for a person');
		(await held.reply(index)).say('One mo');
		({ id } = await untilConversation(app, 'Wait for a person'));
		assert.equal((await app.call('POST', `${CONVERSATIONS}/${id}/takeover`)).status, 200);
		await answer;
	});
	const [question, reply] = await messagesOf(id);
	assert.deepEqual(typesAndIds(taken), [
		['conversation.created', id],
		['message.created', question.id],
		['message.created', reply.id],
		['conversation.updated', id],
	]);
	assert.deepEqual([taken[2]?.data, reply.status], [reply, 'stopped']);

	const said = await ears.eventsFrom(async () => {
		const answer = await app.call('POST', `${CONVERSATIONS}/${id}/messages`, { content: 'Kim here.', name: 'Kim' });
		assert.equal(answer.status, 201);
	});
	const answered = await ears.eventsFrom(() => visit('Hello Kim', id));
	const [, , kims, visitors] = await messagesOf(id);
	assert.deepEqual(
		said.map(({ type, data }) => [type, data]),
		[['message.created', kims]],
	);
	assert.equal(kims.author.type, 'human');
	assert.deepEqual(
		answered.map(({ type, data }) => [type, data]),
		[['message.created', visitors]],
	);
});

test('emits a repeated request with an Idempotency-Key once', async () => {
	const key = { 'idempotency-key': 'told-once' };
	const body = { deployment_id: deployment, content: 'Once?' };
	const events = await ears.eventsFrom(async () => {
		await Promise.all([1, 2, 3].map(() => app.call('POST', '/api/v1/messages', body, key)));
		await app.call('POST', '/api/v1/messages', body, key);
	});
	assert.deepEqual(
		events.map(({ type }) => type),
		['conversation.created', 'message.created', 'message.created'],
	);
});

test('emits nothing for a refused request', async () => {
	const id = await talk();
	const events = await ears.eventsFrom(async () => {
		const refused = await Promise.all([
			app.call('PATCH', `${CONVERSATIONS}/${id}`, { title: 'Late' }, { 'if-match': '"1"' }),
			app.call('PATCH', `${CONVERSATIONS}/${id}`, { metadata: { big: 'x'.repeat(20_000) } }),
			send('', id),
			send('Hello?', `conv_${'0'.repeat(32)}`),
			app.call('POST', `${CONVERSATIONS}/${id}/messages`, { content: 'Not taken over' }),
		]);
		assert.deepEqual(
			refused.map(({ status }) => status),
			[412, 400, 400, 404, 400],
		);
	});
	assert.deepEqual(typesAndIds(events), []);
});

test('an endpoint gets only the types that it subscribes to', async () => {
	const assistant = await createResource(app, '/api/v1/assistants', { name: 'Guide' });
	await using closings = await startReceiver(app, ['conversation.closed']);
	const id = await talk();
	await app.call('PATCH', `/api/v1/assistants/${assistant}`, { name: 'Guide 2' });
	await app.call('DELETE', `${CONVERSATIONS}/${id}`);
	const [first] = await closings.waitFor(1);
	assert.deepEqual([first?.event.type, first?.event.data.id], ['conversation.closed', id]);
	const { body } = await app.call('GET', `${closings.path}/deliveries`);
	assert.equal(body.data.length, 1, 'and none is on its way');
});
