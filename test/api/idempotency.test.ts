import assert from 'node:assert/strict';
import test, { after } from 'node:test';
import { type Clock, systemClock } from '../../src/base/index.ts';
import { ManualModel } from '../conversations/manual-model.ts';
import { ORIGIN, startTestApp, type TestApp } from '../support/app.ts';
import { eventsOf, type ReceivedEvent } from '../support/event-stream.ts';
import { addKey, addWorkspace, firstWorkspace, openStoreDirectly } from './direct-store.ts';
import { createApiFixture, createResource, upload } from './fixture.ts';

const held = new ManualModel();
const app = await startTestApp({ overrides: { providers: [held.provider] } });
after(() => app[Symbol.asyncDispose]());
const { deployment, knowledgeBase } = await createApiFixture(app, { model: 'scripted/any' });

const ASSISTANTS = '/api/v1/assistants';
const MESSAGES = '/api/v1/messages';

let keys = 0;
/** A new key. */
const freshKey = () => `key ${++keys}`;

/** The bytes of a response, with its header for repeats. */
async function raw(server: TestApp, path: string, body: unknown, key: string, headers: Record<string, string> = {}) {
	const response = await fetch(server.url + path, {
		method: 'POST',
		headers: {
			authorization: `Bearer ${server.key}`,
			'content-type': 'application/json',
			'idempotency-key': key,
			...headers,
		},
		body: JSON.stringify(body),
	});
	const text = await response.text();
	return { status: response.status, text, replayed: response.headers.get('idempotent-replayed') };
}

/** A header's value whose bytes are this text in UTF-8. */
const inUtf8 = (text: string) => Buffer.from(text).toString('latin1');

async function countOf(path: string): Promise<number> {
	return (await app.call('GET', `${path}?limit=100`)).body.data.length;
}

test('of a hundred concurrent requests with one key, one creates a resource and all get the same bytes', async () => {
	const before = await countOf(ASSISTANTS);
	const key = freshKey();
	const responses = await Promise.all(
		Array.from({ length: 100 }, () => raw(app, ASSISTANTS, { name: 'Once', rag_settings: { top_k: 3 } }, key)),
	);
	assert.equal(await countOf(ASSISTANTS), before + 1);
	assert.equal(new Set(responses.map(({ text }) => text)).size, 1);
	assert.ok(responses.every(({ status }) => status === 201));
	assert.equal(responses.filter(({ replayed }) => replayed === 'true').length, 99);
});

test('ignores the order of members when it compares bodies, but no other difference', async () => {
	const key = freshKey();
	const first = await raw(app, ASSISTANTS, { name: 'Guide', rag_settings: { top_k: 3, min_score: 0.5 } }, key);
	const turned = await raw(app, ASSISTANTS, { rag_settings: { min_score: 0.5, top_k: 3 }, name: 'Guide' }, key);
	assert.deepEqual([turned.text, turned.replayed], [first.text, 'true']);
	const other = await raw(app, ASSISTANTS, { name: 'Guide', rag_settings: { top_k: 4, min_score: 0.5 } }, key);
	assert.deepEqual([other.status, JSON.parse(other.text).error.code], [400, 'idempotency_key_reused']);
});

test('does not store the response to an invalid request: the corrected request may use the same key', async () => {
	const key = freshKey();
	assert.equal((await raw(app, ASSISTANTS, { name: 7 }, key)).status, 400);
	const mended = await raw(app, ASSISTANTS, { name: 'Seven' }, key);
	assert.deepEqual([mended.status, mended.replayed], [201, null]);
});

test('replays an error that depends on the request, byte by byte', async () => {
	const assistant = await createResource(app, ASSISTANTS, { name: 'Guide' });
	const path = `${ASSISTANTS}/${assistant}/knowledge-bases`;
	const key = freshKey();
	const first = await raw(app, path, { knowledge_base_id: 'kb_unknown' }, key);
	const again = await raw(app, path, { knowledge_base_id: 'kb_unknown' }, key);
	assert.deepEqual([first.status, first.replayed], [404, null]);
	assert.deepEqual(again, { ...first, replayed: 'true' });
});

