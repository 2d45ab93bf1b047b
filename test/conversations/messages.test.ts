import assert from 'node:assert/strict';
import test, { after } from 'node:test';
import { eventsSoFar, firstWorkspace, openStoreDirectly } from '../api/direct-store.ts';
import { createApiFixture } from '../api/fixture.ts';
import { startTestApp } from '../support/app.ts';
import { ManualModel } from './manual-model.ts';
import { ClientView, openTestStream, sendStreamed } from './streams.ts';

const model = new ManualModel({ autoReply: ({ question }) => ['You said: ', question, '.'] });
const app = await startTestApp({ overrides: { providers: [model.provider] } });
after(() => app[Symbol.asyncDispose]());

const MESSAGES = '/api/v1/messages';
const shop = await createApiFixture(app, {
	texts: [
		'# Returns\n\nYou have 45 days to return an order. The parcel label is free.',
		'# Kettle\n\nError code E3 means that the temperature sensor has failed. Let the kettle cool down.',
	],
});
const echo = await createApiFixture(app, { model: 'scripted/any' });

test('without a stream the answer is the reply, with the question beside it', async () => {
	const { status, body } = await app.call('POST', MESSAGES, { deployment_id: echo.deployment, content: 'Hello' });
	assert.equal(status, 201);
	const { id, conversation_id, created_at, completed_at, user_message, first_token_ms, duration_ms, ...rest } = body;
	assert.match(id, /^msg_/);
	assert.match(conversation_id, /^conv_/);
	assert.ok(completed_at >= created_at);
	assert.ok(first_token_ms >= 0 && duration_ms >= first_token_ms);
	assert.deepEqual(rest, {
		role: 'assistant',
		author: { type: 'model', name: null },
		content: 'You said: Hello.',
		status: 'completed',
		citations: [],
		error: null,
		feedback: null,
		feedback_comment: null,
		model: 'scripted/any',
		tool_calls: [],
		usage: null,
		answered_by: 'model',
		cost_micros: null,
	});
	const { id: questionId, created_at: askedAt, completed_at: storedAt, ...question } = user_message;
	assert.match(questionId, /^msg_/);
	assert.equal(storedAt, askedAt);
	assert.deepEqual(question, {
		conversation_id,
		role: 'user',
		author: { type: 'visitor', name: null },
		content: 'Hello',
		status: 'completed',
		citations: [],
		error: null,
		feedback: null,
		feedback_comment: null,
		model: null,
		tool_calls: [],
		usage: null,
		answered_by: null,
		first_token_ms: null,
		duration_ms: null,
		cost_micros: null,
	});
	const { body: history } = await app.call('GET', `/api/v1/conversations/${conversation_id}/messages`);
	const { user_message: _, ...reply } = body;
	assert.deepEqual(history, { data: [user_message, reply], next_cursor: null });
});

test('the first message makes a conversation that reads back whole', async () => {
	const metadata = { page: '/prices', cart: [{ id: 7 }], nothing: null };
	const { body } = await app.call('POST', MESSAGES, { deployment_id: echo.deployment, content: 'Hi', metadata });
	const { status, body: conversation } = await app.call('GET', `/api/v1/conversations/${body.conversation_id}`);
	assert.equal(status, 200);
	const { created_at, updated_at, last_message_at, ...rest } = conversation;
	assert.ok(created_at <= body.user_message.created_at);
	assert.equal(last_message_at, body.completed_at);
	assert.equal(updated_at, body.completed_at);
	assert.deepEqual(rest, {
		assignee_id: null,
		cost_micros: null,
		visitor_id: null,
		id: body.conversation_id,
		deployment_id: echo.deployment,
		assistant_id: echo.assistant,
		channel: 'api',
		status: 'active',
		title: 'Hi',
		metadata,
		end_user: null,
		handled_by: 'model',
		taken_over_by: null,
		requested_person_at: null,
		contact_email: null,
		message_count: 2,
		archived_at: null,
	});
});

