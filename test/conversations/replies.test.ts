import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { untilConversation } from '../api/fixture.ts';
import { type ApiResponse, ORIGIN, startTestApp, type TestApp } from '../support/app.ts';
import { eventsOf, type ReceivedEvent } from '../support/event-stream.ts';
import { until } from '../support/until.ts';
import { ManualModel } from './manual-model.ts';

const model = new ManualModel();
let app: TestApp;
let deployment: string;
/** How many replies this file has asked for: the place of the next one. */
let asked = 0;

before(async () => {
	app = await startTestApp({ overrides: { providers: [model.provider], replyTimeoutMs: 5_000 } });
	deployment = await deploy(app);
});

after(() => app[Symbol.asyncDispose]());

async function deploy(on: TestApp, settings: object = {}): Promise<string> {
	const { body: assistant } = await on.call('POST', '/api/v1/assistants', { name: 'Helper', model: 'scripted/any' });
	const { body } = await on.call('POST', '/api/v1/deployments', {
		assistant_id: assistant.id,
		allowed_domains: ['shop.example'],
		...settings,
	});
	return body.id;
}

const send = (content: string, more: object = {}): Promise<ApiResponse> =>
	app.call('POST', '/api/v1/messages', { deployment_id: deployment, content, ...more });

async function stream(on: TestApp, path: string, body?: object, headers: Record<string, string> = {}) {
	const leaving = new AbortController();
	const response = await fetch(on.url + path, {
		method: body ? 'POST' : 'GET',
		headers: { authorization: `Bearer ${on.key}`, 'content-type': 'application/json', ...headers },
		...(body ? { body: JSON.stringify(body) } : {}),
		signal: leaving.signal,
	});
	return { response, events: eventsOf(response), leave: () => leaving.abort() };
}

const streamed = (content: string, more: object = {}) =>
	stream(app, '/api/v1/messages', { deployment_id: deployment, content, stream: true, ...more });

/** Reads until an event of this name has come, that one included. */
async function readTo(events: AsyncGenerator<ReceivedEvent>, name: string): Promise<ReceivedEvent[]> {
	const read: ReceivedEvent[] = [];
	for (;;) {
		const { done, value } = await events.next();
		assert.equal(done, false, `the stream ended before ${name}`);
		if (!value) continue;
		read.push(value);
		if (value.event === name) return read;
	}
}

async function conversationOf(messageText: string): Promise<string> {
	const held = model.replies.find(({ request }) => request.question === messageText);
	assert.ok(held, 'the model was asked');
	const { body } = await app.call('GET', '/api/v1/conversations?limit=100');
	for (const { id } of body.data) {
		const { body: messages } = await app.call('GET', `/api/v1/conversations/${id}/messages`);
		if (messages.data.some(({ content }: { content: string }) => content === messageText)) return id;
	}
	throw new Error('no conversation has this message');
}

/** The text that a client shows after these events, which may begin in the middle of it. */
function textAfter(events: ReceivedEvent[], before = ''): string {
	let text = before;
	for (const { event, data } of events) {
		if (event === 'message.reset') text = '';
		if (event === 'message.delta') {
			assert.equal(data.index, text.length, 'a delta goes where the text ends');
			text += data.delta;
		}
		if (event === 'message.completed') text = data.message.content;
	}
	return text;
}

test('returns a reply that is not streamed whole, with the stored question', async () => {
	const answer = send('Whole?');
	const held = await model.reply(asked++);
	held.say('Yes, ');
	held.say('whole.');
	held.end();
	const { status, body } = await answer;
	assert.equal(status, 201);
	assert.equal(body.content, 'Yes, whole.');
	assert.equal(body.role, 'assistant');
	assert.equal(body.status, 'completed');
	assert.equal(body.user_message.content, 'Whole?');
	assert.equal(body.user_message.conversation_id, body.conversation_id);
	const { body: conversation } = await app.call('GET', `/api/v1/conversations/${body.conversation_id}`);
	assert.equal(conversation.message_count, 2);
	assert.equal(conversation.channel, 'api');
});