test('replays the response of a request that changed nothing', async () => {
	const assistant = await createResource(app, ASSISTANTS, { name: 'Guide' });
	const path = `${ASSISTANTS}/${assistant}/knowledge-bases`;
	await app.call('POST', path, { knowledge_base_id: knowledgeBase });
	const key = freshKey();
	const first = await raw(app, path, { knowledge_base_id: knowledgeBase }, key);
	await app.call('PATCH', `${ASSISTANTS}/${assistant}`, { name: 'Renamed' });
	assert.deepEqual(await raw(app, path, { knowledge_base_id: knowledgeBase }, key), { ...first, replayed: 'true' });
});

test('scopes a key to its path and workspace', async () => {
	const key = freshKey();
	await using store = await openStoreDirectly(app);
	const other = await addWorkspace(store);
	const headers = { authorization: `Bearer ${other.key}` };
	const responses = [
		await raw(app, ASSISTANTS, { name: 'Guide' }, key),
		await raw(app, '/api/v1/knowledge-bases', { name: 'Guide' }, key),
		await raw(app, ASSISTANTS, { name: 'Guide' }, key, headers),
	];
	assert.deepEqual(
		responses.map(({ status, replayed }) => ({ status, replayed })),
		Array(3).fill({ status: 201, replayed: null }),
	);
	assert.equal(new Set(responses.map(({ text }) => JSON.parse(text).id)).size, 3);
});

test('accepts keys of 1 to 255 printable ASCII characters', async () => {
	for (const key of ['x', 'x'.repeat(255), '~!"#']) {
		assert.equal((await raw(app, ASSISTANTS, { name: 'Guide' }, key)).status, 201, key);
	}
	for (const key of ['', 'x'.repeat(256), 'tab\there', inUtf8('café au lait')]) {
		const { status, text } = await raw(app, ASSISTANTS, { name: 'Guide' }, key);
		assert.deepEqual([status, JSON.parse(text).error?.code], [400, 'invalid_request'], key);
	}
});

test('creates one document for the same file and key, and rejects another file', async () => {
	const key = freshKey();
	const send = async (bytes: string) => {
		const form = new FormData();
		form.set('file', new Blob([bytes]), 'note.txt');
		const path = `/api/v1/knowledge-bases/${knowledgeBase}/documents`;
		return app.call('POST', path, form, { 'idempotency-key': key });
	};
	const responses = await Promise.all(Array.from({ length: 10 }, () => send('Kettles boil.')));
	assert.deepEqual(
		responses.map(({ status }) => status),
		Array(10).fill(201),
	);
	assert.equal(new Set(responses.map(({ body }) => body.id)).size, 1);
	const other = await send('Kettles whistle.');
	assert.deepEqual([other.status, other.body.error.code], [400, 'idempotency_key_reused']);
	assert.equal((await upload(app, knowledgeBase, 'note.txt', { bytes: 'Kettles whistle.' })).status, 201);
});

test('keeps the stored response after its resource is deleted and the server restarts', async () => {
	let server = await startTestApp();
	try {
		const first = await raw(server, ASSISTANTS, { name: 'Guide' }, 'kept');
		const { id } = JSON.parse(first.text);
		await server.call('PATCH', `${ASSISTANTS}/${id}`, { name: 'Renamed' });
		server = await server.restart();
		assert.deepEqual(await raw(server, ASSISTANTS, { name: 'Guide' }, 'kept'), { ...first, replayed: 'true' });
		assert.equal((await server.call('GET', ASSISTANTS)).body.data.length, 1);
	} finally {
		await server[Symbol.asyncDispose]();
	}
});

test('accepts a key again after 24 hours', async () => {
	// A response that is stored now counts as stored a day ago.
	const dayAgo: Clock = { now: () => systemClock.now() - 24 * 3_600_000 - 1000 };
	await using server = await startTestApp({ overrides: { clock: dayAgo } });
	const first = await raw(server, ASSISTANTS, { name: 'Guide' }, 'daily');
	const second = await raw(server, ASSISTANTS, { name: 'Another' }, 'daily');
	assert.deepEqual([first.status, second.status, second.replayed], [201, 201, null]);
});

