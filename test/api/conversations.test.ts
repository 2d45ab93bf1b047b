import assert from 'node:assert/strict';
import test, { after } from 'node:test';
import { ManualModel } from '../conversations/manual-model.ts';
import { startTestApp } from '../support/app.ts';
import { eventsOf } from '../support/event-stream.ts';
import { eventsSoFar, firstWorkspace, openStoreDirectly } from './direct-store.ts';
import { createApiFixture, untilConversation } from './fixture.ts';

const held = new ManualModel({ autoReply: ({ question }) => (question.startsWith('Wait') ? undefined : ['Yes.']) });
const app = await startTestApp({ overrides: { providers: [held.provider] } });
after(() => app[Symbol.asyncDispose]());
const { deployment, assistant } = await createApiFixture(app, { model: 'scripted/any' });

const CONVERSATIONS = '/api/v1/conversations';
const MESSAGES = '/api/v1/messages';

async function talk(content = 'Hello?', conversation_id?: string, metadata?: object) {
	const { status, body } = await app.call('POST', MESSAGES, {
		deployment_id: deployment,
		content,
		...(conversation_id ? { conversation_id } : {}),
		...(metadata ? { metadata } : {}),
	});
	assert.equal(status, 201, JSON.stringify(body));
	return { id: body.conversation_id as string, reply: body.id as string, question: body.user_message.id as string };
}

/** The types of the events about a conversation in its workspace's log. */
async function logOf(conversation: string): Promise<string[]> {
	await using store = await openStoreDirectly(app);
	const events = await eventsSoFar(store, await firstWorkspace(store));
	return events
		.filter(({ data }) =>
			[(data as { id: string }).id, (data as { conversation_id?: string }).conversation_id].includes(conversation),
		)
		.map(({ type }) => type);
}

test('changes title and metadata field by field, and null removes a field', async () => {
	const { id } = await talk('Hello?', undefined, { page: '/prices', user: { plan: 'free', seats: 2 } });
	const { status, body } = await app.call('PATCH', `${CONVERSATIONS}/${id}`, {
		title: 'Prices',
		metadata: { user: { plan: 'pro', seats: null }, page: null, ['__proto__']: { x: 1 }, list: [1, null] },
	});
	assert.equal(status, 200);
	assert.equal(body.title, 'Prices');
	assert.deepEqual(body.metadata, { user: { plan: 'pro' }, ['__proto__']: { x: 1 }, list: [1, null] });
	assert.deepEqual((await app.call('GET', `${CONVERSATIONS}/${id}`)).body, body);
	assert.equal((await app.call('PATCH', `${CONVERSATIONS}/${id}`, { title: null })).body.title, null);
	assert.equal((await logOf(id)).filter((type) => type === 'conversation.updated').length, 2);
});

test('rejects a change that makes metadata too large, and keeps the metadata', async () => {
	const { id } = await talk('Hello?', undefined, { a: 'x'.repeat(10_000) });
	const { status, body } = await app.call('PATCH', `${CONVERSATIONS}/${id}`, { metadata: { b: 'x'.repeat(7000) } });
	assert.deepEqual([status, body.error.details[0].path], [400, '/metadata']);
	assert.deepEqual(Object.keys((await app.call('GET', `${CONVERSATIONS}/${id}`)).body.metadata), ['a']);
});

test('an archived conversation accepts no messages until it is reopened, and each step is an event', async () => {
	const { id } = await talk();
	const archived = await app.call('DELETE', `${CONVERSATIONS}/${id}`);
	assert.deepEqual([archived.status, archived.body.status], [200, 'archived']);
	assert.notEqual(archived.body.archived_at, null);
	assert.deepEqual((await app.call('DELETE', `${CONVERSATIONS}/${id}`)).body, archived.body, 'again is no change');
	const refused = await app.call('POST', MESSAGES, { deployment_id: deployment, content: 'Hm?', conversation_id: id });
	assert.deepEqual([refused.status, refused.body.error.code], [400, 'conversation_archived']);
	assert.equal((await app.call('GET', `${CONVERSATIONS}/${id}/messages`)).body.data.length, 2);
	const listed = await app.call('GET', `${CONVERSATIONS}?status=archived&limit=100`);
	assert.ok(listed.body.data.some((one: { id: string }) => one.id === id));

	const reopened = await app.call('PATCH', `${CONVERSATIONS}/${id}`, { status: 'active' });
	assert.deepEqual([reopened.body.status, reopened.body.archived_at], ['active', null]);
	await talk('Here again?', id);
	assert.deepEqual(await logOf(id), [
		'conversation.created',
		'message.created',
		'message.created',
		'conversation.updated',
		'conversation.closed',
		'conversation.updated',
		'message.created',
		'message.created',
	]);
});