test('resumes a stream from each of its events without gap or repeat', async () => {
	const { events, response } = await streamed('Resumable?');
	assert.equal(response.headers.get('cache-control')?.includes('no-transform'), true);
	const held = await model.reply(asked++);
	const seen = await readTo(events, 'message.created');
	const parts = ['One', ' two', ' 🙂', ' four'];
	for (const part of parts) {
		held.say(part);
		seen.push(...(await readTo(events, 'message.delta')));
	}
	const conversation = seen[0]?.data.message.conversation_id;
	const path = `/api/v1/conversations/${conversation}/events`;
	// In the middle of the reply: from every event on, the rest.
	const middle = [...seen];
	const resumed = await Promise.all(
		middle.map(({ id }) => stream(app, path, undefined, { 'last-event-id': id ?? '' })),
	);
	held.say(' five.');
	held.end();
	for await (const event of events) seen.push(event);
	assert.deepEqual(
		seen.map(({ event }) => event).filter((name, index, all) => name !== all[index - 1]),
		['message.created', 'message.delta', 'message.completed'],
	);
	for (const { event, data } of seen) assert.equal(data.type, event);
	const whole = 'One two 🙂 four five.';
	assert.equal(textAfter(seen), whole);
	for (const [index, { events: later, leave }] of resumed.entries()) {
		const rest = await readTo(later, 'message.completed');
		leave();
		const before = middle.slice(0, index + 1);
		assert.equal(textAfter(rest, textAfter(before)), whole, `resumed after event ${index}`);
		const twice = rest.filter(({ id }) => before.some((known) => known.id === id));
		assert.deepEqual(twice, [], 'no event came twice');
	}
	// After its end: the reply as its closing event alone.
	const { events: replay, leave } = await stream(app, `${path}?last_event_id=0.0`);
	assert.deepEqual(
		(await readTo(replay, 'message.completed')).map(({ event, data }) => [event, data.message.role]),
		[
			['message.created', 'user'],
			['message.completed', 'assistant'],
		],
	);
	leave();
});

test('a follower without a position gets a reply in progress from its beginning', async () => {
	const first = await streamed('Followed?');
	const held = await model.reply(asked++);
	held.say('Here is');
	const seen = await readTo(first.events, 'message.delta');
	const conversation = seen[0]?.data.message.conversation_id;
	const { events, leave } = await stream(app, `/api/v1/conversations/${conversation}/events`);
	const begun = await readTo(events, 'message.delta');
	assert.deepEqual(
		begun.map(({ event, data }) => [event, data.index ?? data.message.status]),
		[
			['message.created', 'in_progress'],
			['message.delta', 0],
		],
	);
	held.say(' more.');
	held.end();
	const rest = await readTo(events, 'message.completed');
	assert.equal(textAfter([...begun, ...rest]), 'Here is more.');
	leave();
	for await (const _event of first.events);
});

test('a stop keeps the text so far, and aborts the model at once', async () => {
	const { events } = await streamed('Stop me?');
	const held = await model.reply(asked++);
	held.say('A long sto');
	const [created] = await readTo(events, 'message.delta');
	const conversation = created?.data.message.conversation_id;
	const { status } = await app.call('POST', `/api/v1/conversations/${conversation}/stop`);
	assert.equal(status, 200);
	const completed = (await readTo(events, 'message.completed')).at(-1);
	assert.equal(completed?.data.message.status, 'stopped');
	assert.equal(completed?.data.message.content, 'A long sto');
	assert.equal(held.signal.aborted, true);
	assert.equal((await events.next()).done, true);
});

test('a client that disconnects does not stop the reply', async () => {
	const { events, leave } = await streamed('Leaving?');
	const held = await model.reply(asked++);
	held.say('Still ');
	const seen = await readTo(events, 'message.delta');
	leave();
	held.say('here.');
	held.end();
	const id = seen[0]?.data.message.conversation_id;
	await until('the reply is stored', async () => {
		const { body } = await app.call('GET', `/api/v1/conversations/${id}/messages`);
		return body.data[1].status === 'completed' && body.data[1].content === 'Still here.';
	});
});

test('answers messages that come during a reply in order of arrival, with alternating roles', async () => {
	const opening = send('Question 0');
	(await model.reply(asked++)).end();
	await opening;
	const conversation_id = await conversationOf('Question 0');
	const first = send('Question 1', { conversation_id });
	const firstHeld = await model.reply(asked++);
	const rest = [2, 3, 4].map((n) => send(`Question ${n}`, { conversation_id }));
	firstHeld.say('Answer');
	firstHeld.end();
	for (const _answer of rest) {
		const held = await model.reply(asked++);
		held.say(`to ${held.request.question}`);
		held.end();
	}
	await Promise.all([first, ...rest]);
	const { body } = await app.call('GET', `/api/v1/conversations/${conversation_id}/messages`);
	assert.deepEqual(
		body.data.map(({ role }: { role: string }) => role),
		body.data.map((_: unknown, index: number) => (index % 2 === 0 ? 'user' : 'assistant')),
	);
	const questions = body.data.filter(({ role }: { role: string }) => role === 'user');
	// Over several connections the server alone knows which came first: each is there once, after those before it.
	const inOrder = questions.map(({ content }: { content: string }) => content);
	assert.deepEqual(inOrder.slice(0, 2), ['Question 0', 'Question 1']);
	assert.deepEqual(inOrder.slice(2).sort(), ['Question 2', 'Question 3', 'Question 4']);
	for (const [index, { content }] of body.data.entries()) {
		if (index > 3 && index % 2 === 1) assert.equal(content, `to ${body.data[index - 1].content}`);
	}
});