test('stores and answers a message once that is sent many times at once', async () => {
	const asked = held.replies.length;
	const key = freshKey();
	const sending = Array.from({ length: 30 }, () =>
		raw(app, MESSAGES, { deployment_id: deployment, content: 'How long?' }, key),
	);
	const reply = await held.reply(asked);
	reply.say('Three minutes.');
	reply.end();
	const responses = await Promise.all(sending);
	assert.equal(new Set(responses.map(({ text }) => text)).size, 1);
	assert.deepEqual([responses[0]?.status, held.replies.length], [201, asked + 1]);
	const answer = JSON.parse(responses[0]?.text ?? '');
	assert.equal(answer.content, 'Three minutes.');

	await app.call('POST', `${MESSAGES}/${answer.id}/feedback`, { rating: 'up' });
	const later = await raw(app, MESSAGES, { deployment_id: deployment, content: 'How long?' }, key);
	assert.deepEqual(later, { status: 201, text: responses[0]?.text, replayed: 'true' });
	const { body } = await app.call('GET', `/api/v1/conversations/${answer.conversation_id}/messages`);
	assert.deepEqual(
		body.data.map(({ content }: { content: string }) => content),
		['How long?', 'Three minutes.'],
	);
});

/** Sends a message with a key and reads the stream of its reply. */
async function streamed(key: string, content: string, visitor = false): Promise<AsyncGenerator<ReceivedEvent>> {
	const response = await fetch(app.url + (visitor ? '/api/v1/widget/messages' : MESSAGES), {
		method: 'POST',
		headers: {
			...(visitor ? { origin: ORIGIN } : { authorization: `Bearer ${app.key}` }),
			'content-type': 'application/json',
			'idempotency-key': key,
		},
		body: JSON.stringify({ deployment_id: deployment, content, stream: true }),
	});
	return eventsOf(response);
}

async function rest(events: AsyncGenerator<ReceivedEvent>): Promise<ReceivedEvent[]> {
	const all = [];
	for await (const event of events) all.push(event);
	return all;
}

for (const visitor of [false, true]) {
	test(`a repeat of a streamed message joins the stream from its first event (${visitor ? 'visitor' : 'API'})`, async () => {
		const asked = held.replies.length;
		const key = freshKey();
		const first = await streamed(key, 'How?', visitor);
		const begun = [(await first.next()).value, (await first.next()).value];
		const reply = await held.reply(asked);
		reply.say('Like ');
		const delta = (await first.next()).value;
		const second = await streamed(key, 'How?', visitor);
		const joined = [(await second.next()).value, (await second.next()).value, (await second.next()).value];
		assert.deepEqual(joined, [...begun, delta]);
		reply.say('this.');
		reply.end();
		const ends = await Promise.all([rest(first), rest(second)]);
		assert.deepEqual(
			ends.map((events) => events.at(-1)?.data.message.content),
			['Like this.', 'Like this.'],
		);
		assert.deepEqual(ends[0]?.at(-1), ends[1]?.at(-1));
		assert.equal(held.replies.length, asked + 1, 'the model was called once');

		const late = await rest(await streamed(key, 'How?', visitor));
		assert.deepEqual(
			late.map(({ event }) => event),
			['message.created', 'message.completed'],
		);
		assert.deepEqual([late[0]?.data, late.at(-1)], [begun[0].data, ends[0]?.at(-1)]);
	});
}

test('after a failure of the model a repeat retries the reply to the same stored message', async () => {
	const asked = held.replies.length;
	const key = freshKey();
	const failing = raw(app, MESSAGES, { deployment_id: deployment, content: 'Again?' }, key);
	(await held.reply(asked)).fail(new Error('out of order'));
	const failed = await failing;
	assert.deepEqual([failed.status, JSON.parse(failed.text).error.code], [500, 'model_error']);

	const repeats = [1, 2, 3].map(() => raw(app, MESSAGES, { deployment_id: deployment, content: 'Again?' }, key));
	const reply = await held.reply(asked + 1);
	reply.say('Yes, again.');
	reply.end();
	const responses = await Promise.all(repeats);
	assert.equal(new Set(responses.map(({ text }) => text)).size, 1);
	assert.equal(held.replies.length, asked + 2);
	const answer = JSON.parse(responses[0]?.text ?? '');
	assert.deepEqual([answer.content, answer.status, answer.error], ['Yes, again.', 'completed', null]);
	const { body } = await app.call('GET', `/api/v1/conversations/${answer.conversation_id}/messages`);
	assert.deepEqual(
		body.data.map(({ id, content }: { id: string; content: string }) => ({ id, content })),
		[
			{ id: answer.user_message.id, content: 'Again?' },
			{ id: answer.id, content: 'Yes, again.' },
		],
	);
});