test('metadata of 16 KiB is kept, more is refused, and a later message does not change it', async () => {
	const filled = (bytes: number) => ({ note: 'é'.repeat((bytes - '{"note":""}'.length) / 2) });
	const send = (metadata: unknown, conversation_id?: string) =>
		app.call('POST', MESSAGES, { deployment_id: echo.deployment, content: 'Hi', metadata, conversation_id });
	const kept = await send(filled(16 * 1024 - 1));
	assert.equal(kept.status, 201);
	const refused = await send(filled(16 * 1024 + 1));
	assert.deepEqual([refused.status, refused.body.error.details[0].path], [400, '/metadata']);
	assert.deepEqual((await send([])).status, 400);
	await send({ note: 'other' }, kept.body.conversation_id);
	const { body } = await app.call('GET', `/api/v1/conversations/${kept.body.conversation_id}`);
	assert.deepEqual(body.metadata, filled(16 * 1024 - 1));
});

test('a streamed reply comes as created, created, deltas, completed, each with an id and its type', async () => {
	await using stream = await sendStreamed(app, { deployment_id: shop.deployment, content: 'What does E3 mean?' });
	const { headers } = stream.response;
	assert.match(headers.get('content-type') ?? '', /^text\/event-stream/);
	assert.match(headers.get('cache-control') ?? '', /no-cache|no-store/);
	const events = await stream.rest();
	const names = events.map(({ event }) => event);
	assert.deepEqual(names.slice(0, 2), ['message.created', 'message.created']);
	assert.equal(names.at(-1), 'message.completed');
	assert.deepEqual([...new Set(names.slice(2, -1))], ['message.delta']);
	assert.ok(events.every(({ id }) => /^\d+\.\d+$/.test(id ?? '')));
	assert.equal(new Set(events.map(({ id }) => id)).size, events.length);

	const [asked, begun] = events.map(({ data }) => data.message);
	assert.deepEqual([asked.role, asked.content, asked.status], ['user', 'What does E3 mean?', 'completed']);
	assert.deepEqual(
		[begun.role, begun.content, begun.status, begun.citations, begun.usage, begun.completed_at],
		['assistant', '', 'in_progress', [], null, null],
	);
	const completed = events.at(-1)?.data.message;
	assert.equal(completed.id, begun.id);
	assert.equal(new ClientView().show(events.slice(0, -1)).texts.get(begun.id), completed.content);
	const { body } = await app.call('GET', `/api/v1/conversations/${asked.conversation_id}/messages`);
	assert.deepEqual(body.data, [asked, completed]);
});

test('the Accept header asks for a stream where the body says nothing, and the body wins', async () => {
	const send = (body: object, accept: string) =>
		fetch(`${app.url}${MESSAGES}`, {
			method: 'POST',
			headers: { authorization: `Bearer ${app.key}`, 'content-type': 'application/json', accept },
			body: JSON.stringify({ deployment_id: echo.deployment, content: 'Hi', ...body }),
		});
	const typeOf = async (response: Response) => {
		await response.text();
		return response.headers.get('content-type')?.split(';')[0];
	};
	assert.equal(await typeOf(await send({}, 'text/event-stream')), 'text/event-stream');
	assert.equal(await typeOf(await send({}, 'application/json')), 'application/json');
	assert.equal(await typeOf(await send({ stream: false }, 'text/event-stream')), 'application/json');
	assert.equal(await typeOf(await send({ stream: true }, 'application/json')), 'text/event-stream');
});

test('the answer quotes the documents and cites them, by number', async () => {
	const { body } = await app.call('POST', MESSAGES, {
		deployment_id: shop.deployment,
		content: 'How many days do I have to return an order?',
	});
	assert.match(body.content, /\b45 days\b/);
	assert.match(body.content, /\[1\]/);
	const [citation] = body.citations;
	assert.deepEqual(Object.keys(citation).sort(), [
		...['chunk_id', 'document_id', 'index', 'knowledge_base_id'],
		...['page', 'score', 'text', 'title', 'url'],
	]);
	assert.equal(citation.index, 1);
	assert.match(citation.text, /45 days/);
	assert.ok(citation.score > 0 && citation.score <= 1);
	const { body: document } = await app.call(
		'GET',
		`/api/v1/knowledge-bases/${shop.knowledgeBase}/documents/${citation.document_id}`,
	);
	assert.equal(document.title, citation.title);
	const numbers = [...body.content.matchAll(/\[(\d+)\]/g)].map((match) => Number(match[1]));
	assert.deepEqual([...new Set(numbers)].sort(), body.citations.map(({ index }: { index: number }) => index).sort());
	assert.ok(body.usage === null || body.usage.input_tokens >= 0);
});