test('rejects a message while sixteen others wait in the conversation', async () => {
	const opening = streamed('Busy?');
	const held = await model.reply(asked++);
	held.say('Wait');
	const { events } = await opening;
	const [created] = await readTo(events, 'message.delta');
	const conversation_id = created?.data.message.conversation_id;
	const sent = Array.from({ length: 17 }, (_, n) => send(`Waiting ${n}`, { conversation_id }));
	const turnedAway = await Promise.race(sent);
	assert.equal(turnedAway.status, 429);
	assert.equal(turnedAway.body.error.code, 'conversation_busy');
	held.end();
	for (let at = 0; at < 16; at++) (await model.reply(asked++)).fail(new Error('enough'));
	const statuses = (await Promise.all(sent)).map(({ status }) => status);
	assert.deepEqual(statuses.sort(), [429, ...Array(16).fill(500)]);
	for await (const _event of events);
});

test('keeps the question and a failed reply after a failure of the model, streamed or not', async () => {
	const whole = send('Fail whole?');
	(await model.reply(asked++)).fail(new Error('the model’s own words'));
	const { status, body } = await whole;
	assert.equal(status, 500);
	assert.equal(body.error.code, 'model_error');
	assert.doesNotMatch(JSON.stringify(body), /own words/);

	const { events } = await streamed('Fail streamed?');
	const held = await model.reply(asked++);
	held.say('So far');
	await readTo(events, 'message.delta');
	held.fail(new Error('broken'));
	const failed = (await readTo(events, 'message.failed')).at(-1);
	assert.equal(failed?.data.message.status, 'failed');
	assert.equal(failed?.data.error.code, 'model_error');
	const id = failed?.data.message.conversation_id;
	const { body: messages } = await app.call('GET', `/api/v1/conversations/${id}/messages`);
	assert.deepEqual(
		messages.data.map((message: { role: string; status: string }) => [message.role, message.status]),
		[
			['user', 'completed'],
			['assistant', 'failed'],
		],
	);
});

test('an empty answer is a failure of the model', async () => {
	const answer = send('Anything?');
	(await model.reply(asked++)).end();
	assert.equal((await answer).body.error.code, 'model_error');
});

test('fails the reply of a model that hangs', async () => {
	const hanging = new ManualModel();
	await using other = await startTestApp({ overrides: { providers: [hanging.provider], replyTimeoutMs: 100 } });
	const id = await deploy(other);
	const { status, body } = await other.call('POST', '/api/v1/messages', { deployment_id: id, content: 'Hang?' });
	assert.equal(status, 500);
	assert.equal(body.error.message, 'The model took too long to answer.');
	assert.equal((await hanging.reply(0)).signal.aborted, true);
});

test('rewrites a reply after the first restart, and fails it after the second', async () => {
	const first = new ManualModel();
	const started = await startTestApp({ overrides: { providers: [first.provider] } });
	const id = await deploy(started);
	const open = await stream(started, '/api/v1/messages', { deployment_id: id, content: 'Restart?', stream: true });
	(await first.reply(0)).say('Half of the');
	const seen = await readTo(open.events, 'message.delta');
	const last = seen.at(-1)?.id ?? '';
	const conversation = seen[0]?.data.message.conversation_id;
	// The same stand-in serves the next server: it is asked once more.
	await using second = await started.restart();
	const again = await first.reply(1);
	const path = `/api/v1/conversations/${conversation}/events`;
	const resumed = await stream(second, path, undefined, { 'last-event-id': last });
	again.say('The whole answer.');
	again.end();
	const rest = await readTo(resumed.events, 'message.completed');
	assert.equal(rest[0]?.event, 'message.reset');
	assert.equal(textAfter(rest, textAfter(seen)), 'The whole answer.');
	resumed.leave();

	const doomed = second.call('POST', '/api/v1/messages', { deployment_id: id, content: 'Twice?' });
	doomed.catch(() => {});
	await first.reply(2);
	await untilConversation(second, 'Twice?');
	const third = await second.restart();
	await first.reply(3);
	await using fourth = await third.restart();
	const stored = await until('the reply is given up', async () => {
		const { body } = await fourth.call('GET', '/api/v1/conversations?limit=1');
		const { body: messages } = await fourth.call('GET', `/api/v1/conversations/${body.data[0].id}/messages`);
		return messages.data[1]?.status === 'failed' && messages.data[1];
	});
	assert.equal(stored.error.code, 'interrupted');
	assert.equal(first.replies.length, 4, 'the model was not asked a third time');
});