test('a streamed repeat after a failure sends the question, the restart of the reply and its end', async () => {
	const asked = held.replies.length;
	const key = freshKey();
	const first = await streamed(key, 'Streamed again?');
	const failing = await held.reply(asked);
	failing.say('I th');
	failing.fail(new Error('out of order'));
	const events = await rest(first);
	assert.equal(events.at(-1)?.event, 'message.failed');
	const second = await streamed(key, 'Streamed again?');
	const reply = await held.reply(asked + 1);
	reply.say('Yes.');
	reply.end();
	const again = await rest(second);
	assert.deepEqual(
		again.map(({ event }) => event),
		['message.created', 'message.reset', 'message.delta', 'message.completed'],
	);
	assert.deepEqual(again[0]?.data, events[0]?.data);
	assert.equal(again.at(-1)?.data.message.content, 'Yes.');
	// A client that resumes from the beginning gets no failure, because the reply was completed in the end.
	const { conversation_id } = again.at(-1)?.data.message ?? {};
	const replay = await fetch(
		`${app.url}/api/v1/conversations/${conversation_id}/events?last_event_id=${events[0]?.id}`,
		{
			headers: { authorization: `Bearer ${app.key}` },
		},
	);
	const names = [];
	for await (const { event } of eventsOf(replay)) {
		names.push(event);
		if (event === 'message.completed') break;
	}
	assert.ok(!names.includes('message.failed'), String(names));
});

test('retries a failed reply in the middle of a conversation in its position, and a crash does not lose it', async () => {
	const model = new ManualModel();
	let server = await startTestApp({ overrides: { providers: [model.provider] } });
	try {
		const fixture = await createApiFixture(server, { model: 'scripted/any' });
		const ask = (content: string, key: string, conversation_id?: string) =>
			raw(server, MESSAGES, { deployment_id: fixture.deployment, content, conversation_id }, key);
		const failing = ask('One?', 'one');
		(await model.reply(0)).fail(new Error('out of order'));
		await failing;
		const conversation = (await server.call('GET', '/api/v1/conversations')).body.data[0].id;
		const second = ask('Two?', 'two', conversation);
		const answer = await model.reply(1);
		answer.say('2');
		answer.end();
		await second;
		const repeat = ask('One?', 'one').catch(() => null);
		(await model.reply(2)).say('half');
		server = await server.restart();
		await repeat;
		const resumed = await model.reply(3);
		resumed.say('1');
		resumed.end();
		const { text } = await ask('One?', 'one');
		assert.equal(JSON.parse(text).content, '1');
		const { body } = await server.call('GET', `/api/v1/conversations/${conversation}/messages`);
		assert.deepEqual(
			body.data.map(({ content }: { content: string }) => content),
			['One?', '1', 'Two?', '2'],
		);
	} finally {
		await server[Symbol.asyncDispose]();
	}
});

test('a repeat while a reply waits for a restart of the server gets the reply that is then written', async () => {
	const model = new ManualModel();
	let server = await startTestApp({ overrides: { providers: [model.provider] } });
	try {
		const fixture = await createApiFixture(server, { model: 'scripted/any' });
		const body = { deployment_id: fixture.deployment, content: 'Will it last?' };
		const cut = raw(server, MESSAGES, body, 'lasting').catch(() => null);
		(await model.reply(0)).say('It');
		server = await server.restart();
		await cut;
		const repeat = raw(server, MESSAGES, body, 'lasting');
		const resumed = await model.reply(1);
		resumed.say('It lasts.');
		resumed.end();
		const { status, text, replayed } = await repeat;
		assert.deepEqual([status, JSON.parse(text).content, replayed], [201, 'It lasts.', 'true']);
		assert.equal((await server.call('GET', '/api/v1/conversations')).body.data.length, 1);
	} finally {
		await server[Symbol.asyncDispose]();
	}
});