test('where the documents hold no answer, or there are none, the reply says so and cites nothing', async () => {
	const bare = await createApiFixture(app);
	for (const deployment_id of [shop.deployment, bare.deployment]) {
		const { status, body } = await app.call('POST', MESSAGES, {
			deployment_id,
			content: 'Who won the chess championship in 1997?',
		});
		assert.deepEqual([status, body.status, body.citations], [201, 'completed', []]);
		assert.doesNotMatch(body.content, /\[\d+\]/);
		assert.match(body.content, /(not|n't|no|nothing)\b/i);
		assert.doesNotMatch(body.content, /kettle|45 days/i);
	}
});

test('what was attached or detached counts from the next message on', async () => {
	const scene = await createApiFixture(app);
	const ask = async () =>
		(await app.call('POST', MESSAGES, { deployment_id: scene.deployment, content: 'What does error code E3 mean?' }))
			.body;
	assert.deepEqual((await ask()).citations, []);
	const path = `/api/v1/assistants/${scene.assistant}/knowledge-bases`;
	await app.call('POST', path, { knowledge_base_id: shop.knowledgeBase });
	assert.match((await ask()).content, /temperature sensor/);
	await app.call('DELETE', `${path}/${shop.knowledgeBase}`);
	assert.deepEqual((await ask()).citations, []);
});

test('the model is given the instructions, the passages and what was said before, without the question', async () => {
	await app.call('PATCH', `/api/v1/assistants/${echo.assistant}`, { master_prompt: 'Be kind.' });
	const say = (content: string, conversation_id?: string) =>
		app.call('POST', MESSAGES, { deployment_id: echo.deployment, content, conversation_id });
	const { conversation_id } = (await say('One')).body;
	await say('Two', conversation_id);
	await say('Three', conversation_id);
	const { model: name, instructions, history, question, passages } = model.replies.at(-1)?.request ?? assert.fail();
	assert.deepEqual(
		{ name, instructions, question, passages },
		{ name: 'any', instructions: 'Be kind.', question: 'Three', passages: [] },
	);
	assert.deepEqual(history, [
		{ role: 'user', content: 'One' },
		{ role: 'assistant', content: 'You said: One.' },
		{ role: 'user', content: 'Two' },
		{ role: 'assistant', content: 'You said: Two.' },
	]);
});

test('an archived assistant begins no conversation, but those that it has go on', async () => {
	const scene = await createApiFixture(app, { model: 'scripted/any' });
	const send = (conversation_id?: string) =>
		app.call('POST', MESSAGES, { deployment_id: scene.deployment, content: 'Hi', conversation_id });
	const { conversation_id } = (await send()).body;
	await app.call('DELETE', `/api/v1/assistants/${scene.assistant}`);
	const refused = await send();
	assert.deepEqual([refused.status, refused.body.error.code], [400, 'assistant_archived']);
	assert.equal((await send(conversation_id)).status, 201);
	const { body } = await app.call('GET', `/api/v1/conversations/${conversation_id}/messages`);
	assert.equal(body.data.length, 4);
	await app.call('PATCH', `/api/v1/assistants/${scene.assistant}`, { status: 'active' });
	assert.equal((await send()).status, 201);
});

test("another deployment's conversation is a 404, also where it has the same assistant", async () => {
	const { body: other } = await app.call('POST', '/api/v1/deployments', { assistant_id: echo.assistant });
	const { body } = await app.call('POST', MESSAGES, { deployment_id: echo.deployment, content: 'Hi' });
	for (const conversation_id of [body.conversation_id, 'conv_1', `conv_${'0'.repeat(32)}`]) {
		const answer = await app.call('POST', MESSAGES, { deployment_id: other.id, content: 'Hi', conversation_id });
		const { code, message, details } = answer.body.error;
		assert.deepEqual([answer.status, code, details[0].path], [404, 'not_found', '/conversation_id'], conversation_id);
		const elsewhere = 'conversation_id names a conversation of another deployment than deployment_id.';
		const unknown = 'The conversation that conversation_id names does not exist.';
		assert.equal(message, conversation_id === body.conversation_id ? elsewhere : unknown);
	}
	assert.equal((await app.call('GET', `/api/v1/conversations/${body.conversation_id}`)).body.message_count, 2);
});

test('accepts content of 1 to 32,000 characters with a visible one and without control characters', async () => {
	const send = (content: unknown) => app.call('POST', MESSAGES, { deployment_id: echo.deployment, content });
	for (const content of ['', ' ', '\u0000\n', 'Hello\u0000', 'a\u001b[2J', 'x'.repeat(32_001), 7, null, undefined]) {
		const { status, body } = await send(content);
		assert.deepEqual([status, body.error.details[0].path], [400, '/content']);
	}
	for (const content of ['x'.repeat(32_000), '\t\u2028 "\\ \r\n\r\ndata: x', '👩‍👩‍👧']) {
		const { status, body } = await send(content);
		assert.equal(status, 201);
		assert.equal(body.user_message.content, content);
		assert.equal(body.content, `You said: ${content}.`);
	}
	// Half of a surrogate pair is no character: it could not be given back as it came.
	assert.equal((await send('\ud83d')).body.error.code, 'invalid_json');
});

test('a streamed reply survives line breaks and characters outside the basic plane', async () => {
	const content = 'a\r\nb\n\ndata: c 👩‍👩‍👧 \u2028';
	await using stream = await sendStreamed(app, { deployment_id: echo.deployment, content });
	const events = await stream.rest();
	const reply = events.at(-1)?.data.message;
	assert.equal(reply.content, `You said: ${content}.`);
	assert.equal(new ClientView().show(events.slice(0, -1)).texts.get(reply.id), reply.content);
});

test('conversations are listed newest first, by deployment, assistant, status and time', async () => {
	const scene = await createApiFixture(app, { model: 'scripted/any' });
	const ids: string[] = [];
	for (const content of ['One', 'Two', 'Three']) {
		const { body } = await app.call('POST', MESSAGES, { deployment_id: scene.deployment, content });
		ids.unshift(body.conversation_id);
	}
	const list = async (query: string) => {
		const { status, body } = await app.call('GET', `/api/v1/conversations?${query}`);
		assert.equal(status, 200, JSON.stringify(body));
		return body.data.map(({ id }: { id: string }) => id);
	};
	const mine = `deployment_id=${scene.deployment}`;
	assert.deepEqual(await list(mine), ids);
	assert.deepEqual(await list(`${mine}&order=asc`), [...ids].reverse());
	assert.deepEqual(await list(`assistant_id=${scene.assistant}&status=active`), ids);
	assert.deepEqual(await list(`${mine}&status=archived`), []);
	assert.deepEqual(await list(`${mine}&end_user_id=nobody`), []);
	const { body } = await app.call('GET', `/api/v1/conversations/${ids[1]}`);
	const at = encodeURIComponent(body.created_at);
	assert.deepEqual(await list(`${mine}&created_after=${at}`), [ids[0]]);
	assert.deepEqual(await list(`${mine}&created_before=${at}`), [ids[2]]);
});

test('the workspace gets one event for each message: a question when it is stored, a reply when it has ended', async () => {
	const { body } = await app.call('POST', MESSAGES, { deployment_id: echo.deployment, content: 'Told' });
	await using store = await openStoreDirectly(app);
	const events = await eventsSoFar(store, await firstWorkspace(store));
	const told = events.filter(({ data }) => {
		const { id, conversation_id } = data as { id: string; conversation_id?: string };
		return id === body.conversation_id || conversation_id === body.conversation_id;
	});
	assert.deepEqual(
		told.map(({ type }) => type),
		['conversation.created', 'message.created', 'message.created'],
	);
	const { user_message, ...reply } = body;
	assert.deepEqual([told[1]?.data, told[2]?.data], [user_message, reply]);
});

test('a stream that is refused is refused in JSON', async () => {
	const answer = await app.call('POST', MESSAGES, { deployment_id: 'dep_1', content: 'Hi', stream: true });
	assert.deepEqual([answer.status, answer.body.error.code], [404, 'not_found']);
	await assert.rejects(openTestStream(`${app.url}/api/v1/conversations/conv_1/events`));
});