test('shows visitors a reply without model and usage', async () => {
	const answer = app.callAsVisitor('POST', '/api/v1/widget/messages', {
		deployment_id: deployment,
		content: 'Who are you?',
	});
	const held = await model.reply(asked++);
	held.say('A helper.');
	held.end();
	const { status, body } = await answer;
	assert.equal(status, 201);
	for (const field of ['model', 'usage']) {
		assert.equal(field in body, false, field);
		assert.equal(field in body.user_message, false, field);
	}
	const history = `/api/v1/widget/conversations/${body.conversation_id}/messages?deployment_id=${deployment}`;
	const { body: page, headers } = await app.callAsVisitor('GET', history);
	assert.equal(headers.get('access-control-allow-origin'), ORIGIN);
	assert.deepEqual(
		page.data.map(({ content }: { content: string }) => content),
		['Who are you?', 'A helper.'],
	);
	assert.equal('model' in page.data[1], false);
	const { status: foreign } = await app.callAsVisitor('GET', history, undefined, { origin: 'https://evil.example' });
	assert.equal(foreign, 403);
	const other = await deploy(app);
	const { status: elsewhere } = await app.callAsVisitor('GET', history.replace(deployment, other));
	assert.equal(elsewhere, 404, 'a conversation of another deployment');
});

test('an archived assistant starts no conversation, and continues existing ones', async () => {
	const opening = send('Before?');
	(await model.reply(asked++)).say('x');
	model.replies.at(-1)?.end();
	const { body: reply } = await opening;
	const { body: settings } = await app.call('GET', `/api/v1/deployments/${deployment}`);
	await app.call('DELETE', `/api/v1/assistants/${settings.assistant_id}`);
	const { status, body } = await send('New?');
	assert.equal(status, 400);
	assert.equal(body.error.code, 'assistant_archived');
	const going = send('And on?', { conversation_id: reply.conversation_id });
	const held = await model.reply(asked++);
	held.say('On.');
	held.end();
	assert.equal((await going).status, 201);
	await app.call('PATCH', `/api/v1/assistants/${settings.assistant_id}`, { status: 'active' });
});

test('a conversation of another deployment, an unknown one and an archived deployment are not found', async () => {
	const other = await deploy(app);
	const opening = send('Mine?');
	(await model.reply(asked++)).say('x');
	model.replies.at(-1)?.end();
	const { conversation_id } = (await opening).body;
	const message = { deployment_id: other, content: 'Hello?' };
	for (const id of [conversation_id, `conv_${'0'.repeat(32)}`, 'nonsense']) {
		const { status } = await app.call('POST', '/api/v1/messages', { ...message, conversation_id: id });
		assert.equal(status, 404, id);
	}
	await app.call('DELETE', `/api/v1/deployments/${other}`);
	assert.equal((await app.call('POST', '/api/v1/messages', message)).status, 404);
});

test('stores the metadata of a conversation, up to 16 KiB and 32 levels', async () => {
	const opening = send('Meta?', { metadata: { page: '/pricing' } });
	(await model.reply(asked++)).say('x');
	model.replies.at(-1)?.end();
	const { conversation_id } = (await opening).body;
	const { body } = await app.call('GET', `/api/v1/conversations/${conversation_id}`);
	assert.deepEqual(body.metadata, { page: '/pricing' });
	const { status, body: refused } = await send('Too much?', { metadata: { text: 'x'.repeat(16 * 1024) } });
	assert.equal(status, 400);
	assert.equal(refused.error.details[0].path, '/metadata');
	for (const depth of [40, 3_400, 7_900]) {
		const nested = `${'['.repeat(depth)}${']'.repeat(depth)}`;
		const response = await fetch(`${app.url}/api/v1/messages`, {
			method: 'POST',
			headers: { authorization: `Bearer ${app.key}`, 'content-type': 'application/json' },
			body: `{"deployment_id":"${deployment}","content":"Too deep?","metadata":{"a":${nested}}}`,
		});
		assert.equal(response.status, 400, `${depth} levels`);
		await response.body?.cancel();
	}
});