test("a visitor's key is scoped to the visitor", async () => {
	const asked = held.replies.length;
	const body = { deployment_id: deployment, content: 'Mine?' };
	const key = freshKey();
	const sends = [app.callAsVisitor('POST', '/api/v1/widget/messages', body, { 'idempotency-key': key })];
	sends.push(app.callAsVisitor('POST', '/api/v1/widget/messages', body, { 'idempotency-key': key }));
	const api = app.call('POST', MESSAGES, body, { 'idempotency-key': key });
	for (const index of [asked, asked + 1]) {
		const reply = await held.reply(index);
		reply.say('Yours.');
		reply.end();
	}
	const [one, two] = await Promise.all(sends);
	assert.equal(one?.body.id, two?.body.id);
	assert.notEqual((await api).body.id, one?.body.id);
	assert.equal('usage' in (one?.body ?? {}), false);
});

test('a repeat of a message whose conversation was erased does not bring the conversation back', async () => {
	const asked = held.replies.length;
	const key = freshKey();
	const send = () => raw(app, MESSAGES, { deployment_id: deployment, content: 'Forget?' }, key);
	const first = send();
	const reply = await held.reply(asked);
	reply.say('Gladly.');
	reply.end();
	const { conversation_id } = JSON.parse((await first).text);
	await app.call('DELETE', `/api/v1/conversations/${conversation_id}?purge=true`);
	const conversations = async () => (await app.call('GET', '/api/v1/conversations?limit=100')).body.data.length;
	const before = await conversations();
	const repeat = await send();
	const { code, message } = JSON.parse(repeat.text).error;
	assert.deepEqual([repeat.status, code], [400, 'idempotency_key_reused']);
	assert.match(message, /^The conversation of this request has been erased\. .* use a new Idempotency-Key\.$/);
	assert.equal(await conversations(), before);
	assert.equal(held.replies.length, asked + 1, 'the model is not asked again');
});

test('replays a response with a secret to the credential of the first request only', async () => {
	await using store = await openStoreDirectly(app);
	const narrow = await addKey(store, await firstWorkspace(store), ['settings:write']);
	const key = freshKey();
	const body = { name: 'CI', scopes: ['*'] };
	const first = await raw(app, '/api/v1/api-keys', body, key);
	assert.deepEqual(await raw(app, '/api/v1/api-keys', body, key), { ...first, replayed: 'true' });
	const other = await raw(app, '/api/v1/api-keys', body, key, { authorization: `Bearer ${narrow}` });
	assert.deepEqual([other.status, JSON.parse(other.text).error.code], [403, 'insufficient_scope']);
	// An error that depends on the caller is not replayed to another caller.
	const early = freshKey();
	await raw(app, '/api/v1/users', { email: 'kim@shop.example' }, early, { authorization: `Bearer ${narrow}` });
	assert.equal((await raw(app, '/api/v1/users', { email: 'kim@shop.example' }, early)).status, 201);
});

test('percent-encodings of the same path share a key', async () => {
	const key = freshKey();
	const first = await raw(app, ASSISTANTS, { name: 'Spelt' }, key);
	assert.deepEqual(await raw(app, '/api/v1/%61ssistants', { name: 'Spelt' }, key), { ...first, replayed: 'true' });
});

test('executes a search each time and stores no response', async () => {
	const path = `/api/v1/knowledge-bases/${knowledgeBase}/search`;
	const key = freshKey();
	for (const query of ['kettles', 'kettles', 'something else']) {
		const { status, replayed } = await raw(app, path, { query }, key);
		assert.deepEqual([status, replayed], [200, null]);
	}
});

test("a visitor's repeat skips the message quota: it gets its response also when the quota is used up", async () => {
	const { body } = await app.call('GET', `/api/v1/deployments/${deployment}`);
	const created = await app.call('POST', '/api/v1/deployments', {
		assistant_id: body.assistant_id,
		allowed_domains: ['shop.example'],
		rate_limit: { messages_per_minute: 1 },
	});
	const asked = held.replies.length;
	const message = { deployment_id: created.body.id, content: 'Just one?' };
	const key = { 'idempotency-key': 'just one' };
	const first = app.callAsVisitor('POST', '/api/v1/widget/messages', message, key);
	const reply = await held.reply(asked);
	reply.say('One.');
	reply.end();
	assert.equal((await first).status, 201);
	for (let repeat = 0; repeat < 3; repeat++) {
		assert.deepEqual(
			(await app.callAsVisitor('POST', '/api/v1/widget/messages', message, key)).body,
			(await first).body,
		);
	}
	assert.equal((await app.callAsVisitor('POST', '/api/v1/widget/messages', message)).status, 429);
});