test('archives a conversation at once while its reply is being written, and completes the reply', async () => {
	const asked = held.replies.length;
	const sending = app.call('POST', MESSAGES, { deployment_id: deployment, content: 'Wait for it?' });
	const reply = await held.reply(asked);
	const conversation = await untilConversation(app, 'Wait for it?');
	assert.equal((await app.call('DELETE', `${CONVERSATIONS}/${conversation.id}`)).body.status, 'archived');
	const waiting = app.call('POST', MESSAGES, {
		deployment_id: deployment,
		content: 'And this?',
		conversation_id: conversation.id,
	});
	reply.say('Here.');
	reply.end();
	assert.deepEqual([(await sending).status, (await sending).body.content], [201, 'Here.']);
	assert.equal((await waiting).body.error.code, 'conversation_archived');
	const { body } = await app.call('GET', `${CONVERSATIONS}/${conversation.id}`);
	assert.deepEqual([body.status, body.message_count], ['archived', 2]);
});

test("an erased conversation is gone everywhere, and its followers' streams end", async () => {
	const { id, reply } = await talk();
	const follower = await fetch(`${app.url}${CONVERSATIONS}/${id}/events`, {
		headers: { authorization: `Bearer ${app.key}` },
	});
	const followed = (async () => {
		const names = [];
		for await (const { event } of eventsOf(follower)) names.push(event);
		return names;
	})();
	const erased = await app.call('DELETE', `${CONVERSATIONS}/${id}?purge=true`);
	assert.deepEqual([erased.status, erased.body], [200, { id, deleted: true }]);
	assert.deepEqual(await followed, []);
	for (const [method, path] of [
		['GET', `${CONVERSATIONS}/${id}`],
		['PATCH', `${CONVERSATIONS}/${id}`],
		['DELETE', `${CONVERSATIONS}/${id}`],
		['DELETE', `${CONVERSATIONS}/${id}?purge=true`],
		['GET', `${CONVERSATIONS}/${id}/messages`],
		['GET', `${CONVERSATIONS}/${id}/events`],
		['POST', `${CONVERSATIONS}/${id}/stop`],
	] as const) {
		assert.equal((await app.call(method, path, method === 'PATCH' ? { title: 'x' } : undefined)).status, 404, path);
	}
	assert.equal((await app.call('POST', `${MESSAGES}/${reply}/feedback`, { rating: 'up' })).status, 404);
	const more = { deployment_id: deployment, content: 'More?', conversation_id: id };
	assert.equal((await app.call('POST', MESSAGES, more)).status, 404);
	assert.deepEqual(await logOf(id), []);
	await using store = await openStoreDirectly(app);
	assert.deepEqual(await eventsSoFar(store, id), []);
});

test("erasing a conversation during a reply ends the reply and aborts the model's call", async () => {
	const asked = held.replies.length;
	const sending = app.call('POST', MESSAGES, { deployment_id: deployment, content: 'Wait, erase?' });
	const reply = await held.reply(asked);
	const conversation = await untilConversation(app, 'Wait, erase?');
	await app.call('DELETE', `${CONVERSATIONS}/${conversation.id}?purge=true`);
	const { status, body } = await sending;
	assert.deepEqual([status, body.error.code], [404, 'not_found']);
	assert.equal(reply.signal.aborted, true);
	await using store = await openStoreDirectly(app);
	assert.equal(await store.get('conversations', conversation.id), undefined);
	assert.deepEqual(
		await store.list('messages', { where: { conversation_id: conversation.id }, order: 'asc', limit: 9 }),
		[],
	);
});

test('rates a reply, changes the rating, adds a comment and removes the rating', async () => {
	const { id, reply, question } = await talk();
	const rate = (message: string, body: object) => app.call('POST', `${MESSAGES}/${message}/feedback`, body);
	const up = await rate(reply, { rating: 'up', comment: 'Short and right.' });
	assert.deepEqual([up.status, up.body.feedback, up.body.feedback_comment], [200, 'up', 'Short and right.']);
	const down = await rate(reply, { rating: 'down' });
	assert.deepEqual([down.body.feedback, down.body.feedback_comment], ['down', 'Short and right.']);
	const { body } = await app.call('GET', `${CONVERSATIONS}/${id}/messages`);
	assert.deepEqual(body.data[1], down.body);
	const back = await rate(reply, { rating: null });
	assert.deepEqual([back.body.feedback, back.body.feedback_comment], [null, null]);
	assert.equal((await rate(question, { rating: 'up' })).status, 400, 'a question');
	assert.equal((await rate('msg_unknown', { rating: 'up' })).status, 404);
	assert.equal((await rate(reply, { rating: 'sideways' })).body.error.details[0].path, '/rating');
	const refused = await rate(reply, { rating: 'up', comment: 'Nice\u0000' });
	assert.deepEqual([refused.status, refused.body.error.details[0].path], [400, '/comment']);
});

test('a visitor rates replies of the own deployment and does not see comments', async () => {
	const { id, reply } = await talk();
	const path = `/api/v1/widget/messages/${reply}/feedback`;
	const rated = await app.callAsVisitor('POST', path, { deployment_id: deployment, rating: 'up', comment: 'Nice' });
	assert.deepEqual([rated.status, rated.body.feedback, rated.body.id], [200, 'up', reply]);
	assert.equal('feedback_comment' in rated.body, false);
	const seen = (await app.call('GET', `${CONVERSATIONS}/${id}/messages`)).body.data[1];
	assert.equal(seen.feedback_comment, 'Nice');
	const other = await app.call('POST', '/api/v1/deployments', { assistant_id: assistant, allowed_domains: ['*'] });
	const foreign = await app.callAsVisitor('POST', path, { deployment_id: other.body.id, rating: 'down' });
	assert.equal(foreign.status, 404);
});

test('makes all concurrent changes, and with If-Match only one', async () => {
	const { id } = await talk();
	const path = `${CONVERSATIONS}/${id}`;
	await Promise.all(
		Array.from({ length: 20 }, (_, index) => app.call('PATCH', path, { metadata: { [`m${index}`]: index } })),
	);
	const { body, headers } = await app.call('GET', path);
	assert.equal(Object.keys(body.metadata).length, 20);
	const conditional = { 'if-match': headers.get('etag') ?? '' };
	const ends = await Promise.all(
		Array.from({ length: 5 }, (_, index) => app.call('PATCH', path, { title: `T${index}` }, conditional)),
	);
	assert.deepEqual(ends.map(({ status }) => status).sort(), [200, 412, 412, 412, 412]);
	assert.equal((await app.call('DELETE', `${path}?purge=true`, undefined, conditional)).status, 412);
	assert.equal((await app.call('GET', path)).status, 200);
});

test('a cursor is valid for its filters in any order and spelling', async () => {
	for (let more = 0; more < 3; more++) await talk();
	const first = await app.call(
		'GET',
		`${CONVERSATIONS}?limit=1&deployment_id=${deployment}&status=active&created_after=2020-01-01T00:00:00Z`,
	);
	const second = await app.call(
		'GET',
		`${CONVERSATIONS}?created_after=2020-01-01T00:00:00.000Z&status=active&cursor=${first.body.next_cursor}&deployment_id=${deployment}&limit=1`,
	);
	assert.equal(second.status, 200);
	assert.notEqual(second.body.data[0].id, first.body.data[0].id);
	const other = await app.call('GET', `${CONVERSATIONS}?status=active&cursor=${first.body.next_cursor}`);
	assert.equal(other.body.error.code, 'invalid_cursor');
});
